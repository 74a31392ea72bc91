"""Bayesian linear regression against exact fractions, scipy's densities and the worked numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse, stats

import surefit
from surefit import BayesianLinearRegression, Lasso, Ridge
from surefit import distributions as d
from surefit.core.errors import DataError, ParameterError, RefusalError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3)) + np.array([2.0, 0.0, -1.0])
y = X @ [1.0, -2.0, 0.5] + 3.0 + 0.7 * RNG.normal(size=30)
PRIORS: dict[str, dict[str, Any]] = {
    "known noise": {"noise_variance": 0.5},
    "unknown noise": {"noise_shape": 2.0, "noise_scale": 1.5},
    "normal intercept": {"noise_variance": 0.5, "intercept_precision": 0.3},
    "both unknown": {"intercept_precision": 0.3, "prior_mean": [1.0, -1.0, 0.0]},
    "no intercept": {"fit_intercept": False, "noise_variance": 2.0, "prior_mean": 0.5},
    "own precisions": {"prior_precision": [0.1, 1.0, 10.0]},
    "a matrix": {"prior_precision": [[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]]},
}
each_prior = pytest.mark.parametrize("given", PRIORS.values(), ids=PRIORS.keys())


def solved(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """Gauss's elimination, exactly."""
    n = len(b)
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * c for a, c in zip(rows[i], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


@pytest.mark.covers("intro_to_ml:4.13", by="BayesianLinearRegression")
def test_the_example_of_two_rows() -> None:
    model = BayesianLinearRegression(1.0, noise_variance=1.0, fit_intercept=False).fit([[1], [2]], [1, 2])
    mean, std = model.predict([[3.0]], return_std=True)
    np.testing.assert_allclose([mean[0], std[0] ** 2], [2.5, 2.5], rtol=1e-14)
    np.testing.assert_allclose(model.posterior_.variance, [1 / 6], rtol=1e-14)
    assert isinstance(model.posterior_, d.MultivariateNormal)
    assert model.predictive([[3.0]]).mean() == pytest.approx(2.5)


@pytest.mark.covers("intro_to_ml:4.13", by="BayesianLinearRegression")
def test_more_rows_never_make_the_mean_less_sure_and_noise_always_stays() -> None:
    model, before = BayesianLinearRegression(noise_variance=0.5), np.inf
    for row in range(0, 30, 5):
        model.partial_fit(X[row : row + 5], y[row : row + 5])
        now = model.predictive(X, of="mean").var()
        assert (now <= before).all()
        assert (model.predict(X, return_std=True)[1] ** 2 >= 0.5).all()
        before = now * (1 + 1e-12)


@pytest.mark.parametrize("flat", [True, False], ids=["flat", "normal"])
def test_posterior_in_exact_fractions(flat: bool) -> None:
    """Rows far from zero, with a prior that is not: mean and covariance of coefficients and intercept."""
    rows = [(1000001, 3), (1000004, 1), (1000002, 0), (1000007, 5)]
    target = [2, 7, 1, 8]
    noise, precision, kappa, m0 = (
        Fraction(1, 2),
        Fraction(3, 4),
        Fraction(0 if flat else 1, 8),
        Fraction(1, 3),
    )
    Z = [[Fraction(a), Fraction(b), Fraction(1)] for a, b in rows]
    prior = [precision, precision, kappa]
    A = [
        [sum(z[i] * z[j] for z in Z) / noise + (prior[i] if i == j else 0) for j in range(3)]
        for i in range(3)
    ]
    right = [
        sum(z[i] * t for z, t in zip(Z, target, strict=True)) / noise + (prior[i] * m0 if i < 2 else 0)
        for i in range(3)
    ]
    mean = np.array([float(v) for v in solved(A, right)])
    units = [[Fraction(int(i == j)) for i in range(3)] for j in range(3)]
    covariance = np.array([[float(v) for v in solved(A, unit)] for unit in units])
    model = BayesianLinearRegression(
        float(precision),
        prior_mean=float(m0),
        noise_variance=float(noise),
        intercept_precision=float(kappa),
    ).fit(np.array(rows, dtype=float), np.array(target, dtype=float))
    # With a normal prior on an intercept a million steps away, the equations have a condition of 1e12.
    close = 1e-9 if flat else 1e-4
    np.testing.assert_allclose(model.coef_, mean[:2], rtol=close)
    np.testing.assert_allclose(model.intercept_, mean[2], rtol=close)
    root = model.root_[:2]
    np.testing.assert_allclose(float(noise) * root @ root.T, covariance[:2, :2], rtol=close)


@each_prior
def test_evidence_is_the_density_of_the_targets(given: dict[str, Any]) -> None:
    """With a proper prior the targets are jointly normal, or Student t; checked against scipy."""
    given = {"intercept_precision": 0.3, **given}
    model = BayesianLinearRegression(**given).fit(X, y)
    p, known = X.shape[1], model.noise_variance is not None
    precision = np.asarray(model.prior_precision, dtype=float)
    matrix = precision if precision.ndim == 2 else np.diag(np.broadcast_to(precision, p))
    spread = X @ np.linalg.inv(matrix) @ X.T
    if model.fit_intercept:
        spread = spread + 1 / model.intercept_precision
    center = X @ np.broadcast_to(model.prior_mean, p)
    if known:
        reference = stats.multivariate_normal(center, spread + model.noise_variance * np.eye(30)).logpdf(y)
    else:
        a, b = model.noise_shape, model.noise_scale
        reference = stats.multivariate_t(center, b / a * (spread + np.eye(30)), df=2 * a).logpdf(y)
    assert model.log_evidence_ == pytest.approx(float(reference), rel=1e-10)


@each_prior
def test_evidence_grows_by_what_was_predicted(given: dict[str, Any]) -> None:
    """The product rule, which holds for a flat prior on the intercept too."""
    model = BayesianLinearRegression(**given).fit(X[:22], y[:22])
    start, told = model.log_evidence_, 0.0
    for row in range(22, 30):
        told += float(model.predictive(X[row : row + 1]).logpdf(y[row])[0])
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    assert model.log_evidence_ - start == pytest.approx(told, rel=1e-10)


@each_prior
def test_updates_merges_and_forgets_end_in_the_posterior_of_one_fit(given: dict[str, Any]) -> None:
    whole = BayesianLinearRegression(**given).fit(X, y)
    pieces = BayesianLinearRegression(**given).partial_fit(X[:7], y[:7]).partial_fit(X[7:], y[7:])
    merged = BayesianLinearRegression(**given).fit(X[:12], y[:12])
    merged.merge(BayesianLinearRegression(**given).fit(X[12:], y[12:]))
    more = np.vstack([X, X[:4] + 1]), np.append(y, y[:4] - 3)
    forgot = BayesianLinearRegression(**given).fit(*more).forget(more[0][30:], more[1][30:])
    table = pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "y": y})
    streamed = BayesianLinearRegression(**given).fit(
        surefit.read(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(8)), "y")
    )
    for other in (pieces, merged, forgot, streamed):
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-10)
        np.testing.assert_allclose(other.posterior_.variance, whole.posterior_.variance, rtol=1e-10)
        assert other.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-11)
        if whole.noise_posterior_ is not None:
            assert other.noise_posterior_.mean == pytest.approx(whole.noise_posterior_.mean, rel=1e-10)


