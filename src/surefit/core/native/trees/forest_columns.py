"""The columns of a forest: ranked once for all trees, and cut into bins of one byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled

BINS = 255
# Beyond so many columns a row fills many lines of cache, of which a node needs few: columns lie together.
# Measured: as fast either way at 300 columns, a tenth faster at 800.
WIDE = 500
# Of how many columns a node looks at one: from the first on, giving rows codes takes less than keeping them
# in the order of every column; from the second on, sorting the few that a node needs takes less than either.
# Measured with normal numbers and two classes.
FEW_OF, VERY_FEW_OF = 4, 16
MISSING_RANK = np.uint32(0xFFFFFFFF)
FRESH = np.uint32(1 << 31)


@dataclass(frozen=True, slots=True, eq=False)
class ForestColumns:
    """Where each value stands in its column, and its bin; both in Fortran's order where X is wide.

    rank: (rows, columns), how many lower values there are, each counted once; the largest number for missing.
    ascending: instead of ranks, (columns, rows): the rows in the order of the values of each column, missing
    ones last; the top bit says that a value differs from the one before.
    bins: (rows, columns), 255 for missing. lowest, highest: (columns, 255), the ends of each bin.
    """

    rank: NDArray[np.uint32] | None
    ascending: NDArray[np.uint32] | None
    bins: NDArray[np.uint8]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]

    @property
    def by_column(self) -> bool:
        """Whether the cells of a column lie together."""
        return not self.bins.flags.c_contiguous


def forest_columns(X: NDArray[Any], max_columns: int = 0, *, _threads: int | None = None) -> ForestColumns:
    """Rank and cut the columns of X; bins hold whole values, and about as many rows each.

    max_columns: at how many a node looks, 0 for all.

    >>> found = forest_columns(np.array([[2.0], [1.0], [np.nan], [2.0]]))
    >>> found.bins.ravel().tolist(), found.rank[[0, 1, 3]].ravel().tolist()
    ([1, 0, 255, 1], [1, 0, 1])
    """
    native = compiled()
    if native is None:
        return forest_columns_twin(X, max_columns)
    found = _empty(X, max_columns)
    places = found.ascending if found.rank is None else found.rank
    assert places is not None
    native.forest_columns(
        X,
        places.reshape(-1, order="A"),
        found.rank is None,
        found.bins.reshape(-1, order="A"),
        found.lowest.reshape(-1),
        found.highest.reshape(-1),
        found.by_column,
        threads() if _threads is None else _threads,
    )
    return found


def forest_columns_twin(X: NDArray[Any], max_columns: int = 0) -> ForestColumns:
    """Do the same, value by value."""
    found = _empty(X, max_columns)
    _fill(found, np.asarray(X, dtype=np.float64))
    return found


def _empty(X: NDArray[Any], max_columns: int) -> ForestColumns:
    rows, width = X.shape
    order: Literal["C", "F"] = "F" if width > WIDE else "C"
    ascends = FEW_OF * max_columns <= width < VERY_FEW_OF * max_columns
    return ForestColumns(
        None if ascends else np.empty((rows, width), dtype=np.uint32, order=order),
        np.empty((width, rows), dtype=np.uint32) if ascends else None,
        np.empty((rows, width), dtype=np.uint8, order=order),
        np.zeros((width, BINS)),
        np.zeros((width, BINS)),
    )


def _rows_of_bin(seen: int, left: int, bins_left: int) -> int:
    """How many rows the next bin should hold: few at both ends, as many as any other between them."""
    if bins_left == 1:
        return left
    at_end = 4 + 7 * (left // bins_left).bit_length() // 4  # each a half larger, from one row on
    return max(min(-(-left // max(bins_left - at_end, 1)), seen // 2, left // 3), 1)


def _fill(found: ForestColumns, X: NDArray[np.float64]) -> None:
    rows, width = X.shape
    for j in range(width):
        order = np.argsort(X[:, j], kind="stable")
        x = X[order, j]
        known = int(np.count_nonzero(~np.isnan(x)))
        same = np.zeros(rows, dtype=bool)
        same[1:] = (x[1:] == x[:-1]) | (np.isnan(x[1:]) & np.isnan(x[:-1]))
        if found.rank is not None:
            found.rank[order, j] = np.cumsum(~same) - 1
            found.rank[order[known:], j] = MISSING_RANK
        if found.ascending is not None:
            found.ascending[j] = order | np.where(same, 0, FRESH)
        found.bins[order[known:], j] = 255
        starts = np.flatnonzero(~same[:known])
        sizes = np.diff(np.append(starts, known))
        each = len(starts) <= BINS
        bin_, held, full = -1, 0, 0
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            if each or held >= full:
                bin_ += 1
                found.lowest[j, bin_] = x[start]
                held, full = 0, _rows_of_bin(start, known - start, BINS - bin_)
            held += size
            found.highest[j, bin_] = x[start]
            found.bins[order[start : start + size], j] = bin_
