"""Generalised linear models against the results of R and Stata that statsmodels carries, to their digits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.base import clone
from statsmodels.discrete.tests.results import results_discrete
from statsmodels.genmod.families import links
from statsmodels.genmod.tests.results import results_glm

import surefit

STOPPED = 2e-9  # relative: what programs leave when they stop, however many digits they print


def digits(wanted: Any) -> Any:
    """Return half a unit of the last digit printed, but no less than what programs converge to."""
    flat = np.ravel(np.asarray(wanted, dtype=float))
    half = [0.5 * 10.0 ** Decimal(repr(float(value))).as_tuple().exponent for value in flat]
    return np.maximum(1.01 * np.array(half), STOPPED * np.abs(flat)).reshape(np.shape(wanted))


def stored(wanted: Any) -> Any:
    """Return what rows are off by that a program held in single precision and printed."""
    return digits(wanted) + 0.5 * np.spacing(np.abs(wanted).astype(np.float32))


def assert_quotients(effect: Any, printed: Any) -> float:
    """Stata takes slopes by differences, which are off by one factor for all columns; return by how much."""
    factor = effect / printed
    assert np.ptp(factor) <= STOPPED
    off = abs(float(factor.mean()) - 1.0)
    assert off <= 1e-7
    return off + STOPPED


def assert_printed(found: Any, wanted: Any, slack: Any = 0.0) -> None:
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    off = np.abs(found - wanted) / np.maximum(digits(wanted), slack)
    assert (off <= 1.0).all(), (found, wanted, off)


def single(X: Any) -> Any:
    """Return numbers as Stata holds them, in single precision."""
    return np.asarray(X).astype(np.float32).astype(np.float64)


def longley():
    data = sm.datasets.longley.load()
    return data.exog.to_numpy(), data.endog.to_numpy(), None


def star98():
    data = sm.datasets.star98.load()
    counts = data.endog.to_numpy()
    return data.exog.to_numpy(), counts[:, 0] / counts.sum(axis=1), counts.sum(axis=1)


def scotland():
    data = sm.datasets.scotland.load()
    return data.exog.to_numpy(), data.endog.to_numpy(), None


def cpunish():
    data = sm.datasets.cpunish.load()
    X = data.exog.to_numpy().copy()
    X[:, 3] = np.log(X[:, 3])
    return X, data.endog.to_numpy(), None


def committee():
    data = sm.datasets.committee.load()
    X = data.exog.to_numpy().copy()
    X[:, 2] = np.log(X[:, 2])
    return np.column_stack([X, X[:, 2] * X[:, 1]]), data.endog.to_numpy(), None


def within(results: Any) -> Any:
    """Rows that come with the results, the constant last among the columns, or first."""
    X = np.asarray(results.exog, dtype=float)
    constant = np.flatnonzero((X == 1).all(axis=0))[-1]
    return np.delete(X, constant, axis=1), np.asarray(results.endog, dtype=float).ravel(), None


def constant_last(summary: Any) -> Any:
    return np.roll(summary.estimate, -1), np.roll(summary.standard_error, -1)


CASES = {
    "gaussian-identity": ("gaussian", "identity", results_glm.Longley, longley, {}),
    "binomial-shares": ("binomial", "logit", results_glm.Star98, star98, {}),
    "binomial-classes": ("binomial", "logit", results_glm.Lbw, None, {}),
    "gamma-inverse": ("gamma", "inverse", results_glm.Scotvote, scotland, {}),
    "gamma-log": ("gamma", "log", results_glm.CancerLog, None, {}),
    "gamma-identity": ("gamma", "identity", results_glm.CancerIdentity, None, {}),
    "poisson-log": ("poisson", "log", results_glm.Cpunish, cpunish, {}),
    "inverse-gaussian": ("inverse_gaussian", "inverse_squared", results_glm.InvGauss, None, {}),
    "inverse-gaussian-log": ("inverse_gaussian", "log", results_glm.InvGaussLog, None, {}),
    "inverse-gaussian-identity": ("inverse_gaussian", "identity", results_glm.InvGaussIdentity, None, {}),
    "negative-binomial": ("negative_binomial", "log", results_glm.Committee, committee, {"theta": 1.0}),
}


PEERS = {
    "binomial": sm.families.Binomial,
    "gamma": sm.families.Gamma,
    "gaussian": sm.families.Gaussian,
    "inverse_gaussian": sm.families.InverseGaussian,
    "negative_binomial": sm.families.NegativeBinomial,
    "poisson": sm.families.Poisson,
}
LINKS = {
    "identity": links.Identity,
    "inverse": links.InversePower,
    "inverse_squared": links.InverseSquared,
    "log": links.Log,
    "logit": links.Logit,
}


@dataclass
class Walked:
    """Where Fisher scoring stood when it stopped: estimates, unscaled errors, and two dispersions.

    The errors, and the first dispersion, take the weights of the step before, as R's do.
    """

    estimate: Any
    error: Any
    dispersion: float
    pearson: float


def walked(family: str, link: str, rows: tuple[Any, Any, Any], stop: float) -> Walked:
    """Go R's way from R's start, until the deviance changes by less than a share of itself."""
    X, y, weight = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PEERS[family](LINKS[link]())
    s = np.ones(len(y)) if weight is None else weight
    begin = {"binomial": (s * y + 0.5) / (s + 1), "poisson": y + 0.1, "negative_binomial": y + (y == 0) / 6}
    A = np.column_stack([X, np.ones(len(y))])
    size = np.abs(A).max(axis=0)
    mu = np.asarray(begin.get(family, y), dtype=float)
    eta, deviance = model.link(mu), model.deviance(y, mu, freq_weights=s)
    for _ in range(100):
        slope = 1.0 / model.link.deriv(mu)
        root = np.sqrt(s * slope**2 / model.variance(mu))
        Q, R = np.linalg.qr(root[:, None] * A / size)
        beta = np.linalg.solve(R, Q.T @ (root * (eta + (y - mu) / slope))) / size
        eta = A @ beta
        mu, before = model.link.inverse(eta), deviance
        deviance = model.deviance(y, mu, freq_weights=s)
        if abs(deviance - before) / (abs(deviance) + 0.1) < stop:
            break
    error = np.linalg.norm(np.linalg.inv(R), axis=1) / size
    freedom = len(y) - A.shape[1]
    working = float(np.sum((root * (y - mu) * model.link.deriv(mu)) ** 2)) / freedom
    return Walked(beta, error, working, float(np.sum(s * (y - mu) ** 2 / model.variance(mu))) / freedom)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_published_generalised_linear_models(case):
    """R stops when the deviance changes by 1e-8 of itself; what it leaves is what its own steps tell."""
    family, link, make, rows, options = case
    published = make()
    X, y, weight = given = rows() if rows else within(published)
    model = surefit.GeneralizedLinearRegressor(family, link, tol=1e-13, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", surefit.core.certificate.CertificateWarning)
        model.fit(X, y, weight)
    scale = {"dispersion": "pearson"} if family == "negative_binomial" else {}
    found = model.summary(X, y, weight, **scale)
    estimate, error = constant_last(found)
    known = family in ("binomial", "poisson")
    stopped, ended = walked(family, link, given, 1e-8), walked(family, link, given, 0.0)
    assert_printed(estimate + (stopped.estimate - ended.estimate), published.params)
    shrunk = 1.0 if known else np.sqrt(stopped.dispersion / ended.dispersion)
    assert_printed(error * shrunk * stopped.error / ended.error, published.bse)
    assert_printed(found.deviance, published.deviance, 1e-8 * found.deviance)
    assert_printed(found.null_deviance, published.null_deviance)
    assert found.freedom == published.df_resid
    if not known and not scale:
        left = found.dispersion * stopped.dispersion / ended.dispersion
        if (family, link) == ("gamma", "identity"):  # printed by a program that went further
            left = max(published.scale, found.dispersion - abs(stopped.pearson - ended.pearson))
        assert_printed(left, published.scale)
    if known:
        assert_printed(found.log_likelihood, published.llf)
        assert_printed(found.aic, published.aic_R)
        # Stata's, of columns in single precision, which moves it by more than its digits.
        held = abs(walked(family, link, (single(X), y, weight), 0.0).pearson - ended.pearson)
        assert_printed(found.pearson, published.pearson_chi2, 1.05 * held * found.freedom)


def test_published_exposure():
    X, y, _ = cpunish()
    published = results_glm.Cpunish_offset()
    model = surefit.GeneralizedLinearRegressor("poisson").fit(X, y, exposure=np.full(len(y), 100.0))
    found = model.summary(X, y, exposure=np.full(len(y), 100.0))
    assert_printed(found.estimate, published.params, 1e-4 * found.standard_error)
    assert_printed(found.standard_error, published.bse, 1e-4 * found.standard_error)
    shifted = surefit.GeneralizedLinearRegressor("poisson").fit(X, y)
    assert shifted.intercept_ - model.intercept_ == pytest.approx(np.log(100.0))
    np.testing.assert_allclose(
        model.predict(X, exposure=np.full(len(y), 100.0)), shifted.predict(X), rtol=1e-7
    )


def spector():
    data = sm.datasets.spector.load()
    return data.exog.to_numpy().astype(float)[:, :3], data.endog.to_numpy()


def assert_table(found, published, order=-1):
    assert_printed(np.roll(found.estimate, order), published.params)
    assert_printed(np.roll(found.standard_error, order), published.bse)
    assert_printed(np.roll(found.z, order), published.z)
    assert_printed(np.roll(found.p_value, order), published.pvalues)
    intervals = np.column_stack([np.roll(found.lower, order), np.roll(found.upper, order)])
    assert_printed(intervals, published.conf_int)
    assert_fit(found, published)


def assert_fit(found, published):
    assert_printed(found.log_likelihood, published.llf)
    assert_printed(found.null_log_likelihood, published.llnull)
    assert_printed(found.lr, published.llr)
    assert_printed(found.aic, published.aic)
    assert_printed(found.bic, published.bic)


@pytest.fixture(params=["generalised", "classifier"])
def logit(request):
    if request.param == "classifier":
        return surefit.LogisticRegression(C=np.inf, tol=1e-12)
    return surefit.GeneralizedLinearRegressor("binomial", tol=1e-12)


def test_published_logit(logit):
    X, y = spector()
    X = single(X)
    published = results_discrete.Spector.logit
    found = logit.fit(X, y).summary(X, y)
    assert_table(found, published)
    assert_printed(found.mcfadden, published.prsquared)
    assert_printed(found.lr_p_value, published.llr_pvalue)
    order = [1, 2, 3, 0]
    assert_printed(found.covariance[np.ix_(order, order)], published.cov_params)


STEPS = {"dummies": True}


def test_published_effects_and_residuals(logit):
    rows, y = spector()
    published = results_discrete.Spector.logit
    X = single(rows)
    double, model = clone(logit).fit(rows, y), logit.fit(X, y)
    for options, name in (({}, "nodummy_dydx"), ({"at": "means"}, "nodummy_dydxmean"), (STEPS, "dummy_dydx")):
        found, plain = model.marginal_effects(X, y, **options), double.marginal_effects(rows, y, **options)
        effect, error = (np.asarray(getattr(published, f"margeff_{name}{end}")) for end in ("", "_se"))
        slopes = 2 if options is STEPS else 3
        assert_quotients(found.effect[:slopes], effect[:slopes])
        assert_printed(found.effect[slopes:], effect[slopes:])
        assert_printed(plain.standard_error, error)
    if isinstance(model, surefit.GeneralizedLinearRegressor):
        residuals = double.residuals(rows, y)
        assert_printed(
            residuals.pearson, published.resid_pearson, stored(np.asarray(published.resid_pearson))
        )
        assert_printed(residuals.deviance, published.resid_dev, stored(np.asarray(published.resid_dev)))


def test_published_probit():
    X, y = spector()
    X = single(X)
    model = surefit.GeneralizedLinearRegressor("binomial", "probit", tol=1e-10).fit(X, y)
    found = model.summary(X, y, covariance="observed")
    assert_table(found, results_discrete.Spector.probit)


def test_published_multinomial_logit():
    data = sm.datasets.anes96.load()
    X, y = data.exog.to_numpy().astype(float), data.endog.to_numpy()
    published = results_discrete.Anes.mnlogit_basezero
    model = surefit.LogisticRegression(C=np.inf, tol=1e-9, max_iter=1000).fit(X, y)
    found = model.summary(X, y)
    error = np.roll(found.standard_error.reshape(6, 6), -1, axis=1).T
    assert_printed(error, published.bse, 1e-8 * error)
    assert_fit(found, published)
    assert_printed(found.mcfadden, published.prsquared)
    np.testing.assert_allclose(model.predict_proba(X), published.phat, atol=5e-8)
    effects = model.marginal_effects(X, y)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, maxiter=100).get_margeff()
    np.testing.assert_allclose(effects.effect.T, theirs.margeff, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(effects.standard_error.T, theirs.margeff_se, rtol=1e-4)


@pytest.fixture(scope="module")
def randhie():
    data = sm.datasets.randhie.load()
    return data.exog.to_numpy().astype(float), data.endog.to_numpy().astype(float)


def test_published_poisson(randhie):
    X, y = single(randhie[0]), randhie[1]
    model = surefit.GeneralizedLinearRegressor("poisson", tol=1e-12).fit(X, y)
    found = model.summary(X, y)
    published = results_discrete.RandHIE.poisson
    assert_printed(np.roll(found.estimate, -1), published.params)
    assert_printed(np.roll(found.standard_error, -1), published.bse)
    assert_fit(found, published)
    assert_printed(found.mcfadden, published.prsquared)
    assert found.overdispersion > 2
    assert "overdispersion" in model.diagnosis_.codes()


def test_published_negative_binomial_with_its_dispersion(randhie):
    X, y = randhie
    model = surefit.GeneralizedLinearRegressor("negative_binomial").fit(X, y)
    found = model.summary(X, y)
    published = results_discrete.RandHIE.negativebinomial_nb2_bfgs
    estimate, error = found.estimate, found.standard_error
    assert_printed(estimate[-1], published.lnalpha, 1e-5 * error[-1])
    assert_printed(error[-1], published.lnalpha_std_err)
    assert_printed(1 / model.theta_, published.params[-1], 1e-5 * error[-1] / model.theta_)
    # R's errors take the expected information, with theta as given.
    given = (
        surefit.GeneralizedLinearRegressor("negative_binomial", theta=model.theta_).fit(X, y).summary(X, y)
    )
    assert_printed(
        np.roll(given.standard_error, -1), published.bse[:-1], 1e-4 * np.roll(given.standard_error, -1)
    )
    assert_fit(found, published)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_published_ordered_classes(link):
    from statsmodels.miscmodels.tests.results import results_ordinal_model as results

    table = results.data_store.df
    published = results.res_ord_logit if link == "logit" else results.res_ord_probit
    X, y = table[["pared", "public", "gpa"]].to_numpy(float), table["apply"].astype(str).to_numpy()
    order = ["unlikely", "somewhat likely", "very likely"]
    model = surefit.OrdinalClassifier(link, order=order).fit(X, y)
    found = model.summary(X, y)
    assert_printed(found.standard_error[:3], published.coefficients_stdE)
    np.testing.assert_allclose(model.predict_proba(X[:7]), published.prob_pred, atol=5e-5)
    effects = model.marginal_effects(X, y)
    assert effects.effect.shape == (3, 3)
    np.testing.assert_allclose(effects.effect.sum(axis=0), 0.0, atol=1e-12)


def test_published_robust_and_clustered_errors():
    import pathlib

    import pandas as pd
    from statsmodels.discrete.tests.results import results_count_robust_cluster as results

    ships = pd.read_csv(pathlib.Path(results.__file__).parent / "ships.csv").dropna()
    X, y = ships[["yr_con", "op_75_79"]].to_numpy(float), ships["accident"].to_numpy(float)
    groups, exposure = ships["ship"].to_numpy(), ships["service"].to_numpy(float)
    n, k = len(y), 3
    plain = surefit.GeneralizedLinearRegressor("poisson").fit(X, y)
    exposed = surefit.GeneralizedLinearRegressor("poisson").fit(X, y, exposure=exposure)
    # Stata's factor for few rows is n / (n - 1), whatever the number of parameters.
    fewer = np.sqrt(n / (n - 1) / (n / (n - k)))
    cases = [
        (plain, {}, "cluster", results.results_poisson_clu, 1.0),
        (plain, {}, "HC1", results.results_poisson_hc1, fewer),
        (exposed, {"exposure": exposure}, "expected", results.results_poisson_exposure_nonrobust, 1.0),
        (exposed, {"exposure": exposure}, "HC1", results.results_poisson_exposure_hc1, fewer),
        (exposed, {"exposure": exposure}, "cluster", results.results_poisson_exposure_clu, 1.0),
    ]
    for model, also, kind, published, factor in cases:
        found = model.summary(X, y, covariance=kind, groups=groups, **also)
        assert_printed(np.roll(found.estimate, -1), published.params_table[:, 0])
        assert_printed(factor * np.roll(found.standard_error, -1), published.params_table[:, 1])
    bare = exposed.summary(X, y, covariance="HC0", exposure=exposure).standard_error
    wide = exposed.summary(X, y, covariance="HC1", exposure=exposure).standard_error
    np.testing.assert_allclose(wide / bare, np.sqrt(n / (n - k)))
