"""A fit needs little beside its data: Python's and numpy's allocations stay below a tenth of the input."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import surefit
from surefit.stats.moments import BLOCK_ROWS

ROWS, COLUMNS = 200_000, 25
MODELS = {
    "LinearRegression": (surefit.LinearRegression, "numbers"),
    "Ridge": (surefit.Ridge, "numbers"),
    "Ridge by passes": (lambda: surefit.Ridge(solver="lsqr"), "numbers"),
    "RidgeClassifier": (surefit.RidgeClassifier, "labels"),
    "GaussianNB": (surefit.GaussianNB, "labels"),
    "PCA": (lambda: surefit.PCA(5), None),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    numbers = X[:, 0] + rng.standard_normal(ROWS)
    return {"X": X, "numbers": numbers, "labels": (numbers > 0).astype(int), None: None}


def peak_of(model, X, y):
    tracemalloc.start()
    try:
        model.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "make",
    [surefit.RobustScaler, lambda: surefit.SimpleImputer(strategy="median")],
    ids=["RobustScaler", "SimpleImputer"],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_quantiles_sort_a_few_columns_at_a_time(make, order, data):
    X = np.asarray(data["X"], order=order)
    make().fit(X[:1000])
    assert peak_of(make(), X, None) <= 0.5 * X.nbytes


def test_columns_that_lie_apart_are_not_copied():
    """Rows in Fortran order, more than are added up at a time."""
    X = np.zeros((BLOCK_ROWS + 1000, 12), order="F")
    X[:, :] = np.arange(12.0) * np.sin(np.arange(len(X)))[:, None] + np.cos(np.arange(len(X)))[:, None]
    assert peak_of(surefit.PCA(2), X, None) <= 0.1 * X.nbytes


@pytest.mark.parametrize(("make", "target"), MODELS.values(), ids=MODELS.keys())
def test_a_fit_takes_no_copy(make, target, data):
    X, y = data["X"], data[target]
    make().fit(X[:1000], None if y is None else y[:1000])  # what is imported on the way is not the fit's
    peak = peak_of(make(), X, y)
    # Codes of labels are one more copy of y, which a table as narrow as this one notices.
    assert peak <= 0.1 * X.nbytes + (y.nbytes if target == "labels" else 0)
