"""Each loss is a likelihood, each penalty a prior, each risk a divergence: the equivalences, on real tables.

An equivalence is shown in two steps: over parameters drawn at random, a log-probability is a constant less a
factor times the objective; and the estimator, which knows the objective alone, is where it is greatest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from surefit import (
    BayesianLinearRegression,
    BayesianLogisticRegression,
    LADRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    MajorityClassifier,
    Ridge,
    datasets,
    metrics,
    minimize,
)
from surefit.distributions import Bernoulli, Laplace, Normal
from surefit.distributions import information as info

RNG = np.random.default_rng(0)
UNIT = float(np.finfo(float).eps)


def table(name: str) -> tuple[Any, Any]:
    found = datasets.load(name)
    X = np.asarray(found.X, dtype=float)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.asarray(found.y)


X, Y = table("diabetes")
Y = Y.astype(float)
ROWS, COLUMNS = X.shape
# All columns tell these classes apart without error; three do not, so that a likeliest answer exists.
SCANS, NAMES = table("breast_cancer")
SCANS, SIDE = SCANS[:, :3], (np.unique(NAMES)[1] == NAMES).astype(float)


def residuals(packed: Any) -> Any:
    return Y - X @ packed[:-1] - packed[-1]


def packed(model: Any) -> Any:
    return np.append(np.ravel(model.coef_), model.intercept_)


def same_up_to_a_constant(
    log_probability: Callable[[Any], float], objective: Callable[[Any], float], factor: float, around: Any
) -> None:
    """Check log p(w) = c - factor * objective(w) at points far from each other."""
    points = [around + size * RNG.normal(size=len(around)) for size in (0.0, 1.0, 10.0, 100.0)]
    left = np.array([log_probability(w) for w in points])
    right = np.array([factor * objective(w) for w in points])
    assert np.ptp(right) > 1.0  # the points are told apart
    # Each side adds up a term a row; a constant is off by the rounding of the larger sums.
    np.testing.assert_allclose(
        left + right, left[0] + right[0], rtol=0, atol=8 * ROWS * UNIT * np.abs(right).max()
    )


def is_the_greatest(log_probability: Callable[[Any], float], at: Any) -> None:
    best = log_probability(at)
    for size in (1e-3, 1e-1, 10.0):
        for _ in range(20):
            assert log_probability(at + size * RNG.normal(size=len(at))) < best


@pytest.mark.covers("intro_to_ml:I.5", by="LinearRegression")
def test_least_squares_are_the_likeliest_under_normal_noise() -> None:
    deviation = 54.0
    noise = Normal(0.0, deviation)

    def log_likelihood(w: Any) -> float:
        return float(noise.log_density(residuals(w)).sum())

    found = packed(LinearRegression().fit(X, Y))
    same_up_to_a_constant(log_likelihood, lambda w: residuals(w) @ residuals(w), 0.5 / deviation**2, found)
    is_the_greatest(log_likelihood, found)
    # The noise's own likeliest size is the root mean square of what is left over.
    left = Normal.fit(residuals(found))
    assert left.mean == pytest.approx(0.0, abs=ROWS * UNIT * np.abs(Y).max())
    assert left.scale**2 == pytest.approx(metrics.mean_squared_error(Y, Y - residuals(found)), rel=1e-12)


@pytest.mark.covers("intro_to_ml:I.5", by="LADRegressor")
def test_least_absolute_deviations_are_the_likeliest_under_laplace_noise() -> None:
    noise = Laplace(0.0, 43.0)

    def log_likelihood(w: Any) -> float:
        return float(noise.log_density(residuals(w)).sum())

    found = packed(LADRegressor().fit(X, Y))
    same_up_to_a_constant(log_likelihood, lambda w: np.abs(residuals(w)).sum(), 1 / 43.0, found)
    is_the_greatest(log_likelihood, found)
    assert log_likelihood(packed(LinearRegression().fit(X, Y))) < log_likelihood(found)


@pytest.mark.covers("intro_to_ml:I.5", by="Ridge")
def test_a_normal_prior_makes_ridge_the_likeliest() -> None:
    variance, precision = 3000.0, 0.01  # of the noise, and of the coefficients' prior
    noise, prior = Normal(0.0, np.sqrt(variance)), Normal(0.0, 1 / np.sqrt(precision))

    def log_posterior(w: Any) -> float:
        return float(noise.log_density(residuals(w)).sum() + prior.log_density(w[:-1]).sum())

    strength = variance * precision
    found = packed(Ridge(alpha=strength).fit(X, Y))

    def objective(w: Any) -> float:
        return float(residuals(w) @ residuals(w) + strength * w[:-1] @ w[:-1])

    same_up_to_a_constant(log_posterior, objective, 0.5 / variance, found)
    is_the_greatest(log_posterior, found)


@pytest.mark.covers("intro_to_ml:I.5", by="Lasso")
def test_a_laplace_prior_makes_the_lasso_the_likeliest() -> None:
    variance, scale = 3000.0, 2.0
    noise, prior = Normal(0.0, np.sqrt(variance)), Laplace(0.0, scale)

    def log_posterior(w: Any) -> float:
        return float(noise.log_density(residuals(w)).sum() + prior.log_density(w[:-1]).sum())

    strength = variance / scale  # beside half the sum of squares; Lasso takes their mean
    model = Lasso(alpha=strength / ROWS, tol=1e-10).fit(X, Y)
    assert 0 < np.count_nonzero(model.coef_) < COLUMNS  # the prior's peak holds some at zero

    def objective(w: Any) -> float:
        return float(0.5 * residuals(w) @ residuals(w) + strength * np.abs(w[:-1]).sum())

    same_up_to_a_constant(log_posterior, objective, 1 / variance, packed(model))
    is_the_greatest(log_posterior, packed(model))


@pytest.mark.covers("intro_to_ml:I.5", by="BayesianLinearRegression")
def test_the_mean_of_bayesian_regression_predicts_what_ridge_does() -> None:
    variance, precision = 3000.0, 0.01
    bayes = BayesianLinearRegression(prior_precision=precision, noise_variance=variance).fit(X, Y)
    ridge = Ridge(alpha=variance * precision).fit(X, Y)
    mean, deviation = bayes.predict(X, return_std=True)
    np.testing.assert_allclose(mean, ridge.predict(X), rtol=1e-12)
    assert (deviation > np.sqrt(variance)).all()  # which ridge cannot say


@pytest.mark.covers("intro_to_ml:I.5", by="LogisticRegression")
def test_the_logistic_risk_is_cross_entropy_and_a_divergence_up_to_a_constant() -> None:
    model = LogisticRegression(C=np.inf).fit(SCANS, SIDE)
    share = model.predict_proba(SCANS)[:, 1]
    likelihood = -np.mean([Bernoulli(p).log_density(y) for p, y in zip(share, SIDE, strict=True)])
    assert metrics.log_loss(SIDE, share) == pytest.approx(likelihood, rel=1e-12)
    assert model.certificate_.parts["objective"] == pytest.approx(likelihood, rel=1e-12)
    labels = np.column_stack([1 - SIDE, SIDE])
    crossed = info.cross_entropy(labels, np.column_stack([1 - share, share]), axis=1)
    assert crossed.mean() == pytest.approx(likelihood, rel=1e-12)
    # Rows in groups have labels with an entropy, the constant: the rest is the divergence of the shares.
    group = np.digitize(SCANS[:, 0], [-0.5, 0.5])
    seen = np.array([[np.mean(SIDE[group == g] == k) for k in (0, 1)] for g in range(3)])
    weight = np.bincount(group) / len(group)
    for guess in ([0.1, 0.5, 0.9], [0.3, 0.2, 0.6], seen[:, 1]):
        both = np.column_stack([1 - np.asarray(guess), guess])
        risk = metrics.log_loss(SIDE, np.asarray(guess)[group])
        apart = info.kl_divergence(seen, both, axis=1)
        assert risk == pytest.approx(weight @ (info.entropy(seen, axis=1) + apart), rel=1e-12)
    assert weight @ info.kl_divergence(seen, both, axis=1) == 0.0  # the shares seen are the likeliest


@pytest.mark.covers("intro_to_ml:I.5", by="metrics.zero_one_loss")
@pytest.mark.parametrize("model", [MajorityClassifier(), LogisticRegression()], ids=["majority", "logistic"])
def test_the_empirical_risk_of_mistakes_is_what_accuracy_lacks(model: Any) -> None:
    guess = model.fit(SCANS, NAMES).predict(SCANS)
    weight = RNG.integers(0, 4, len(NAMES)).astype(float)
    for sample_weight in (None, weight):
        risk = metrics.zero_one_loss(NAMES, guess, sample_weight=sample_weight)
        assert risk == pytest.approx(np.average(guess != NAMES, weights=sample_weight), rel=1e-14)
        assert risk == pytest.approx(
            1 - metrics.accuracy_score(NAMES, guess, sample_weight=sample_weight), abs=4 * UNIT
        )


@pytest.mark.covers("intro_to_ml:I.5", by="BayesianLogisticRegression")
def test_a_flat_prior_leaves_the_likeliest_where_it_was() -> None:
    plain = LogisticRegression(C=np.inf, tol=1e-12).fit(SCANS, SIDE)
    before = np.inf
    for precision in (1.0, 1e-3, 1e-6, 1e-9):
        held = BayesianLogisticRegression(prior_precision=precision).fit(SCANS, SIDE)
        off = float(np.abs(held.coef_ - plain.coef_).max())
        assert off < before
        before = off
    assert before < 1e-6 * np.abs(plain.coef_).max()
    # The likelihood alone, handed to a minimiser that knows of no model, ends there too.
    sign = 2 * SIDE - 1
    found = minimize(
        lambda w: np.logaddexp(0, -sign * (SCANS @ w[:-1] + w[-1])).mean(), np.zeros(4), tolerance=1e-9
    )
    np.testing.assert_allclose(found.x, packed(plain), rtol=1e-4)


@pytest.mark.covers("intro_to_ml:I.5", by="distributions.Bernoulli")
def test_a_flat_beta_prior_makes_the_mean_of_labels_the_likeliest() -> None:
    posterior = Bernoulli.posterior(Bernoulli.conjugate_prior(1, 1), SIDE)
    assert posterior.mode == pytest.approx(SIDE.mean(), rel=1e-14)
    assert Bernoulli.fit(SIDE).probability == pytest.approx(SIDE.mean(), rel=1e-14)
    assert posterior.mean != pytest.approx(SIDE.mean(), rel=1e-6)  # the mean is pulled to a half
    p = np.linspace(0.01, 0.99, 99)
    ones = SIDE.sum()
    log_likelihood = ones * np.log(p) + (len(SIDE) - ones) * np.log1p(-p)
    np.testing.assert_allclose(np.diff(posterior.log_density(p)), np.diff(log_likelihood), rtol=1e-9)


@pytest.mark.covers("intro_to_ml:I.5", by="information.mutual_information")
def test_mutual_information_is_the_divergence_of_the_joint_table_from_independence() -> None:
    bins = np.digitize(SCANS[:, 0], np.quantile(SCANS[:, 0], [0.2, 0.4, 0.6, 0.8]))
    joint = info.label_counts(bins, SIDE)
    joint = joint / joint.sum()
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    shared = info.mutual_information(joint)
    assert shared == pytest.approx(info.kl_divergence(joint.ravel(), apart.ravel()), rel=1e-12)
    assert shared > 0.1
    assert info.mutual_information(apart) == pytest.approx(0.0, abs=16 * UNIT)


@pytest.mark.covers("intro_to_ml:I.5", by="information.cross_entropy")
def test_cross_entropy_is_entropy_and_a_divergence() -> None:
    counts = info.label_counts(np.digitize(Y, [80, 140, 200]))
    seen = np.asarray(counts, dtype=float).ravel()
    for guess in (np.ones(len(seen)), RNG.dirichlet(np.ones(len(seen))), seen):
        total = info.entropy(seen) + info.kl_divergence(seen, guess)
        assert info.cross_entropy(seen, guess) == pytest.approx(total, rel=1e-14)
    normal, other = Normal.fit(Y), Normal(100.0, 90.0)
    total = info.entropy(normal) + info.kl_divergence(normal, other)
    assert info.cross_entropy(normal, other) == pytest.approx(total, rel=1e-14)
