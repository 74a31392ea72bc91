"""LinearModel against scikit-learn, statsmodels and glum at tight tolerances."""

from __future__ import annotations

import glum
import numpy as np
import pytest
import sklearn.linear_model as peers
import statsmodels.api as sm

from surefit import LinearModel
from surefit.losses import Gamma, Tweedie
from surefit.penalties import L1, L2, ElasticNet

RNG = np.random.default_rng(3)
ROWS = 300
X = RNG.normal(size=(ROWS, 6)) + 0.5
Z = X @ [0.5, -1.0, 0.3, 0.0, 0.2, 0.0]
NUMBERS = Z + RNG.normal(size=ROWS)
TWO = (Z + RNG.logistic(size=ROWS) > 0).astype(int)
THREE = np.digitize(Z + RNG.logistic(size=ROWS), [-1.0, 0.5])
COUNTS = RNG.poisson(np.exp(0.5 * Z))
POSITIVE = RNG.gamma(2.0, np.exp(0.5 * Z))
WEIGHT = RNG.uniform(0.5, 2.0, ROWS)
SECOND_ORDER = ["newton", "proximal_newton", "lbfgs"]
each_solver = pytest.mark.parametrize("solver", SECOND_ORDER)


def agree(model, peer, rtol=1e-6):
    np.testing.assert_allclose(model.coef_, np.squeeze(peer.coef_), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(model.intercept_, np.squeeze(peer.intercept_), rtol=rtol, atol=rtol)


@each_solver
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_logistic_regression(solver, weight):
    """With C = 1 / (W strength)."""
    total = ROWS if weight is None else weight.sum()
    peer = peers.LogisticRegression(C=1 / (0.01 * total), tol=1e-10, solver="newton-cholesky", max_iter=1000)
    model = LinearModel("logistic", L2(0.01), solver=solver, tol=1e-13)
    agree(model.fit(X, TWO, weight), peer.fit(X, TWO, weight))
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-5)


@each_solver
def test_multinomial_regression(solver):
    peer = peers.LogisticRegression(C=1 / (0.01 * ROWS), tol=1e-9, max_iter=10_000).fit(X, THREE)
    model = LinearModel("softmax", L2(0.01), solver=solver, tol=1e-13).fit(X, THREE)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)


@each_solver
def test_poisson_regression(solver):
    peer = peers.PoissonRegressor(alpha=0.1, tol=1e-12, solver="newton-cholesky").fit(X, COUNTS, WEIGHT)
    model = LinearModel("poisson", L2(0.1), solver=solver, tol=1e-13).fit(X, COUNTS, WEIGHT)
    agree(model, peer)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-5)


@each_solver
@pytest.mark.parametrize(
    ("loss", "peer"),
    [
        (Gamma(), peers.GammaRegressor(alpha=0.1, tol=1e-12, solver="newton-cholesky")),
        (Tweedie(1.5), peers.TweedieRegressor(power=1.5, alpha=0.1, tol=1e-12, solver="newton-cholesky")),
    ],
    ids=["gamma", "tweedie"],
)
def test_other_deviances(solver, loss, peer):
    model = LinearModel(loss, L2(0.1), solver=solver, tol=1e-13).fit(X, POSITIVE)
    agree(model, peer.fit(X, POSITIVE), 1e-5)


@pytest.mark.parametrize("solver", ["closed_form", *SECOND_ORDER])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge(solver, fit_intercept):
    """With alpha = W strength."""
    peer = peers.Ridge(0.1 * ROWS, fit_intercept=fit_intercept).fit(X, NUMBERS)
    options = {"solver": solver, "fit_intercept": fit_intercept, "tol": 1e-13}
    agree(LinearModel("squared", L2(0.1), **options).fit(X, NUMBERS), peer)


@pytest.mark.parametrize("family", [sm.families.Poisson(), sm.families.Gamma(sm.families.links.Log())])
@each_solver
def test_generalised_linear_models_without_a_penalty(solver, family):
    loss, y = ("poisson", COUNTS) if isinstance(family, sm.families.Poisson) else ("gamma", POSITIVE)
    expected = sm.GLM(y, sm.add_constant(X), family=family).fit(tol=1e-14, maxiter=200).params
    model = LinearModel(loss, solver=solver, tol=1e-13).fit(X, y)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_elastic_nets_of_counts(share):
    peer = glum.GeneralizedLinearRegressor(
        family="poisson", alpha=0.05, l1_ratio=share, gradient_tol=1e-10, scale_predictors=False
    ).fit(X, COUNTS)
    model = LinearModel("poisson", ElasticNet(0.05, l1_ratio=share), tol=1e-12).fit(X, COUNTS)
    assert model.solver_ == "proximal_newton"
    agree(model, peer, 1e-5)
    np.testing.assert_array_equal(model.coef_ == 0, np.abs(peer.coef_) < 1e-8)


def test_absolute_penalty_of_classes():
    """Their objective is never lower."""
    peer = peers.LogisticRegression(
        l1_ratio=1.0, C=1 / (0.02 * ROWS), solver="saga", tol=1e-10, max_iter=100_000
    ).fit(X, TWO)
    model = LinearModel("logistic", L1(0.02), tol=1e-12).fit(X, TWO)
    z = X @ peer.coef_[0] + peer.intercept_[0]
    theirs = np.mean(np.logaddexp(0, z) - TWO * z) + 0.02 * np.abs(peer.coef_).sum()
    ours = model.certificate_.parts["objective"]
    assert ours <= theirs * (1 + 1e-15)
    assert theirs - ours <= 1e-8 * theirs
    agree(model, peer, 1e-4)
