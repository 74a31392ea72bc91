"""What fits by iterations say of their columns: dependencies, variance inflation, and the cost of sizes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from statsmodels.stats.outliers_influence import variance_inflation_factor

from surefit import GeneralizedLinearRegressor, HuberRegressor, LinearModel, LogisticRegression
from surefit.penalties import GroupL1

ROWS = 200


@pytest.fixture(scope="module")
def columns():
    return np.random.default_rng(11).normal(size=(ROWS, 5))


def fits(X):
    rng = np.random.default_rng(2)
    score = X @ np.array([1.0, -1.0, 0.0, 0.5, 0.0])
    yield LogisticRegression(C=np.inf).fit(X, score + rng.normal(size=ROWS) > 0)
    yield GeneralizedLinearRegressor("poisson").fit(X, rng.poisson(np.exp(0.3 * score)))
    yield HuberRegressor(scale=1.0).fit(X, score + rng.normal(size=ROWS))


def found(model, code):
    return [finding for finding in model.diagnosis_ if finding.code == code]


def test_columns_on_their_own_are_not_found(columns):
    for model in fits(columns):
        assert "collinear-columns" in model.diagnosis_.ran
        assert not found(model, "collinear-columns") + found(model, "rank-deficiency"), model


def test_a_column_that_follows_from_others_is_written_out(columns):
    X = columns.copy()
    X[:, 2] = 2 * X[:, 0] - X[:, 1]
    for model in fits(X):
        (finding,) = found(model, "rank-deficiency")
        assert "x2 = 2 x0 - 1 x1" in finding.message, model
        assert finding.columns == ("x0", "x1", "x2")
        assert "drop a column" in finding.remedy


def test_variance_inflation_is_that_of_statsmodels_and_the_regression_is_written_out(columns):
    X = columns.copy()
    X[:, 2] = 2 * X[:, 0] - X[:, 1] + 0.1 * X[:, 2]
    weight = np.arange(ROWS) % 3  # rows without weight tell nothing
    counted = np.repeat(X, weight, axis=0)
    with_ones = np.column_stack([counted, np.ones(len(counted))])
    y = np.random.default_rng(4).poisson(2.0, size=ROWS)
    model = GeneralizedLinearRegressor("poisson").fit(X, y, weight)
    (finding,) = found(model, "collinear-columns")
    assert finding.columns == ("x0", "x1", "x2")
    expected = max(variance_inflation_factor(with_ones, j) for j in range(5))
    assert finding.evidence["largest VIF"] == pytest.approx(expected, rel=1e-9)
    own = np.linalg.lstsq(np.delete(with_ones, 2, axis=1), counted[:, 2], rcond=None)[0]
    assert f"x2 is about {own[0]:.3g} x0 - {-own[1]:.3g} x1" in finding.message


def test_sizes_of_columns_that_cost_iterations_are_measured(columns):
    y = columns @ np.arange(5.0)
    penalty = GroupL1(0.01, groups=[0, 0, 1, 1, 2])

    def fit(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit may end at its limit: that is the point
            return LinearModel(penalty=penalty, solver="fista", max_iter=400).fit(X, y)

    sizes = np.array([1.0, 1.0, 100.0, 1.0, 0.1])
    (finding,) = found(fit(columns * sizes), "unscaled-columns")
    assert finding.columns == ("x2", "x4")
    ratio = columns[:, 2].std() * 100 / (columns[:, 4].std() * 0.1)
    assert finding.evidence["ratio"] == pytest.approx(ratio, rel=1e-9)
    spread = fit(columns / columns.std(axis=0))
    assert finding.evidence["iterations scaled"] == spread.n_iter_
    assert finding.evidence["iterations"] >= 2 * spread.n_iter_
    assert not found(spread, "unscaled-columns")
