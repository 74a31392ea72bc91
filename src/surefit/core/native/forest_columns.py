"""The columns of a forest: sorted once for all trees, and cut into bins of one byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled

BINS = 255
SAME_VALUE = np.uint32(1 << 31)


@dataclass(frozen=True, slots=True, eq=False)
class ForestColumns:
    """Each column in ascending order, and its bins.

    order: (columns, rows), rows by ascending value, missing ones last; the highest bit marks a value that is
    the same as the one before. known: how many of a column have a value. bins: (rows, columns), 255 for
    missing. lowest, highest: (columns, 255), the ends of each bin.
    """

    order: NDArray[np.uint32]
    known: NDArray[np.int64]
    bins: NDArray[np.uint8]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]


def forest_columns(X: NDArray[Any], *, _threads: int | None = None) -> ForestColumns:
    """Sort and cut the columns of X; bins hold whole values, and about as many rows each.

    >>> found = forest_columns(np.array([[2.0], [1.0], [np.nan], [2.0]]))
    >>> found.bins.ravel().tolist(), (found.order & ~SAME_VALUE).ravel().tolist()
    ([1, 0, 255, 1], [1, 0, 3, 2])
    """
    native = compiled()
    if native is None:
        return forest_columns_twin(X)
    found = _empty(X)
    native.forest_columns(
        X,
        found.order.reshape(-1),
        found.known,
        found.bins.reshape(-1),
        found.lowest.reshape(-1),
        found.highest.reshape(-1),
        threads() if _threads is None else _threads,
    )
    return found


def forest_columns_twin(X: NDArray[Any]) -> ForestColumns:
    """Do the same, value by value."""
    found = _empty(X)
    _fill(found, np.asarray(X, dtype=np.float64))
    return found


def _empty(X: NDArray[Any]) -> ForestColumns:
    rows, width = X.shape
    return ForestColumns(
        np.empty((width, rows), dtype=np.uint32),
        np.empty(width, dtype=np.int64),
        np.empty((rows, width), dtype=np.uint8),
        np.zeros((width, BINS)),
        np.zeros((width, BINS)),
    )


def _fill(found: ForestColumns, X: NDArray[np.float64]) -> None:
    rows, width = X.shape
    for j in range(width):
        order = np.argsort(X[:, j], kind="stable")
        x = X[order, j]
        known = int(np.count_nonzero(~np.isnan(x)))
        same = np.zeros(rows, dtype=bool)
        same[1:] = (x[1:] == x[:-1]) | (np.isnan(x[1:]) & np.isnan(x[:-1]))
        found.order[j] = order.astype(np.uint32) | np.where(same, SAME_VALUE, np.uint32(0))
        found.known[j] = known
        found.bins[order[known:], j] = 255
        starts = np.flatnonzero(~same[:known])
        sizes = np.diff(np.append(starts, known))
        each = len(starts) <= BINS
        bin_, held, full = -1, 0, 0
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            if each or held >= full:
                bin_ += 1
                found.lowest[j, bin_] = x[start]
                held, full = 0, -(-(known - start) // (BINS - bin_))
            held += size
            found.highest[j, bin_] = x[start]
            found.bins[order[start : start + size], j] = bin_
