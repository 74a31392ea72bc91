"""Products of rows with coefficients and back, in float64 and without a copy of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.columns.columns_dot import columns_dot, columns_times
from surefit.data.batches.batch import Batch

BLOCK = 1 << 16  # cells that are converted at a time, few enough to stay in the cache


def scores(X: Any, w: Vector) -> Vector:
    """Return Xw for a dense or sparse X of any float type, w being (p,) or (p, K).

    >>> scores(np.array([[1.0, 2.0]], dtype=np.float32), np.array([3.0, 4.0]))
    array([11.])
    """
    if not w.any():  # at the start of a fit
        return np.zeros((X.shape[0], *w.shape[1:]))
    if w.ndim == 1 and in_columns(X):
        support = np.flatnonzero(w)
        return columns_times(X, w[support], None, support)
    if w.ndim == 1 and _in_rows(X):
        return columns_dot(X.T, w)
    if not _narrow(X):
        return np.asarray(X @ w, dtype=np.float64)
    out = np.empty((len(X), *w.shape[1:]))
    for some in _blocks(X):
        np.matmul(X[some].astype(np.float64), w, out=out[some])
    return out


def scores_of(batch: Batch, w: Vector, intercept: Any = None) -> Vector:
    """Return Xw of a batch, with an intercept unless it is None, and with the offset of its rows.

    >>> scores_of(Batch(np.eye(2), offset=np.array([0.0, 10.0])), np.array([1.0, 2.0]), 0.5)
    array([ 1.5, 12.5])
    """
    z = scores(batch.X, w)
    if intercept is not None:
        z = z + intercept
    return z if batch.offset is None else z + batch.offset


def pulled(X: Any, u: Vector) -> Vector:
    """Return X'u, u being (n,) or (n, K).

    >>> pulled(np.array([[1.0, 2.0]], dtype=np.float32), np.array([3.0]))
    array([3., 6.])
    """
    if u.ndim == 1 and in_columns(X):
        return columns_dot(X, u)
    if u.ndim == 1 and _in_rows(X):
        return columns_times(X.T, u)
    if not _narrow(X):
        return np.asarray(X.T @ u, dtype=np.float64)
    total = np.zeros((X.shape[1], *u.shape[1:]))
    for some in _blocks(X):
        total += X[some].astype(np.float64).T @ u[some]
    return total


def bordered(block: Matrix, right: Vector, below: Vector, corner: float) -> Matrix:
    """Return a matrix with one more column, one more row, and what is in both: those of an intercept.

    >>> bordered(np.eye(1), np.array([2.0]), np.array([3.0]), 4.0)
    array([[1., 2.],
           [3., 4.]])
    """
    rows, columns = block.shape
    found = np.empty((rows + 1, columns + 1))
    found[:-1, :-1], found[:-1, -1], found[-1, :-1], found[-1, -1] = block, right, below, corner
    return found


def in_columns(X: Any) -> bool:
    """Whether X is sparse with its columns together, which our kernels multiply on all cores."""
    return getattr(X, "format", None) == "csc" and X.dtype in (np.float32, np.float64)


def _in_rows(X: Any) -> bool:
    """Whether the transpose of X is such a matrix."""
    return getattr(X, "format", None) == "csr" and X.dtype in (np.float32, np.float64)


def _narrow(X: Any) -> bool:
    """Whether a product in float64 would make numpy convert all of X at once."""
    return isinstance(X, np.ndarray) and X.dtype != np.float64


def _blocks(X: Any) -> Iterator[slice]:
    rows = max(1, BLOCK // max(1, X.shape[1]))
    for first in range(0, len(X), rows):
        yield slice(first, first + rows)
