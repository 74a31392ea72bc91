"""Where a published estimate differs in its printed digits, that program had stopped short of the best."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special, stats
from statsmodels.discrete.tests.results import results_discrete
from statsmodels.tools.numdiff import approx_fprime, approx_hess
from tests.reference.test_glm_published import CASES, LINKS, PEERS, assert_printed, digits, within

import surefit

ORDERS = 100.0


def assert_nearer(ours, theirs, likelihood, gradient, hessian):
    """The step that Newton's method would still take from ours is orders shorter than from theirs.

    Steps are in units of standard errors; the likelihood, which moves with their squares, is no lower. No
    estimate differs by more than the step that theirs had left, and the digits they printed.
    """
    bend = -hessian(ours)

    def left(point):
        slope = np.asarray(gradient(point))
        return float(np.sqrt(max(slope @ np.linalg.solve(bend, slope), 0.0)))

    assert ORDERS * left(ours) <= left(theirs)
    assert likelihood(ours) >= likelihood(theirs) - 1e-14 * abs(likelihood(theirs))
    error = np.sqrt(np.diag(np.linalg.inv(bend)))
    assert_printed(ours, theirs, digits(theirs) + 1.05 * left(theirs) * error)


def rounded_off(found, wanted):
    """Whether any estimate differs by more than half a unit of a digit that single precision can hold."""
    return bool((np.abs(found - wanted) > 6e-8 * np.abs(wanted)).any())


@pytest.mark.parametrize("name", CASES)
def test_generalised_linear_models(name):
    family, link, make, rows, options = CASES[name]
    published = make()
    X, y, weight = rows() if rows else within(published)
    model = surefit.GeneralizedLinearRegressor(family, link, tol=1e-13, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", surefit.core.certificate.CertificateWarning)
        model.fit(X, y, weight)
        ours, theirs = np.append(model.coef_, model.intercept_), np.asarray(published.params)
        peer = sm.GLM(y, sm.add_constant(X, prepend=False), PEERS[family](LINKS[link]()), freq_weights=weight)
    if not rounded_off(ours, theirs):
        return
    scale = float(peer.scale or 1.0) if hasattr(peer, "scale") else 1.0
    assert_nearer(
        ours,
        theirs,
        lambda at: -peer.family.deviance(peer.endog, peer.predict(at), peer.freq_weights) / 2,
        lambda at: peer.score(at, scale=scale),
        lambda at: peer.hessian(at, scale=scale, observed=True),
    )


def test_some_programs_did_stop_short():
    """Most of the cases above are compared, or they would prove nothing."""
    short = []
    for name, (family, link, make, rows, options) in CASES.items():
        published = make()
        X, y, weight = rows() if rows else within(published)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", surefit.core.certificate.CertificateWarning)
            model = surefit.GeneralizedLinearRegressor(family, link, tol=1e-13, **options).fit(X, y, weight)
        if rounded_off(np.append(model.coef_, model.intercept_), np.asarray(published.params)):
            short.append(name)
    assert "inverse-gaussian-identity" in short
    assert "gamma-log" in short
    assert "gaussian-identity" not in short


def test_multinomial_logit():
    data = sm.datasets.anes96.load()
    X, y = data.exog.to_numpy().astype(float), data.endog.to_numpy()
    model = surefit.LogisticRegression(C=np.inf, tol=1e-13, max_iter=1000).fit(X, y)
    peer = sm.MNLogit(y, sm.add_constant(X, prepend=False))
    table = np.column_stack([model.coef_, model.intercept_])
    ours = (table[1:] - table[0]).ravel()
    theirs = np.asarray(results_discrete.Anes.mnlogit_basezero.params).T.ravel()
    assert rounded_off(ours, theirs)
    assert_nearer(ours, theirs, peer.loglike, peer.score, peer.hessian)


def test_negative_binomial_with_its_dispersion():
    data = sm.datasets.randhie.load()
    X, y = data.exog.to_numpy().astype(float), data.endog.to_numpy().astype(float)
    model = surefit.GeneralizedLinearRegressor("negative_binomial", tol=1e-13).fit(X, y)
    ours = np.r_[model.coef_, model.intercept_, 1 / model.theta_]
    theirs = np.asarray(results_discrete.RandHIE.negativebinomial_nb2_bfgs.params)
    assert rounded_off(ours, theirs)

    def likelihood(at):  # the peer's own is off in its tenth digit
        mean, theta = np.exp(X @ at[:-2] + at[-2]), 1 / at[-1]
        return float(stats.nbinom.logpmf(y, theta, theta / (theta + mean)).sum())

    def score(at):  # the peer's is by another parameter than its estimate
        mean, theta = np.exp(X @ at[:-2] + at[-2]), 1 / at[-1]
        each = (y - mean) / (1 + at[-1] * mean)
        digammas = special.digamma(y + theta) - special.digamma(theta)
        by_theta = digammas + np.log(theta / (theta + mean)) + (mean - y) / (theta + mean)
        return np.r_[X.T @ each, each.sum(), -(theta**2) * by_theta.sum()]

    assert_nearer(ours, theirs, likelihood, score, lambda at: approx_fprime(at, score, centered=True))


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_ordered_classes(link):
    from statsmodels.miscmodels.tests.results import results_ordinal_model as results

    table = results.data_store.df
    published = results.res_ord_logit if link == "logit" else results.res_ord_probit
    X, y = table[["pared", "public", "gpa"]].to_numpy(float), table["apply"].astype(str).to_numpy()
    order = ["unlikely", "somewhat likely", "very likely"]
    model = surefit.OrdinalClassifier(link, order=order).fit(X, y)
    ranks = np.array([order.index(label) for label in y])
    chance = sm.families.links.Logit().inverse if link == "logit" else sm.families.links.Probit().inverse

    def likelihood(at):
        ends = np.r_[-np.inf, at[3:], np.inf]
        z = X @ at[:3]
        with np.errstate(over="ignore"):
            return float(np.log(chance(ends[ranks + 1] - z) - chance(ends[ranks] - z)).sum())

    ours = np.r_[model.coef_, model.thresholds_]
    theirs = np.r_[published.coefficients_val, published.thresholds]
    assert rounded_off(ours, theirs)
    assert_nearer(
        ours,
        theirs,
        likelihood,
        lambda at: approx_fprime(at, likelihood, centered=True),
        lambda at: approx_hess(at, likelihood),
    )
