"""A fit needs little beside its data: Python's and numpy's allocations stay below a tenth of the input."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import surefit

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


@pytest.mark.parametrize(("make", "target"), MODELS.values(), ids=MODELS.keys())
def test_a_fit_takes_no_copy(make, target, data):
    X, y = data["X"], data[target]
    make().fit(X[:1000], None if y is None else y[:1000])  # what is imported on the way is not the fit's
    tracemalloc.start()
    try:
        make().fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Codes of labels are one more copy of y, which a table as narrow as this one notices.
    assert peak <= 0.1 * X.nbytes + (y.nbytes if target == "labels" else 0)
