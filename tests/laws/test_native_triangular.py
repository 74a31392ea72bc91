"""The triangular factor equals its twin, merges, and gives the same bits for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.core.errors import DataError
from surefit.core.native.sums.triangular import (
    merge_triangular,
    merge_triangular_twin,
    triangular_factor,
    triangular_factor_twin,
)

SHAPES = [(0, 3), (1, 1), (1, 5), (7, 7), (6, 40), (300, 1), (900, 33), (30000, 9)]


def matrix(rows, cols, dtype=np.float64, order="C", seed=0):
    return np.array(np.random.default_rng(seed).standard_normal((rows, cols)), dtype=dtype, order=order)


def check(R, twin, tolerance=1e-12):
    """Equal R'R, whatever the rank; R is upper triangular with a diagonal that is nowhere negative."""
    assert R.shape == twin.shape
    assert (np.triu(R) == R).all()
    assert (np.diagonal(R) >= 0).all()
    scale = np.sqrt(np.diagonal(twin.T @ twin))
    scale[scale == 0] = 1.0
    np.testing.assert_allclose((R / scale).T @ (R / scale), (twin / scale).T @ (twin / scale), atol=tolerance)


def check_full_rank(R, twin):
    check(R, twin)
    np.testing.assert_allclose(R, twin, rtol=0, atol=1e-10 * np.abs(twin).max(initial=1.0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equal_to_the_twin_with_equal_bits_for_any_threads(shape, dtype, order, weighted):
    X, Y = matrix(*shape, dtype, order), matrix(shape[0], 2, seed=1)
    weight = np.random.default_rng(2).integers(0, 4, shape[0]).astype(float) if weighted else None
    X.setflags(write=False)
    for ones in (False, True):
        one, two, four = (triangular_factor(X, Y, weight, ones=ones, _threads=t) for t in (1, 2, 4))
        check(one, triangular_factor_twin(X, Y, weight, ones=ones))
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, four)


def test_the_factor_is_unique_at_full_rank():
    X, y = matrix(5000, 20), matrix(5000, 1, seed=1)[:, 0]
    check_full_rank(triangular_factor(X, y), triangular_factor_twin(X, y))


@pytest.mark.parametrize("rows", [3, 2000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_equals_dense(rows, dtype, index):
    X = scipy.sparse.random(rows, 12, density=0.3, format="csr", dtype=dtype, random_state=0)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    y, weight = matrix(rows, 1), np.arange(rows) % 3.0
    np.testing.assert_array_equal(
        triangular_factor(X, y, weight, ones=True), triangular_factor(X.toarray(), y, weight, ones=True)
    )


def test_a_broken_sparse_matrix_is_refused():
    X = scipy.sparse.random(50, 4, density=0.5, format="csr", random_state=0)
    X.indices[3] = 4
    with pytest.raises(ValueError, match="column index"):
        triangular_factor(X)


def test_fewer_rows_than_columns_leave_rows_of_zeros():
    X = matrix(4, 9)
    R = triangular_factor(X)
    assert (R[4:] == 0).all()
    np.testing.assert_allclose(R.T @ R, X.T @ X, atol=1e-13)
    assert (triangular_factor(matrix(0, 3)) == 0).all()


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-200, 1e200])
def test_the_scale_of_the_data_does_no_harm(scale):
    X = matrix(3000, 8)
    np.testing.assert_allclose(triangular_factor(X * scale) / scale, triangular_factor_twin(X), atol=1e-11)


def test_columns_of_very_different_scale():
    X = matrix(3000, 8) * np.logspace(-12, 12, 8)
    check(triangular_factor(X), triangular_factor_twin(X))


def test_equal_columns_show_on_the_diagonal():
    X = matrix(2000, 6)
    X[:, 4] = X[:, 1]
    R = triangular_factor(X)
    assert R[4, 4] < 1e-12 * R[1, 1]
    check(R, triangular_factor_twin(X))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_a_column_of_ones_centres_the_rest(offset, sparse):
    X, y = matrix(4000, 5) + offset, matrix(4000, 1, seed=1)[:, 0] - offset
    weight = np.random.default_rng(2).uniform(0, 3, 4000)
    Z = np.column_stack([X, y])
    R = triangular_factor(scipy.sparse.csr_array(X) if sparse else X, y, weight, ones=True, shift=Z[0])
    near = Z - Z[0]
    mean = np.average(near, axis=0, weights=weight)
    np.testing.assert_allclose(R[0, 0], np.sqrt(weight.sum()))
    np.testing.assert_allclose(R[0, 1:] / R[0, 0], mean, rtol=0, atol=1e-13)
    check_full_rank(R[1:, 1:], triangular_factor_twin(near - mean, None, weight))


def test_zero_weights_drop_rows_whatever_they_hold():
    X = matrix(600, 4)
    weight = (np.arange(600) % 2).astype(float)
    expected = triangular_factor(X[weight > 0])
    X[weight == 0] = np.nan
    np.testing.assert_allclose(triangular_factor(X, None, weight), expected, atol=1e-12)
    assert (triangular_factor(X, None, np.zeros(600)) == 0).all()


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("rows", [2, 50])
def test_bad_weights_are_refused(bad, rows):
    weight = np.ones(rows)
    weight[1] = bad
    with pytest.raises(DataError, match="weight is negative or not finite"):
        triangular_factor(matrix(rows, 3), None, weight)


def test_weight_equals_repetition():
    X, weight = matrix(900, 5), np.arange(900) % 4
    check_full_rank(triangular_factor(X, None, weight), triangular_factor(np.repeat(X, weight, axis=0)))


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(0, 200), st.integers(0, 200))
def test_factors_merge_into_the_factor_of_all_rows(cols, first, second):
    X, Z = matrix(first, cols), matrix(second, cols, seed=1)
    R1, R2 = triangular_factor(X), triangular_factor(Z)
    R1.setflags(write=False)
    R = merge_triangular(R1, R2)
    check(R, triangular_factor_twin(np.vstack([X, Z])))
    check(R, merge_triangular_twin(R1, R2))


def test_nothing_merges_into_nothing_changed():
    R = triangular_factor(matrix(100, 40))
    np.testing.assert_array_equal(merge_triangular(R, np.zeros_like(R)), R)


def test_strided_input_is_refused():
    with pytest.raises(TypeError, match="ascontiguousarray"):
        triangular_factor(np.zeros((40, 8))[::2, ::2])


def test_shapes_that_do_not_fit_are_refused():
    X = matrix(50, 3)
    with pytest.raises(ValueError, match="Y must have one row"):
        triangular_factor(X, np.zeros((49, 1)))
    with pytest.raises(ValueError, match="weight must have one number"):
        triangular_factor(X, None, np.ones(49))
    with pytest.raises(ValueError, match="shift must have one number"):
        triangular_factor(X, np.zeros(50), shift=np.zeros(3))
    with pytest.raises(ValueError, match="square and of one size"):
        merge_triangular(np.eye(3), np.eye(4))
