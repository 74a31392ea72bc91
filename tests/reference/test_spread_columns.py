"""The spread of sparse columns, taken as they stand, against that of the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surefit.data.batches.batch import Batch
from surefit.stats.spread import Spread

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weights", ["none", "positive", "with a zero"])
def test_columns_and_rows_have_the_same_spread(dtype: type, weights: str) -> None:
    X = RNG.standard_normal((50, 7)) * (RNG.random((50, 7)) < 0.3)
    X[:, 2] = 0.0
    X[:, 3] = RNG.standard_normal(50) + 1e6  # full, and far from zero
    X[:, 4] = 3.0
    X = X.astype(dtype)
    weight = {"none": None, "positive": RNG.random(50) + 0.1, "with a zero": np.r_[0.0, RNG.random(49)]}[
        weights
    ]
    rows = Spread.of(Batch(sparse.csr_array(X), weight=weight))
    columns = Spread.of(Batch(sparse.csc_array(X), weight=weight))
    for part in ("weight", "mean", "scatter", "minimum", "maximum"):
        np.testing.assert_allclose(getattr(columns, part), getattr(rows, part), rtol=1e-10, atol=1e-12)


def test_missing_entries_and_no_rows_are_as_rows_have_them() -> None:
    X = np.array([[1.0, 0.0], [np.nan, 2.0]])
    np.testing.assert_array_equal(Spread.of(Batch(sparse.csc_array(X))).missing, [1.0, 0.0])
    empty = Spread.of(Batch(sparse.csc_array(np.empty((0, 2)))))
    np.testing.assert_array_equal(empty.minimum, [np.inf, np.inf])
