"""The exercises of the chapter on logistic regression, and all losses and costs of the course."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, gammaln, logsumexp

import surefit
from surefit import GeneralizedLinearRegressor, LinearModel, LogisticRegression, losses, metrics, optimize
from surefit.distributions import Bernoulli, Laplace, MultivariateNormal, Normal, Poisson
from surefit.penalties import L2, Tikhonov

A = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])  # a column of ones, and x
Y = np.array([0.0, 0.0, 1.0, 1.0])
EXACT = {"tol": 1e-11, "max_iter": 1000}


def penalised(w, strength):
    return float(losses.Logistic().value(Y, A @ w).sum() + strength * w @ w)


@pytest.mark.covers("intro_to_ml:5.11", by="optimize.check_gradient")
def test_the_slope_of_squares_is_twice_the_strength_times_the_weights():
    def slope(w):
        return A.T @ (expit(A @ w) - Y) + 2 * 1.0 * w

    for w in np.random.default_rng(0).normal(size=(5, 2)):
        assert optimize.check_gradient(lambda v: penalised(v, 1.0), slope, w).holds
        assert penalised(w, 1.0) == pytest.approx(losses.Logistic().value(Y, A @ w).sum() + L2(2.0).value(w))
        assert not optimize.check_gradient(lambda v: penalised(v, 0.5), slope, w).holds
    best = LogisticRegression(C=0.5, fit_intercept=False, **EXACT).fit(A, Y.astype(int)).coef_[0]
    np.testing.assert_allclose(best, [-0.0931904918, 0.6019350624], atol=1e-7)
    np.testing.assert_allclose(slope(best), 0.0, atol=1e-6)


@pytest.mark.covers("intro_to_ml:5.11", by="LogisticRegression.decision_function")
def test_the_boundary_is_a_line_that_can_be_drawn():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    model = LogisticRegression(**EXACT).fit(X, X @ [1.0, 2.0] + 0.5 + rng.logistic(size=200) > 0)
    (w1, w2), b = model.coef_[0], model.intercept_[0]
    x1 = np.linspace(-5, 5, 11)
    line = np.column_stack([x1, -(w1 * x1 + b) / w2])
    np.testing.assert_allclose(model.decision_function(line), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(line), 0.5, atol=1e-12)
    up = np.array([0.0, np.sign(w2) * 0.01])
    assert model.predict(line + up).all()
    assert not model.predict(line - up).any()


@pytest.mark.covers("intro_to_ml:5.11", by="losses.Logistic")
def test_labels_of_both_signs_cost_the_same():
    u = np.array([-800.0, -3.0, 0.0, 0.25, 800.0])
    for y in (0.0, 1.0):
        sign = 2 * y - 1
        np.testing.assert_allclose(
            losses.Logistic().value(np.full(5, y), u), np.logaddexp(0.0, -sign * u), rtol=1e-14
        )
    zero_one = LogisticRegression(**EXACT).fit(A[:, 1:], Y.astype(int))
    signed = LogisticRegression(**EXACT).fit(A[:, 1:], np.where(Y == 1, 1, -1))
    np.testing.assert_array_equal(zero_one.coef_, signed.coef_)
    assert signed.classes_.tolist() == [-1, 1]


@pytest.mark.covers("intro_to_ml:5.11", by="LinearModel")
@pytest.mark.parametrize("strength", [0.1, 2.0])
def test_logistic_regression_by_kernels_of_rows_with_rows(strength):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 25))
    y = (X[:, :2] @ [1.0, -1.0] + rng.logistic(size=20) > 0).astype(float)
    # With w = X'a the scores are K a, and the squares of w are a'Ka = |X'a|^2.
    K = X @ X.T
    model = LinearModel(
        loss="logistic",
        penalty=Tikhonov(X.T, 2 * strength / len(X)),
        solver="newton",
        fit_intercept=False,
        tol=1e-12,
    ).fit(K, y)
    primal = LogisticRegression(C=1 / (2 * strength), fit_intercept=False, **EXACT).fit(X, y.astype(int))
    np.testing.assert_allclose(X.T @ model.coef_, primal.coef_[0], rtol=1e-5)
    np.testing.assert_allclose(expit(K @ model.coef_), primal.predict_proba(X)[:, 1], rtol=1e-5)

    def cost(a):
        return float(losses.Logistic().value(y, K @ a).sum() + strength * a @ K @ a)

    a = rng.normal(size=20) / 20
    slope = K @ (expit(K @ a) - y) + 2 * strength * K @ a
    np.testing.assert_allclose(optimize.numerical_gradient(cost, a), slope, rtol=1e-6, atol=1e-7)


@pytest.mark.covers("intro_to_ml:5.11", by="optimize.probe_convexity")
def test_the_likelihood_is_not_convex_and_its_negative_logarithm_is():
    one = optimize.box_sampler([-4.0], [4.0])
    likelihood = optimize.probe_convexity(lambda w: float(Bernoulli(expit(w[0])).density(1)), one)
    assert likelihood.refuted
    cost = optimize.probe_convexity(lambda w: float(losses.Logistic().value([1.0], w)[0]), one)
    assert not cost.refuted


@pytest.mark.covers("intro_to_ml:5.11", by="GeneralizedLinearRegressor")
def test_the_likelihood_of_counts_and_its_slope():
    y = np.array([1.0, 2.0, 3.0])
    ones = np.ones((3, 1))

    def log_likelihood(w):
        return float((y * w[0] - np.exp(w[0]) - gammaln(y + 1)).sum())

    best = np.log(2.0)
    assert log_likelihood([best]) == pytest.approx(-4.3260235664, abs=5e-11)
    model = GeneralizedLinearRegressor("poisson", fit_intercept=False, tol=1e-12).fit(ones, y)
    assert model.coef_[0] == pytest.approx(best, abs=1e-8)
    assert Poisson(2.0).log_density(y).sum() == pytest.approx(log_likelihood([best]), rel=1e-14)
    for w in (-1.0, 0.3, best):
        slope = float((y - np.exp(w)).sum())
        assert optimize.numerical_gradient(log_likelihood, [w])[0] == pytest.approx(slope, abs=1e-6)
        np.testing.assert_allclose(losses.Poisson().gradient(y, np.full(3, w)).sum(), -slope, atol=1e-12)


@pytest.mark.covers("intro_to_ml:I.3", by="losses.Squared")
@pytest.mark.covers("intro_to_ml:I.3", by="losses.Huber")
@pytest.mark.covers("intro_to_ml:I.3", by="metrics.sum_squared_error")
@pytest.mark.covers("intro_to_ml:I.3", by="metrics.zero_one_loss")
@pytest.mark.covers("intro_to_ml:I.3", by="distributions.MultivariateNormal")
def test_losses_and_costs_with_the_factors_that_the_course_gives_them():
    rng = np.random.default_rng(4)
    y, z = rng.normal(size=9), rng.normal(size=9)
    r = y - z
    labels = (y > 0).astype(float)
    # 0-1 and squared, means in the empirical risk; sums of squares with and without the half.
    assert metrics.zero_one_loss(labels, z > 0) == pytest.approx(np.mean(labels != (z > 0)))
    assert metrics.mean_squared_error(y, z) == pytest.approx(np.mean(r**2))
    np.testing.assert_allclose(losses.Squared().value(y, z), r**2 / 2, rtol=1e-14)
    assert metrics.sum_squared_error(y, z) == pytest.approx(np.sum(r**2))
    d = rng.integers(0, 3, 9).astype(float)
    assert metrics.sum_squared_error(y, z, sample_weight=d) == pytest.approx(np.sum(d * r**2))
    # Robust: absolute, Huber.
    np.testing.assert_allclose(losses.Absolute().value(y, z), np.abs(r), rtol=1e-14)
    delta = 0.7
    huber = np.where(np.abs(r) <= delta, r**2 / 2, delta * np.abs(r) - delta**2 / 2)
    np.testing.assert_allclose(losses.Huber(delta).value(y, z), huber, rtol=1e-13)
    # Negative logarithms of likelihoods.
    normal = 0.5 * np.log(2 * np.pi * 1.3) + r**2 / (2 * 1.3)
    np.testing.assert_allclose(-Normal(0.0, np.sqrt(1.3)).log_density(r), normal, rtol=1e-13)
    np.testing.assert_allclose(-Laplace(0.0, 0.4).log_density(r), np.log(0.8) + np.abs(r) / 0.4, rtol=1e-13)
    there, absent = np.logaddexp(0, -z), z + np.logaddexp(0, -z)
    np.testing.assert_allclose(losses.Logistic().value(np.ones(9), z), there, rtol=1e-13)
    np.testing.assert_allclose(losses.Logistic().value(np.zeros(9), z), absent, rtol=1e-13)
    counts = rng.integers(0, 6, 9).astype(float)
    by_loss = losses.Poisson().value(counts, z) + gammaln(counts + 1)
    likelihoods = [Poisson(float(np.exp(u))).log_density(k) for u, k in zip(z, counts, strict=True)]
    np.testing.assert_allclose(-np.array(likelihoods), by_loss, rtol=1e-12)
    np.testing.assert_allclose(by_loss, np.exp(z) - counts * z + gammaln(counts + 1), rtol=1e-13)
    # Distances to assigned centres, and to what components give back; the density of a mixture.
    X, centres = rng.normal(size=(30, 2)), rng.normal(size=(3, 2))
    nearest = centres[np.argmin(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)]
    distortion = ((X[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum()
    assert metrics.sum_squared_error(X.ravel(), nearest.ravel()) == pytest.approx(distortion)
    pca = surefit.PCA(1).fit(X)
    back = pca.inverse_transform(pca.transform(X))
    lost = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[1] ** 2
    assert metrics.sum_squared_error(X.ravel(), back.ravel()) == pytest.approx(lost)
    shares, spread = np.array([0.2, 0.3, 0.5]), np.diag([0.5, 2.0])
    parts = np.column_stack([MultivariateNormal(c, spread).log_density(X) for c in centres])
    densities = np.exp(-0.5 * (((X[:, None] - centres) ** 2) / [0.5, 2.0]).sum(axis=2)) / (2 * np.pi)
    mixed = -np.log(densities @ shares).sum()
    assert -logsumexp(parts + np.log(shares), axis=1).sum() == pytest.approx(mixed)
