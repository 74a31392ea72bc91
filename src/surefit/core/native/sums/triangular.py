"""The triangular factor R of a tall matrix A, with A'A = R'R: least squares at A's own condition number.

Two factors merge into the factor of the stacked rows, so R is a statistic that adds up. With a column of
ones in front, its first row is sqrt(W) [1 | means], W the sum of the weights, and the rows below are the
factor of the centred columns: that is how a fit with an intercept uses it. Columns that lie far from zero
are shifted first, by any row or rough mean, or the distance costs its digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.blas_threads import one_blas_thread
from surefit.core.config import threads
from surefit.core.errors import DataError
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, matrix_arguments, row_weights, side_matrix


def triangular_factor(
    X: Any,
    Y: Any = None,
    weight: Any = None,
    *,
    ones: bool = False,
    shift: Any = None,
    _threads: int | None = None,
) -> Matrix:
    """Return the upper-triangular R, diagonal >= 0, with R'R = A'A for A = sqrt(diag(weight)) [1 | Z].

    Z = [X | Y] - shift, with one number to subtract from each column; the ones are there if ``ones``. X is a
    dense float32 or float64 matrix in C or Fortran order, or CSR, whose rows are made dense a panel at a
    time. Rows of weight 0 are not looked at. With fewer rows than columns, the last rows of R are zero.

    >>> triangular_factor(np.array([[3.0], [4.0]]))
    array([[5.]])
    """
    suffix, arguments = matrix_arguments(X)
    target, weights = side_matrix(Y), row_weights(weight)
    shifts = None if shift is None else np.ascontiguousarray(shift, dtype=np.float64)
    if weights is not None and not ((weights >= 0) & np.isfinite(weights)).all():
        raise DataError("triangular_factor: a weight is negative or not finite: weights must be 0 or more.")
    q = int(ones) + X.shape[1] + (0 if target is None else target.shape[1])
    native = compiled()
    with one_blas_thread():
        if (
            native is None or X.shape[0] < q
        ):  # a wide matrix is smaller than its factor: LAPACK takes it whole
            return triangular_factor_twin(X, target, weights, ones=ones, shift=shifts)
        out = np.empty((q, q))
        count = threads() if _threads is None else _threads
        getattr(native, f"triangular_factor{suffix}")(*arguments, target, weights, shifts, ones, out, count)
    return out


def triangular_factor_twin(
    X: Any, Y: Any = None, weight: Any = None, *, ones: bool = False, shift: Any = None
) -> Matrix:
    """Do the same with LAPACK, on a dense copy of the whole."""
    target = side_matrix(Y)
    Z = float64_rows(X) if target is None else np.hstack([float64_rows(X), target])
    Z = Z if shift is None else Z - shift
    A = np.hstack([np.ones((len(Z), int(ones))), Z])
    if weight is not None:
        s = np.asarray(weight, dtype=np.float64)
        A = A[s > 0] * np.sqrt(s[s > 0])[:, np.newaxis]
    return _square(np.asarray(np.linalg.qr(A, mode="r")))


def merge_triangular(R1: Matrix, R2: Matrix) -> Matrix:
    """Return the factor of the rows of two factors together: R'R = R1'R1 + R2'R2.

    >>> merge_triangular(np.array([[3.0]]), np.array([[4.0]]))
    array([[5.]])
    """
    native = compiled()
    if native is None:
        return merge_triangular_twin(R1, R2)
    out = np.empty_like(R1)
    with one_blas_thread():
        native.merge_triangular(R1, R2, out)
    return out


def merge_triangular_twin(R1: Matrix, R2: Matrix) -> Matrix:
    """Do the same with LAPACK, blind to the zeros."""
    return _square(np.asarray(np.linalg.qr(np.vstack([R1, R2]), mode="r")))


def _square(R: Matrix) -> Matrix:
    """Flip rows until no diagonal entry is negative, and add rows of zeros until R is square."""
    square = np.zeros((R.shape[1], R.shape[1]))
    square[: R.shape[0]] = np.where(np.diagonal(R) < 0, -1.0, 1.0)[:, np.newaxis] * R
    return square