def test_an_unknown_noise_is_integrated_over() -> None:
    """The predictive Student t is the mixture of normals over the posterior of the noise."""
    model = BayesianLinearRegression(noise_shape=3.0, noise_scale=2.0).fit(X, y)
    at = np.array([[1.0, 2.0, 0.0]])
    grid, weight = np.polynomial.legendre.leggauss(400)
    share = (grid + 1) / 2
    noise = model.noise_posterior_.quantile(share)
    spread = model.predictive(at).kwds["scale"][0] ** 2 / (model.noise_scale_ / model.noise_shape_)
    mean = model.predict(at)[0]
    mixture = (weight / 2 * stats.norm(mean, np.sqrt(noise * spread)).pdf(mean + 0.4)).sum()
    assert model.predictive(at).pdf(mean + 0.4)[0] == pytest.approx(mixture, rel=1e-6)
    assert isinstance(model.posterior_, d.MultivariateStudentT)


@pytest.mark.covers("ml_for_data_science:5.3.5", by="BayesianLinearRegression")
@pytest.mark.parametrize("noise", [0.3, 2.0])
def test_the_mode_under_a_normal_prior_is_ridge(noise: float) -> None:
    model = BayesianLinearRegression(4.0, noise_variance=noise).fit(X, y)
    ridge = Ridge(alpha=4.0 * noise).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-11)
    np.testing.assert_allclose(model.posterior_.mode, np.append(ridge.coef_, ridge.intercept_), rtol=1e-11)


