"""How often each pair of two codes occurs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.errors import DataError
from surefit.core.native import compiled

WIDTHS = (np.dtype(np.uint8), np.dtype(np.int32), np.dtype(np.int64))  # other integers are converted


def pair_counts(
    a: NDArray[Any],
    b: NDArray[Any],
    weight: NDArray[np.float64] | None,
    low: int,
    size: int,
    *,
    _threads: int | None = None,
) -> NDArray[np.float64]:
    """Return the weight of each pair of whole numbers in ``range(low, low + size)``, a by row, b by column.

    >>> pair_counts(np.array([5, 6, 6]), np.array([6, 6, 6]), None, 5, 2)
    array([[0., 1.],
           [0., 2.]])
    """
    native = compiled()
    if native is None:
        return pair_counts_twin(a, b, weight, low, size)
    dtype = a.dtype if a.dtype == b.dtype and a.dtype in WIDTHS else np.dtype(np.int64)
    columns = [np.ascontiguousarray(column, dtype=dtype) for column in (a, b)]
    weight = None if weight is None else np.ascontiguousarray(weight)
    table = np.empty((size, size))
    outside = native.pair_counts(*columns, weight, low, table, threads() if _threads is None else _threads)
    if outside < len(a):
        raise DataError(f"pair_counts: row {outside} has a code outside of {low} to {low + size - 1}.")
    return table


def pair_counts_twin(
    a: NDArray[Any], b: NDArray[Any], weight: NDArray[np.float64] | None, low: int, size: int
) -> NDArray[np.float64]:
    """Do the same by counting the pairs' own codes."""
    rows, columns = a.astype(np.int64) - low, b.astype(np.int64) - low
    outside = (rows < 0) | (rows >= size) | (columns < 0) | (columns >= size)
    if outside.any():
        raise DataError(
            f"pair_counts: row {int(np.argmax(outside))} has a code outside of {low} to {low + size - 1}."
        )
    return np.bincount(rows * size + columns, weight, size * size).astype(np.float64).reshape(size, size)
