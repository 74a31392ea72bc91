"""Row-wise argmin and top-k equal their twins, ties, NaN and signed zeros included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefit.core.errors import DataError, ParameterError
from surefit.core.native.sums.topk import row_argmin, row_argmin_twin, top_k, top_k_twin

AWKWARD = [0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan]
SHAPES = [(0, 3), (1, 1), (1, 700), (5000, 2), (4000, 37), (70, 600)]


def matrix(rows, cols, dtype, order, awkward=False, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.choice(AWKWARD, size=(rows, cols)) if awkward else rng.standard_normal((rows, cols))
    return np.array(A, dtype=dtype, order=order)


def check(ours, twin):
    assert ours.index.dtype == np.int64
    assert ours.value.dtype == twin.value.dtype
    np.testing.assert_array_equal(ours.index, twin.index)
    np.testing.assert_array_equal(ours.value, twin.value)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("awkward", [False, True])
def test_equal_to_the_twins(shape, dtype, order, threads, awkward):
    A = matrix(*shape, dtype, order, awkward)
    A.setflags(write=False)
    check(row_argmin(A, _threads=threads), row_argmin_twin(A))
    for k in {1, min(10, shape[1]), min(40, shape[1]), shape[1]}:
        for largest in (False, True):
            check(top_k(A, k, largest, _threads=threads), top_k_twin(A, k, largest))


@given(st.data())
def test_any_row(data):
    cols = data.draw(st.integers(1, 70))
    row = data.draw(st.lists(st.sampled_from(AWKWARD) | st.floats(width=32), min_size=cols, max_size=cols))
    A = np.array([row], dtype=data.draw(st.sampled_from([np.float32, np.float64])))
    k, largest = data.draw(st.integers(1, cols)), data.draw(st.booleans())
    check(row_argmin(A), row_argmin_twin(A))
    check(top_k(A, k, largest), top_k_twin(A, k, largest))


def test_nan_is_never_before_a_number():
    A = np.array([[np.nan, 3.0, np.nan, np.inf], [np.nan] * 4])
    assert row_argmin(A).index.tolist() == [1, 0]
    assert top_k(A, 3).index.tolist() == [[1, 3, 0], [0, 1, 2]]
    assert top_k(A, 3, largest=True).index.tolist() == [[3, 1, 0], [0, 1, 2]]


def test_equal_values_go_by_column_and_keep_their_sign():
    A = np.array([[1.0, 0.0, -0.0, 0.0]])
    chosen = top_k(A, 3)
    assert chosen.index.tolist() == [[1, 2, 3]]
    assert np.signbit(chosen.value).tolist() == [[False, True, False]]
    assert row_argmin(A[:, 2:].copy()).index.tolist() == [0]


@pytest.mark.parametrize("k", [0, -1, 4])
def test_k_outside_the_columns_is_refused(k):
    with pytest.raises(ParameterError, match=f"k={k} must lie between 1 and the number of columns, 3"):
        top_k(np.zeros((2, 3)), k)


def test_no_columns_are_refused():
    with pytest.raises(DataError, match="no columns"):
        row_argmin(np.zeros((2, 0)))


def test_strided_input_is_refused():
    A = np.zeros((6, 6))[::2, ::2]
    with pytest.raises(TypeError, match="ascontiguousarray"):
        row_argmin(A)
    with pytest.raises(TypeError, match="ascontiguousarray"):
        top_k(A, 2)
