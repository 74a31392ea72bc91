"""Bad arrays and frames get one line, in words that scikit-learn's users know, and change nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import surefit

X, Y = np.array([[1.0, 2.0], [3.0, 5.0], [5.0, 6.0]]), np.array([1.0, 2.0, 4.0])
FRAME = pd.DataFrame(X, columns=["a", "b"])
HOLED, ENDLESS = np.where(X == 5, np.nan, X), np.where(X == 5, np.inf, X)


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        (Y, Y, None, r"^Expected 2D array, got 1D array instead: X has shape \(3,\). Reshape your data"),
        (None, Y, None, "^Expected 2D array, got scalar array instead"),
        (X[None], Y, None, "^Found array with dim 3"),
        ([[1, 2], [3]], [1, 2], None, "^the rows of X have different lengths"),
        (X, Y[:2], None, r"inconsistent numbers of samples: \[3, 2\]"),
        (X[:0], Y[:0], None, r"^Found array with 0 sample\(s\)"),
        (X[:, :0], Y, None, r"^Found array with 0 feature\(s\)"),
        (FRAME[[]], Y, None, "^the frame has no columns"),
        (X * 1j, Y, None, "^Complex data not supported: give"),
        (HOLED, Y, None, r"^Input X contains NaN: .* 2 cells are missing: 'x0' \(1\), 'x1' \(1\)\. Fill"),
        (sp.csr_array(HOLED), Y, None, r"^Input X contains NaN: .* 2 cells are missing: 'x0' \(1\)"),
        (FRAME.assign(b=np.nan), Y, None, r"^Input X contains NaN: .* 3 cells are missing: 'b' \(3\)"),
        (FRAME.assign(b=None), Y, None, r"^Input X contains NaN: .* 3 cells are missing: 'b' \(3\)"),
        (
            pl.DataFrame({"a": [1.0, None, np.nan]}),
            Y,
            None,
            r"^Input X contains NaN: .* 2 cells .*: 'a' \(2\)",
        ),
        (ENDLESS, Y, None, r"^Input X contains infinity in the columns 'x0' \(1\), 'x1' \(1\): replace"),
        (sp.csr_array(ENDLESS), Y, None, r"^Input X contains infinity in the columns 'x0' \(1\)"),
        (FRAME.assign(b=np.inf), Y, None, r"^Input X contains infinity in the columns 'b' \(3\)"),
        (FRAME.assign(b="x"), Y, None, r"^MeanRegressor works on numbers, but 1 of the columns are not: 'b'"),
        (FRAME.assign(b=["1", 2, "oops"]), Y, None, r"'b' would be numbers but for 'oops': correct or empty"),
        (FRAME.assign(b=pd.Timestamp(0)), Y, None, r"^MeanRegressor works on numbers, but .*: 'b' \(date\)"),
        (pd.DataFrame({"d": [pd.Timestamp(0)] * 3}), Y, None, r"works on numbers, but .*: 'd' \(date\)"),
        (pl.DataFrame(FRAME.assign(b=pd.Timestamp(0))), Y, None, r"works on numbers, but .*: 'b' \(date\)"),
        (FRAME.assign(b=[{}] * 3), Y, None, r"^MeanRegressor works on numbers, but .*: 'b'"),
        (np.zeros((3, 2), "M8[D]"), Y, None, "^MeanRegressor works on numbers, but X holds dates"),
        ([["1", "x"]] * 3, Y, None, "^could not convert string to float: MeanRegressor .* X holds 'x'"),
        (
            X,
            ["1", "x", "y"],
            None,
            "^could not convert string to float: .* predicts numbers, but y holds 'x'",
        ),
        (X, [1.0, np.nan, 2.0], None, "^Input y contains NaN"),
        (X, [1.0, np.inf, 2.0], None, "^Input y contains infinity"),
        (X, None, None, "requires y to be passed"),
        (pd.DataFrame(X, columns=["a", "a"]), Y, None, "^the frame has two columns named 'a': rename"),
        (X, Y, [1.0, -1.0, 1.0], "sample_weight of row 1 is -1"),
        (X, Y, [1.0, 1.0, np.nan], "^sample_weight of row 2 is nan"),
        (X, Y, ["a", "b", "c"], "^sample_weight holds something else than numbers"),
        (X, Y, [1.0], r"^sample_weight\.shape == \(1,\), expected \(3,\)"),
        (X, Y, X, "^sample_weight has 2 dimensions"),
        (X, Y, [0.0, 0.0, 0.0], "^every sample_weight is zero"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_rows_in_memory(X, y, weight, message):
    model = surefit.MeanRegressor().fit([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0])
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(X, y, sample_weight=weight)
    assert "\n" not in str(caught.value)
    assert model.__dict__ == before
