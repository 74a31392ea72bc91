"""Residuals of every row, weighted rows and marginal effects of counts, as Stata printed them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from statsmodels.discrete.tests.results import results_count_margins
from statsmodels.genmod.tests.results import results_glm_poisson_weights as weighted
from tests.reference.test_glm_published import CASES, assert_printed, cpunish, single, within

import surefit

RESIDUALS = ["binomial-classes", "gamma-inverse", "gamma-log", "poisson-log", "inverse-gaussian"]


@pytest.mark.parametrize("name", RESIDUALS)
def test_published_residuals(name):
    family, link, make, rows, options = CASES[name]
    published = make()
    X, y, _ = rows() if rows else within(published)
    model = surefit.GeneralizedLinearRegressor(family, link, tol=1e-10, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", surefit.core.certificate.CertificateWarning)
        model.fit(X, y)
    found = model.residuals(X, y)
    pearson, deviance, _, _, response = published.resids.T
    # Stata stops where the coefficients change by 1e-6 of themselves, which moves a row by a few times that.
    assert_printed(found.pearson, pearson, 5e-6 * (1 + np.abs(pearson)))
    assert_printed(found.deviance, deviance, 5e-6 * (1 + np.abs(deviance)))
    assert_printed(y - model.predict(X), response, 5e-6 * (1 + np.abs(response) + np.abs(y)))


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
    X = X / np.round(X.max(axis=0), 3)
    y = y - 1
    published = getattr(results_count_margins, f"results_poisson_margins_{'dummy' if dummies else 'cont'}")
    model = surefit.GeneralizedLinearRegressor("poisson", tol=1e-12).fit(X, y)
    found = model.marginal_effects(X, y, dummies=dummies)
    effect, error = published.margins_table[published.margins_table[:, 0] != 0, :2].T  # not the base level
    assert_printed(found.effect, effect, 5e-6 * np.abs(effect))
    assert_printed(found.standard_error, error, 5e-6 * error)
