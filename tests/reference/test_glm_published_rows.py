"""Residuals of every row, weighted rows and marginal effects of counts, as Stata printed them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.discrete.tests.results import results_count_margins
from statsmodels.genmod.tests.results import results_glm_poisson_weights as weighted
from tests.reference.test_glm_published import (
    CASES,
    LINKS,
    PEERS,
    assert_printed,
    assert_quotients,
    cpunish,
    single,
    stored,
    within,
)
from tests.reference.test_glm_published_digits import assert_nearer

import surefit

RESIDUALS = ["binomial-classes", "gamma-inverse", "gamma-log", "poisson-log", "inverse-gaussian"]


@pytest.mark.parametrize("name", RESIDUALS)
def test_published_residuals(name):
    """They are ours, or ours where the program stopped: one shift of the coefficients explains every row."""
    family, link, make, rows, options = CASES[name]
    published = make()
    X, y, _ = rows() if rows else within(published)
    model = surefit.GeneralizedLinearRegressor(family, link, tol=1e-13, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", surefit.core.certificate.CertificateWarning)
        model.fit(X, y)
    ours = np.append(model.coef_, model.intercept_)
    wanted = published.resids.T[[0, 1, 4]]

    def figures(at):
        model.coef_, model.intercept_ = at[:-1], at[-1]
        found = model.residuals(X, y)
        return np.array([found.pearson, found.deviance, y - model.predict(X)])

    near = stored(wanted)
    if (np.abs(figures(ours) - wanted) <= near).all():
        return
    A = np.column_stack([X, np.ones(len(y))])
    peer = sm.GLM(y, A, PEERS[family](LINKS[link]()))
    theirs = ours.copy()
    for _ in range(2):  # Gauss and Newton's steps to the coefficients that the response residuals tell
        bend = 1.0 / peer.family.link.deriv(peer.family.fitted(A @ theirs))
        off = (figures(theirs)[2] - wanted[2]) / near[2]
        size = np.abs(A).max(axis=0)
        theirs = theirs + np.linalg.lstsq(A / size * (bend / near[2])[:, None], off, rcond=None)[0] / size
    assert (np.abs(figures(theirs) - wanted) <= near).all()  # three figures a row, by a few coefficients
    assert_nearer(
        ours,
        theirs,
        lambda at: -peer.family.deviance(y, peer.predict(at)) / 2,
        lambda at: peer.score(at, scale=1.0),
        lambda at: peer.hessian(at, scale=1.0, observed=True),
    )


TIMES = np.array([1, 1, 1, 2, 2, 2, 3, 3, 3, 1, 1, 1, 2, 2, 2, 3, 3], dtype=float)


@pytest.mark.parametrize("how", ["none", "fweight"])
@pytest.mark.parametrize("errors", ["nonrobust", "hc1"])
def test_published_weighted_counts(how, errors):
    X, y, _ = cpunish()
    X = single(X)
    weight = None if how == "none" else TIMES
    published = getattr(weighted, f"results_poisson_{how}_{errors}")
    model = surefit.GeneralizedLinearRegressor("poisson", tol=1e-12).fit(X, y, weight)
    total, parameters = len(y) if weight is None else TIMES.sum(), 7
    kind = {"nonrobust": "expected", "hc1": "HC1"}[errors]
    # Stata's factor for few rows is n / (n - 1), whatever the number of parameters.
    factor = 1.0 if errors == "nonrobust" else np.sqrt((total - parameters) / (total - 1))
    found = model.summary(X, y, weight, covariance=kind)
    near = 1e-7 * np.roll(found.standard_error, -1)  # Stata stops there
    assert_printed(np.roll(found.estimate, -1), published.params_table[:, 0], near)
    assert_printed(factor * np.roll(found.standard_error, -1), published.params_table[:, 1])
    assert_printed(found.deviance, published.deviance)
    if errors == "nonrobust":
        assert_printed(found.log_likelihood, published.ll)
        assert_printed(found.pearson, published.deviance_p)
        z = np.roll(found.z, -1)
        assert_printed(z, published.params_table[:, 2], 1e-7)


@pytest.mark.parametrize("dummies", [False, True], ids=["slopes", "steps"])
def test_published_marginal_effects_of_counts(dummies):
    X, y, _ = cpunish()
    logged = np.arange(6) == 3  # Stata held its columns in single precision, this one once it was scaled
    X = single(np.where(logged, X, single(X)) / np.round(X.max(axis=0), 3))
    y = y - 1
    published = getattr(results_count_margins, f"results_poisson_margins_{'dummy' if dummies else 'cont'}")
    model = surefit.GeneralizedLinearRegressor("poisson", tol=1e-13).fit(X, y)
    found = model.marginal_effects(X, y, dummies=dummies)
    effect, error = published.margins_table[published.margins_table[:, 0] != 0, :2].T  # not the base level
    slopes = np.arange(6) != 4 if dummies else np.ones(6, dtype=bool)
    assert_printed(found.effect[~slopes], effect[~slopes])
    assert_printed(found.standard_error[~slopes], error[~slopes])
    off = assert_quotients(found.effect[slopes], effect[slopes])  # no error is off by more
    assert_printed(found.standard_error[slopes], error[slopes], off * error[slopes])
    if not dummies:
        summary = model.summary(X, y)
        order = [1, 2, 3, 4, 5, 6, 0]
        assert_printed(summary.log_likelihood, published.ll)
        assert_printed(summary.covariance[np.ix_(order, order)], published.margins_cov)
