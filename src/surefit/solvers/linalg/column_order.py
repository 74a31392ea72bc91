"""In which order a matrix stands in memory, and what going by its columns asks of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

_FULL = 0.5  # share of stored entries from which a sparse matrix is dense data, and slower
_NARROW = 400  # columns up to which one Gram matrix costs less than a few passes over the rows
_PASSES = 100  # columns from which their Gram matrix costs as much as three passes over them,
_MANY = 10**6  # if they have so many entries that passes count


def is_tall(X: Any) -> bool:
    """Whether rows are so many that one Gram matrix costs less than a few passes over them.

    >>> is_tall(np.ones((40, 3))), is_tall(np.ones((3, 40)))
    (True, False)
    """
    n, p = X.shape
    return bool(p <= _NARROW and n >= 4 * p)


def passes_pay(X: Any) -> bool:
    """Whether a few passes over the columns, which stand together, cost less than their Gram matrix.

    >>> passes_pay(np.ones((20_000, 200), order="F")), passes_pay(np.ones((20_000, 20), order="F"))
    (True, False)
    """
    if not isinstance(X, np.ndarray) or not X.flags.f_contiguous:
        return False
    n, p = X.shape
    return bool(p >= _PASSES and n * p >= _MANY)


def by_columns(X: Any) -> Any:
    """Return X as the kernels take it; dense rows stay as they are, sparse rows become CSC."""
    if sparse.issparse(X):
        if X.nnz > _FULL * X.shape[0] * X.shape[1]:
            return by_columns(X.toarray(order="F"))
        X = X.tocsc()
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X
    X = np.asarray(X)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return X if X.flags.c_contiguous or X.flags.f_contiguous else np.asfortranarray(X)
