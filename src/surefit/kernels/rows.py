"""Rows of numbers on their way into a kernel: checked once, then inner products and squared distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError

STRIP = 256  # rows of a block that are worked on at once, which stay in the cache
Rows = Any  # a dense (n, d) array of float32 or float64, or a CSR matrix of them
Columns = list[Any] | tuple[Any, ...] | np.ndarray[Any, Any]  # one number a column, or a matrix


def as_rows(X: Any, owner: str) -> Rows:
    """Return X as rows of finite floats: dense, or CSR where it is sparse."""
    if sparse.issparse(X):
        found = X.tocsr()
        found = found if found.dtype in (np.float32, np.float64) else found.astype(np.float64)
        _check_finite(found.data, owner)
        return found
    try:
        array = np.asarray(X)
        array = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{owner} compares rows of numbers, and X holds something else: "
            "choose a kernel for objects, such as Spectrum for strings."
        ) from None
    if array.ndim != 2:
        raise DataError(
            f"{owner} compares rows of numbers, and X has {array.ndim} dimension{'s' * (array.ndim != 1)}: "
            "give one row a point, as in X.reshape(-1, 1) for single numbers."
        )
    _check_finite(array, owner)
    return array


def _check_finite(array: np.ndarray[Any, Any], owner: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        quick = np.isfinite(array.sum())
    if not quick and not np.isfinite(array).all():
        raise DataError(
            f"{owner}: X holds NaN or infinite values, between which no kernel is defined: "
            "drop or impute these rows first."
        )


def same_width(X: Rows, Y: Rows, owner: str) -> None:
    """Complain about rows of different lengths."""
    if X.shape[1] != Y.shape[1]:
        raise DataError(
            f"{owner}: X has {X.shape[1]} columns and Y has {Y.shape[1]}: rows of the same columns "
            "can be compared only."
        )


def result_type(X: Rows, Y: Rows | None) -> Any:
    """The type of the kernel's values: float32 where both sides are, else float64."""
    return np.result_type(X.dtype, X.dtype if Y is None else Y.dtype)


def wide(X: Rows) -> Rows:
    """The rows in float64, in which kernels count."""
    return X if X.dtype == np.float64 else X.astype(np.float64)


def dots(X: Rows, Y: Rows | None) -> Matrix:
    """Return the inner products (n, m) in float64, exactly symmetric where Y is None."""
    X = wide(X)
    other = X if Y is None else wide(Y)
    product = X @ other.T
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def squared_norms(X: Rows) -> Vector:
    """Return the squared length of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    X = wide(X)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def squared_distances(X: Rows, Y: Rows | None) -> Matrix:
    """Return the squared Euclidean distances (n, m), never negative, exactly 0 on the diagonal for one X.

    Dense rows are centred first, so that data far from the origin lose no digits to the subtraction
    :math:`|x|^2 + |y|^2 - 2 x'y`.

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), None)
    array([[ 0., 25.],
           [25.,  0.]])
    """
    X, other = wide(X), None if Y is None else wide(Y)
    if not sparse.issparse(X) and not (other is not None and sparse.issparse(other)) and len(X):
        centre = X.mean(axis=0)
        X, other = X - centre, None if other is None else other - centre
    found = dots(X, other)
    left = squared_norms(X)
    right = left if other is None else squared_norms(other)
    for start in range(0, len(found), STRIP):  # norms are added to each other first, which is symmetric
        strip = found[start : start + STRIP]
        strip *= -2.0
        strip += left[start : start + STRIP, None] + right[None, :]
        np.maximum(strip, 0.0, out=strip)
    if other is None:
        np.fill_diagonal(found, 0.0)
    return found


def distances(X: Rows, Y: Rows | None, metric: str = "euclidean") -> Matrix:
    """Return distances (n, m) by differences, column by column, which keeps all digits of near rows.

    >>> distances(np.array([[0.0, 0.0], [3.0, 4.0]]), None, "cityblock")
    array([[0., 7.],
           [7., 0.]])
    """
    left = dense(X)
    found: Matrix = cdist(left, left if Y is None else dense(Y), metric)
    return found


def dense(X: Rows) -> Matrix:
    """The rows in float64, without gaps."""
    X = wide(X)
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def scaled_columns(X: Rows, factors: Vector) -> Rows:
    """Return X with each column times its factor."""
    return X.multiply(factors).tocsr() if sparse.issparse(X) else X * factors


def scaled_rows(X: Rows, factors: Vector) -> Rows:
    """Return X in float64 with each row times its factor."""
    X = wide(X)
    return X.multiply(factors[:, None]).tocsr() if sparse.issparse(X) else X * factors[:, None]


def checked_columns(owner: str, name: str, given: Any, *, low: float = 0.0) -> Vector:
    """Return a parameter with one number a column as float64; each must be finite and above ``low``."""
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{owner}: {name} must hold numbers only.") from None
    if array.ndim > 1 or array.size == 0 or not np.isfinite(array).all() or (array <= low).any():
        raise ParameterError(
            f"{owner}: {name}={given!r} is not allowed; it must be a finite number above {low:g}, "
            "or one a column."
        )
    return array


def one_a_column(owner: str, name: str, given: Vector, width: int) -> Vector:
    """Complain where a parameter with one number a column meets another number of columns."""
    if given.ndim == 1 and len(given) not in (1, width):
        raise DataError(
            f"{owner}: {name} holds {len(given)} numbers, and X has {width} columns: give one a column."
        )
    return given
