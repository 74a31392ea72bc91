"""Precisions chosen by evidence, and logistic posteriors, against scikit-learn, scipy and quadrature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy import optimize, stats
from scipy.special import expit

import surefit
from surefit import ARDRegression, BayesianLogisticRegression, BayesianRidge, LinearModel
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import DataError, ParameterError
from surefit.penalties import L2


def table(rows: int, columns: int, seed: int = 0, noise: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) + 2.0
    w = np.where(np.arange(columns) % 3 == 0, rng.normal(size=columns) * 2, 0.0)
    return X, X @ w + noise * rng.normal(size=rows) + 5.0


SHAPES = {"tall": (80, 5), "square": (15, 15), "wide": (12, 30), "exact": (40, 3)}
PAIRS = [(BayesianRidge, peers.BayesianRidge), (ARDRegression, peers.ARDRegression)]
each_pair = pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=["BayesianRidge", "ARDRegression"])


@each_pair
@pytest.mark.parametrize("shape", ["tall", "exact"])
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "origin"])
def test_same_optimum_as_scikit_learn(ours: Any, theirs: Any, shape: str, fit_intercept: bool) -> None:
    X, y = table(*SHAPES[shape], noise=0.1 if shape == "exact" else 1.0)
    mine = ours(fit_intercept=fit_intercept, compute_score=True).fit(X, y)
    peer = theirs(fit_intercept=fit_intercept, compute_score=True, tol=1e-13, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(mine.coef_, peer.coef_, rtol=1e-6, atol=1e-9)
    assert mine.intercept_ == pytest.approx(peer.intercept_, rel=1e-6, abs=1e-9)
    assert mine.alpha_ == pytest.approx(float(peer.alpha_), rel=1e-6)
    used = np.broadcast_to(peer.lambda_ < getattr(peer, "threshold_lambda", np.inf), X.shape[1])
    each = np.broadcast_to(mine.lambda_, X.shape[1])[used]
    np.testing.assert_allclose(each, np.broadcast_to(peer.lambda_, X.shape[1])[used], rtol=1e-5)
    np.testing.assert_allclose(mine.sigma_, peer.sigma_, rtol=1e-5, atol=1e-9 * np.abs(peer.sigma_).max())
    mean, std = mine.predict(X, return_std=True)
    peer_mean, peer_std = peer.predict(X, return_std=True)
    np.testing.assert_allclose(mean, peer_mean, rtol=1e-6)
    np.testing.assert_allclose(std, peer_std, rtol=1e-6)
    assert len(mine.scores_) == mine.n_iter_ + 1
    # scikit-learn's score of ARD goes on counting the precisions of columns that are gone.
    gone = np.broadcast_to(peer.lambda_, X.shape[1])[~used]
    extra = 0.5 * np.log(gone).sum() + (1e-6 * np.log(gone) - 1e-6 * gone).sum()
    assert mine.scores_[-1] == pytest.approx(peer.scores_[-1] - extra, rel=1e-6)
    np.testing.assert_allclose(mine.X_offset_, peer.X_offset_, rtol=1e-13)


@each_pair
@pytest.mark.parametrize("shape", SHAPES)
def test_evidence_is_never_below_scikit_learns(ours: Any, theirs: Any, shape: str) -> None:
    """Measured for both by the density of the targets, which is theirs to choose the precisions by."""
    X, y = table(*SHAPES[shape], seed=1)
    mine, peer = ours().fit(X, y), theirs().fit(X, y)
    assert mine.certificate_.holds
    assert surefit.verify(mine, X, y).holds
    assert log_evidence(X, y, mine) >= log_evidence(X, y, peer) - 1e-6


def log_evidence(X: Any, y: Any, model: Any, alpha: float = 0.0, lam: Any = 0.0) -> float:
    """Of centred rows, with the gamma priors; the logarithms of the precisions may be moved."""
    A, b = X - X.mean(axis=0), y - y.mean()
    precision = float(model.alpha_) * np.exp(alpha)
    each = np.asarray(model.lambda_) * np.exp(lam)
    used = np.broadcast_to(model.lambda_ < getattr(model, "threshold_lambda", np.inf), X.shape[1])
    weights = np.broadcast_to(each, X.shape[1])[used]
    spread = np.eye(len(y)) / precision + (A[:, used] / weights) @ A[:, used].T
    found = stats.multivariate_normal(np.zeros(len(y)), spread).logpdf(b)
    hyper = np.sum(1e-6 * np.log(weights) - 1e-6 * weights) if np.ndim(each) else 1e-6 * (np.log(each) - each)
    return float(found + hyper + 1e-6 * (np.log(precision) - precision))


@each_pair
def test_the_evidence_is_stationary(ours: Any, theirs: Any) -> None:
    """Slopes by differences of the density of the targets, which shares nothing with the climb."""
    X, y = table(40, 4)
    model, h = ours().fit(X, y), 1e-4
    best = log_evidence(X, y, model)
    assert abs(log_evidence(X, y, model, alpha=h) - log_evidence(X, y, model, alpha=-h)) / (2 * h) < 1e-6
    steps = np.eye(4)[model.lambda_ < 1e4] if np.ndim(model.lambda_) else [1.0]
    for step in steps:
        up, down = (log_evidence(X, y, model, lam=sign * h * step) for sign in (1, -1))
        assert abs(up - down) / (2 * h) < 1e-6
        assert max(up, down) <= best + 1e-10


def test_columns_that_tell_nothing_drop_out() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 12))
    y = 3.0 * X[:, 2] - 2.0 * X[:, 7] + rng.normal(size=200)
    model = ARDRegression(threshold_lambda=300.0).fit(X, y)
    assert set(np.flatnonzero(model.coef_)) >= {2, 7}
    assert (model.coef_ == 0).sum() >= 5
    assert model.sigma_.shape == (np.count_nonzero(model.coef_),) * 2
    assert model.predict(X, return_std=True)[1].min() > 0
    none = ARDRegression(threshold_lambda=0.0).fit(X, y)
    np.testing.assert_array_equal(none.coef_, 0)
    assert none.intercept_ == pytest.approx(y.mean())


@each_pair
def test_rows_come_and_go_exactly(ours: Any, theirs: Any) -> None:
    X, y = table(60, 4)
    whole = ours().fit(X, y)
    pieces = ours().partial_fit(X[:20], y[:20]).merge(ours().fit(X[20:], y[20:]))
    again = ours().fit(np.vstack([X, X[:5] - 1]), np.append(y, y[:5])).forget(X[:5] - 1, y[:5])
    for other in (pieces, again):
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
        assert other.alpha_ == pytest.approx(whole.alpha_, rel=1e-8)


@each_pair
@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (np.column_stack([X, X[:, 0], np.full(len(X), 3.0)]), y),
        lambda X, y: (X + 1e6, y + 1e6),
        lambda X, y: (X * 1e-12, y),
        lambda X, y: (X * 1e12, y),
        lambda X, y: (X, np.full(len(y), 2.0)),
        lambda X, y: (X.astype(np.float32), y),
        lambda X, y: (X[:5], y[:5]),
        lambda X, y: (X, X @ [1.0, 2.0, -1.0, 0.5]),
    ],
    ids=["dependent", "far", "tiny", "huge", "constant target", "float32", "few rows", "no noise"],
)
def test_hard_tables(ours: Any, theirs: Any, change: Any) -> None:
    X, y = change(*table(40, 4))
    model = ours().fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.alpha_ > 0
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds


@each_pair
@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e8, 1e12])
def test_one_column_in_another_unit_hides_no_other(ours: Any, theirs: Any, unit: float) -> None:
    """A prior of one precision keeps some of a large column out; what the others tell must not go with it."""
    X, y = table(60, 4)
    X[:, 2] *= unit
    mine = ours(compute_score=True).fit(X, y)
    peer = theirs(compute_score=True, tol=1e-13, max_iter=5000).fit(X, y)
    assert mine.certificate_.holds
    assert surefit.verify(mine, X, y).holds
    assert mine.scores_[-1] >= peer.scores_[-1] - 1e-6 * abs(peer.scores_[-1])
    assert mine.score(X, y) >= peer.score(X, y) - 1e-4
    each = np.broadcast_to(mine.lambda_, 4)
    inner = mine.alpha_ * (X - X.mean(axis=0)).T @ (X - X.mean(axis=0)) + np.diag(each)
    size = np.sqrt(np.diagonal(inner))
    if len(mine.sigma_) == 4:  # the covariance of all columns, in units that show each
        found = mine.sigma_ * size * size[:, None]
        np.testing.assert_allclose(found, np.linalg.inv(inner / size / size[:, None]), rtol=1e-8, atol=1e-8)


def test_a_target_that_nothing_tells_leaves_the_screen_alone(capfd: Any) -> None:
    """All columns drop out, and no library complains of an empty matrix."""
    X, _ = table(60, 4)
    model = ARDRegression().fit(X, np.full(60, 5.0))
    assert not model.coef_.any()
    assert capfd.readouterr() == ("", "")


def test_two_rows_leave_relevance_open_and_the_certificate_says_so() -> None:
    """All columns are one then, and any share of it is as likely as another, but for the faint priors."""
    X, y = table(40, 4)
    assert BayesianRidge().fit(X[:2], y[:2]).certificate_.holds
    with pytest.warns(CertificateWarning, match="NOT within"):
        model = ARDRegression().fit(X[:2], y[:2])
    np.testing.assert_allclose(model.predict(X[:2]), y[:2], atol=1e-4)


def test_too_few_steps_are_told() -> None:
    X, y = table(40, 4)
    with pytest.warns(CertificateWarning, match="NOT within"):
        assert BayesianRidge(max_iter=1).fit(X, y).n_iter_ == 1


def logistic_table(rows: int = 200, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    return X, (X @ [1.5, -1.0] + 0.3 + rng.logistic(size=rows) > 0).astype(int)


@pytest.mark.covers("intro_to_ml:5.8", by="BayesianLogisticRegression")
def test_mode_covariance_and_evidence_by_laplace() -> None:
    X, y = logistic_table()
    model = BayesianLogisticRegression(2.0).fit(X, y)
    Z = np.column_stack([X, np.ones(len(y))])

    def minus_log_posterior(t: Any) -> Any:
        z = Z @ t
        return np.logaddexp(0, z).sum() - y @ z + t[:2] @ t[:2] - np.log(2.0 / (2 * np.pi))

    found = optimize.minimize(minus_log_posterior, np.zeros(3), tol=1e-12)
    mode = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(mode, found.x, atol=1e-5)
    p = expit(Z @ mode)
    inner = (Z.T * (p * (1 - p))) @ Z + np.diag([2.0, 2.0, 0.0])
    np.testing.assert_allclose(model.posterior_.covariance, np.linalg.inv(inner), rtol=1e-9)
    laplace = -minus_log_posterior(mode) + 1.5 * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(inner)[1]
    assert model.log_evidence_ == pytest.approx(laplace, rel=1e-10)
    # The integral itself, by importance sampling from the approximation: within its error of order 1/n.
    draws = model.sample_posterior(2000, random_state=0)
    ratio = np.array([-minus_log_posterior(t) for t in draws]) - model.posterior_.log_density(draws)
    truth = np.log(np.mean(np.exp(ratio - ratio.max()))) + ratio.max()
    assert abs(truth - model.log_evidence_) < 0.1
    penalised = LinearModel("logistic", L2(2.0 / len(y)), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, penalised.coef_, rtol=1e-7)


def test_probabilities_average_over_the_posterior() -> None:
    X, y = logistic_table(40)
    model = BayesianLogisticRegression().fit(X, y)
    at = np.array([[0.5, 0.5], [3.0, -3.0], [40.0, 0.0]])
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    score = model.decision_function(at)
    Z = np.column_stack([at, np.ones(3)])
    deviation = np.sqrt(np.einsum("ij,jk,ik->i", Z, model.posterior_.covariance, Z))
    exact = expit(score[:, None] + deviation[:, None] * nodes) @ weights / np.sqrt(2 * np.pi)
    sampled = model.predict_proba(at, by="sample", n_samples=40_000, random_state=0)[:, 1]
    np.testing.assert_allclose(sampled, exact, atol=5 * 0.5 / 200)
    np.testing.assert_allclose(model.predict_proba(at)[:, 1], exact, atol=0.02)  # MacKay's own error
    plain = model.predict_proba(at, by="mode")[:, 1]
    np.testing.assert_allclose(plain, expit(score), rtol=1e-12)
    assert (np.abs(model.predict_proba(at)[:, 1] - 0.5) < np.abs(plain - 0.5)).all()
    np.testing.assert_allclose(model.predict_proba(at).sum(axis=1), 1.0, rtol=1e-14)


def test_the_prior_that_the_evidence_chooses() -> None:
    X, y = logistic_table()
    model = BayesianLogisticRegression("evidence").fit(X, y)
    spread = np.diagonal(model.posterior_.covariance)[:2]
    explained = (1 - model.precision_ * spread).sum()
    assert model.precision_ == pytest.approx(explained / (model.coef_ @ model.coef_), rel=1e-4)
    for factor in (0.3, 3.0):
        other = BayesianLogisticRegression(model.precision_ * factor).fit(X, y)
        assert other.log_evidence_ < model.log_evidence_
    assert surefit.verify(model, X, y).holds
    model.precision_ *= 1.01
    assert not surefit.verify(model, X, y).holds


def test_separated_far_off_and_changed_tables() -> None:
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array([0, 0, 1, 1])
    near, far = (BayesianLogisticRegression().fit(X + shift, y) for shift in (0.0, 1e6))
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-6)
    np.testing.assert_allclose(far.predict_proba(X + 1e6), near.predict_proba(X), rtol=1e-6)
    near.root_ *= 1.001
    assert not surefit.verify(near, X, y).holds
    with pytest.raises(DataError, match="rows of one class"):
        BayesianLogisticRegression().fit(X, y, sample_weight=[1, 1, 0, 0])
    with pytest.raises(DataError, match="Only binary classification"):
        BayesianLogisticRegression().fit(X, [0, 1, 2, 3])
    with pytest.raises(ParameterError, match="prior_precision must be positive"):
        BayesianLogisticRegression([1.0, 2.0]).fit(X, y)
    with pytest.raises(ParameterError, match="by='vote'"):
        BayesianLogisticRegression().fit(X, y).predict_proba(X, by="vote")
