"""Columns of unlike units, against answers computed in fractions, which round nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import surefit
from surefit import LinearRegression, Ridge

SCALES = [1e-12, 1.0, 1e12]


def table(rows, columns, scale, weighted):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    X[:, 2] *= scale
    X[:, 1] = 1e3 * X[:, 1] + 1e6
    s = np.ones(rows)
    if weighted:
        s[:4] = [1.0, 2.0, 0.0, 3.0]
    return X, y, s


def dot(one, two):
    return sum(a * b for a, b in zip(one, two, strict=True))


def solved(matrix, right):
    """Gauss and Jordan."""
    work = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k, row in enumerate(work):
        row[:] = [cell / row[k] for cell in row]
        for other in work:
            if other is not row:
                other[:] = [a - other[k] * b for a, b in zip(other, row, strict=True)]
    return [row[-1] for row in work]


def exact(X, y, s, alpha, intercept):
    """The ridge coefficients, or the shortest of least squares: X'S a with (K + alpha S^-1) a = y."""
    rows = [[Fraction(cell) for cell in row] for row in X[s > 0]]
    target, weight = [Fraction(cell) for cell in y[s > 0]], [Fraction(cell) for cell in s[s > 0]]
    if intercept:
        total = sum(weight)
        mean = [dot(weight, column) / total for column in zip(*rows, strict=True)]
        middle = dot(weight, target) / total
        rows = [[cell - m for cell, m in zip(row, mean, strict=True)] for row in rows]
        target = [t - middle for t in target]
        if alpha == 0:  # the last of centred rows follows from the others
            rows, target = rows[:-1], target[:-1]
    kernel = [[dot(one, two) for two in rows] for one in rows]
    for k in range(len(rows)):
        kernel[k][k] += Fraction(alpha) / weight[k]
    dual = solved(kernel, target)
    return np.array([float(dot(dual, column)) for column in zip(*rows, strict=True)])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_shortest_answer_to_fewer_rows_than_columns(scale, intercept, weighted):
    X, y, s = table(6, 9, scale, weighted)
    model = LinearRegression(fit_intercept=intercept).fit(X, y, s if weighted else None)
    np.testing.assert_allclose(model.coef_, exact(X, y, s, 0.0, intercept), rtol=1e-8)
    assert model.certificate_.value < 1e-13
    assert surefit.verify(model, X, y, s if weighted else None).holds


@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("rows", "columns"), [(6, 9), (12, 4)])
def test_ridge(rows, columns, scale, alpha):
    for weighted in (False, True):
        X, y, s = table(rows, columns, scale, weighted)
        model = Ridge(alpha=alpha).fit(X, y, s if weighted else None)
        np.testing.assert_allclose(model.coef_, exact(X, y, s, alpha, True), rtol=1e-7)
        assert model.certificate_.holds
        assert surefit.verify(model, X, y, s if weighted else None).holds


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("scale", SCALES)
def test_a_row_left_out_of_few_is_predicted_by_the_fit_to_the_others(scale, intercept):
    X, y, s = table(8, 12, scale, weighted=False)
    s[:3] = [1.0, 2.0, 0.5]
    alphas = [0.1, 10.0]
    found = surefit.RidgeCV(alphas, fit_intercept=intercept, store_cv_results=True).fit(X, y, s)
    for a, alpha in enumerate(alphas):
        for i in range(8):
            others = Ridge(alpha, fit_intercept=intercept).fit(*(np.delete(v, i, axis=0) for v in (X, y, s)))
            error = y[i] - others.predict(X[i : i + 1])[0]
            np.testing.assert_allclose(found.cv_results_[i, a], s[i] * error**2, rtol=1e-6)
    splits = [(np.arange(4, 8), np.arange(4)), (np.arange(4), np.arange(4, 8))]
    folds = surefit.RidgeCV([0.1], fit_intercept=intercept, cv=splits).fit(X, y, s)
    scores = [
        Ridge(0.1, fit_intercept=intercept).fit(X[train], y[train], s[train]).score(X[test], y[test], s[test])
        for train, test in splits
    ]
    assert folds.best_score_ == pytest.approx(np.mean(scores), rel=1e-9)