@pytest.mark.covers("ml_for_data_science:5.3.5", by="distributions.Laplace")
def test_the_mode_under_a_laplace_prior_is_the_lasso() -> None:
    noise, scale = 0.8, 0.05
    lasso = Lasso(alpha=noise / scale / len(y), tol=1e-12).fit(X, y)
    assert (lasso.coef_ == 0).any()
    assert (lasso.coef_ != 0).any()

    def log_posterior(coef: Any) -> float:
        left = y - X @ coef
        likelihood = d.Normal(0.0, np.sqrt(noise)).log_density(left - left.mean()).sum()
        return float(likelihood + d.Laplace(0.0, scale).log_density(coef).sum())

    best = log_posterior(lasso.coef_)
    rng = np.random.default_rng(1)
    for size in (1e-1, 1e-3, 1e-5):
        for step in rng.normal(size=(50, 3)) * size:
            assert log_posterior(lasso.coef_ + step) < best


def test_smoothed_shares_are_the_mode_under_a_dirichlet_prior() -> None:
    """Adding k to every count is a Dirichlet prior of k + 1; for two outcomes a Beta."""
    counts, k = np.array([5.0, 0.0, 2.0]), 1.0
    rows = np.eye(3)[np.repeat([0, 2], [5, 2])]
    posterior = d.Multinomial.posterior(d.Dirichlet(np.full(3, k + 1)), rows, trials=1)
    np.testing.assert_allclose(posterior.mode, (counts + k) / (counts.sum() + 3 * k), rtol=1e-14)
    coin = d.Bernoulli.posterior(d.Beta(k + 1, k + 1), [1, 1, 1, 0])
    assert coin.mode == pytest.approx((3 + k) / (4 + 2 * k))


@each_prior
def test_draws_have_the_moments_of_the_posterior(given: dict[str, Any]) -> None:
    model = BayesianLinearRegression(**given).fit(X, y)
    draws, noise = model.sample_posterior(40_000, random_state=0)
    # Five standard errors: of a mean, and of a variance (a Student t's, of 30 and more degrees of freedom).
    error = np.sqrt(model.posterior_.variance / 40_000)
    assert (np.abs(draws.mean(axis=0) - model.posterior_.mean) < 5 * error).all()
    np.testing.assert_allclose(draws.var(axis=0), model.posterior_.variance, rtol=5 * np.sqrt(3 / 40_000))
    if model.noise_posterior_ is not None:
        spread = 5 * np.sqrt(model.noise_posterior_.variance / 40_000)
        assert abs(noise.mean() - model.noise_posterior_.mean) < spread
    planes = model.sample_y(X[:3], 40_000, random_state=1)
    mean, std = model.predict(X[:3], return_std=True)
    assert (np.abs(planes.mean(axis=1) - mean) < 5 * std / 200).all()
    np.testing.assert_allclose(planes.std(axis=1), std, rtol=0.05)
    same = model.sample_y(X[:3], 5, random_state=1)
    np.testing.assert_array_equal(same, model.sample_y(X[:3], 5, random_state=1))


def test_intervals_hold_what_they_promise() -> None:
    """Over tables drawn from the prior, a share of 80 % of them holds the truth: exact in Bayes' world."""
    rng = np.random.default_rng(2)
    held: list[Any] = []
    for _ in range(200):
        noise = 1.5 / rng.gamma(2.0)
        w = rng.normal(size=2) * np.sqrt(noise)
        rows = rng.normal(size=(12, 2))
        target = rows @ w + np.sqrt(noise) * rng.normal(size=12)
        model = BayesianLinearRegression(noise_shape=2.0, noise_scale=1.5, fit_intercept=False).fit(
            rows, target
        )
        ends = model.credible_interval(0.8)
        held.append((ends[:, 0] < w) & (w < ends[:, 1]))
    # The share of 400 such draws is within 4 standard errors; the two of a table hardly correlate.
    assert abs(np.mean(held) - 0.8) < 4 * np.sqrt(0.16 / 400)
    wide = model.predict_interval(rows, level=0.8)
    narrow = model.predict_interval(rows, level=0.8, of="mean")
    assert (wide[:, 0] < narrow[:, 0]).all()
    assert (narrow[:, 1] < wide[:, 1]).all()


