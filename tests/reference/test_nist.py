"""Certified answers, to at least nine digits wherever double precision holds the data that well."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.nist import PROBLEMS

from surefit import LinearRegression


def digits(got, want):
    """The fewest correct digits; of a certified zero, digits below one."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    error = np.abs(got - want) / np.where(want != 0, np.abs(want), 1.0)
    return float(-np.log10(np.maximum(error, 1e-17)).min())


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "Filip"])
def test_nine_digits(name):
    problem = PROBLEMS[name]
    model = LinearRegression(fit_intercept=problem.intercept).fit(problem.X, problem.y)
    summary = model.summary(problem.X, problem.y)
    assert model.certificate_.holds
    assert digits(summary.estimate, problem.estimate) >= 9
    assert digits(summary.standard_error, problem.standard_error) >= 9
    assert digits(summary.r2, problem.r2) >= 9
    scale = np.abs(problem.y).max()  # an exact fit leaves noise of the size of rounding, not zero
    assert digits(1 + summary.noise / scale, 1 + problem.noise / scale) >= 9


def test_filip_is_as_good_as_its_data_and_says_so():
    """Powers up to the tenth, rounded to double, carry the certified answer to 7.7 digits only."""
    problem = PROBLEMS["Filip"]
    model = LinearRegression().fit(problem.X, problem.y)
    summary = model.summary(problem.X, problem.y)
    assert model.method_ == "triangular factor"
    assert digits(summary.estimate, problem.estimate) >= 7
    assert digits(summary.standard_error, problem.standard_error) >= 7
    assert digits(summary.noise, problem.noise) >= 7
    assert "ill-conditioned" in model.diagnosis_.codes()
    (finding,) = [f for f in model.diagnosis_ if f.code == "ill-conditioned"]
    assert 9 < finding.evidence["digits lost"] < 11