HARD: dict[str, Any] = {
    "more columns than rows": RNG.normal(size=(5, 12)),
    "duplicate columns": np.repeat(RNG.normal(size=(20, 2)), 3, axis=1),
    "a constant column": np.column_stack([RNG.normal(size=20), np.full(20, 7.0)]),
    "far from zero": RNG.normal(size=(40, 3)) + 1e6,
    "tiny": 1e-12 * RNG.normal(size=(40, 3)),
    "huge": 1e12 * RNG.normal(size=(40, 3)),
    "scales apart": RNG.normal(size=(40, 3)) * [1e-12, 1.0, 1e12],
    "one row": np.array([[1.0, 2.0]]),
    "float32": RNG.normal(size=(30, 3)).astype(np.float32),
    "sparse": sparse.random(60, 5, density=0.3, random_state=0, format="csr"),
}


@pytest.mark.parametrize("rows", HARD.values(), ids=HARD.keys())
def test_hard_tables_are_ridge_all_the_same(rows: Any) -> None:
    target = np.random.default_rng(3).normal(size=rows.shape[0])
    for given in ({"noise_variance": 0.5}, {}):
        model = BayesianLinearRegression(2.0, **given).fit(rows, target)
        assert model.certificate_.holds
        assert surefit.verify(model, rows, target).holds
        ridge = Ridge(alpha=2.0 * given.get("noise_variance", 1.0), tol=1e-6).fit(rows, target)
        scale = np.abs(ridge.predict(rows)).max() + np.abs(target).max()
        np.testing.assert_allclose(model.predict(rows), ridge.predict(rows), atol=1e-8 * scale)
        assert np.isfinite(model.predict(rows, return_std=True)[1]).all() or rows.shape[0] < 2
        assert np.isfinite(model.log_evidence_)


def test_rows_without_weight_and_other_layouts_change_nothing() -> None:
    weight = np.append(np.ones(30), np.zeros(3))
    rows, target = np.vstack([X, np.full((3, 3), 1e9)]), np.append(y, [1e9] * 3)
    plain = BayesianLinearRegression().fit(X, y)
    weighted = BayesianLinearRegression().fit(rows, target, weight)
    assert weighted.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-12)
    frozen = np.asfortranarray(X)
    frozen.flags.writeable = False
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    for form in (frozen, wide):
        np.testing.assert_allclose(BayesianLinearRegression().fit(form, y).coef_, plain.coef_, rtol=1e-12)


def test_what_is_refused() -> None:
    with pytest.raises(ParameterError, match="prior_precision has the shape"):
        BayesianLinearRegression([1.0, 2.0]).fit(X, y)
    with pytest.raises(ParameterError, match="prior_precision must be positive"):
        BayesianLinearRegression([1.0, -2.0, 1.0]).fit(X, y)
    with pytest.raises(ParameterError, match="prior_mean must be a number"):
        BayesianLinearRegression(prior_mean=np.eye(3)).fit(X, y)
    with pytest.raises(ParameterError, match="level=2"):
        BayesianLinearRegression().fit(X, y).credible_interval(2)
    with pytest.raises(ParameterError, match="of='old'"):
        BayesianLinearRegression().fit(X, y).predictive(X, of="old")
    with pytest.raises(DataError, match="no rows are left"):
        BayesianLinearRegression().fit(X, y).forget(X, y)
    with pytest.raises(RefusalError, match="up to 5000 columns"):
        BayesianLinearRegression().fit(sparse.random(3, 5001, density=0.01, format="csr"), [1.0, 2.0, 3.0])


def test_verify_sees_a_changed_covariance_noise_or_evidence() -> None:
    for name in ("root_", "noise_scale_", "log_evidence_", "misfit_"):
        model = BayesianLinearRegression().fit(X, y)
        setattr(model, name, getattr(model, name) * 1.0001)
        assert not surefit.verify(model, X, y).holds, name
