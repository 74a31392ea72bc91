"""A distance for rows of numbers and categories side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.data.batches.cells import (
    Cells,
    cells_of,
    column_levels,
    column_numbers,
    column_places,
    kind_of_cells,
)
from surefit.data.batches.table import Table
from surefit.distances.base import Distance


class Gower(Distance):
    r"""The mean over the columns of how much two rows differ, between 0 and 1 in each.

    .. math:: d(x, y) = \frac{1}{m} \sum_j d_j, \qquad d_j = \frac{|x_j - y_j|}{\text{range}_j}
        \text{ for numbers, and } [x_j \ne y_j] \text{ for categories}

    The mean is over the columns that both rows have; two rows that share none are 1 apart. What it takes
    from the rows that are searched, and what may be given: ranges, one a column, NaN for categories; levels,
    the categories of each column, None for numbers.

    >>> Gower()([[0.0, "a"], [10.0, "b"]]).round(4)
    array([[0., 1.],
           [1., 0.]])
    >>> Gower()([[5.0, "a"]], [[0.0, "a"], [10.0, "b"]]).round(4)
    array([[0.25, 0.75]])
    """

    name = "gower"
    metric = False  # missing cells break the triangle inequality
    takes = "cells"
    missing = True

    def __init__(self, ranges: NDArray[Any] | None = None, levels: list[Any] | None = None) -> None:
        self.ranges = ranges
        self.levels = levels
        self._check()

    def _cells(self, X: Any) -> Any:
        return X if isinstance(X, Cells | Table | _Coded) else cells_of(X)

    def fitted(self, X: Any) -> Gower:
        """Take the ranges of numbers and the levels of categories."""
        if self.ranges is not None:
            return self
        cells = self._cells(X)
        ranges, levels = np.full(cells.shape[1], np.nan), []
        for j in range(cells.shape[1]):
            numbers = _numbers(cells, j)
            levels.append(column_levels(cells, j)[0] if numbers is None else None)
            if numbers is not None:
                there = numbers[~np.isnan(numbers)]
                ranges[j] = there.max() - there.min() if len(there) else 0.0
        return type(self)(ranges, levels)

    def inputs(self, X: Any) -> Any:
        """Return numbers over their ranges, and codes of categories, NaN where missing."""
        cells = self._cells(X)
        if isinstance(cells, _Coded):
            return cells
        assert self.ranges is not None
        assert self.levels is not None
        values = np.empty(cells.shape)
        for j, levels in enumerate(self.levels):
            if levels is None:
                numbers = column_numbers(cells, j, f"x{j}")
                # A column without spread tells rows apart only by being equal or not.
                values[:, j] = numbers / self.ranges[j] if self.ranges[j] > 0 else numbers
            else:
                codes = column_places(cells, j, np.asarray(levels)).astype(np.float64)
                gone = np.array([level is None or level != level for level in levels], dtype=bool)
                if gone.any():
                    codes[np.isin(codes, np.flatnonzero(gone))] = np.nan
                values[:, j] = codes
        return _Coded(values)

    def held(self, rows: Any) -> Any:
        """Return coded rows from their numbers."""
        return rows if isinstance(rows, _Coded) else _Coded(rows)

    def between(self, X: Any, Y: Any) -> Matrix:
        """Return the distances of coded rows."""
        assert self.levels is not None
        assert self.ranges is not None
        left, right = X.values, Y.values
        total, shared = np.zeros((len(left), len(right))), np.zeros((len(left), len(right)))
        for j, levels in enumerate(self.levels):
            gap = np.abs(left[:, j, None] - right[None, :, j])
            there = ~np.isnan(gap)
            counted = gap if levels is None and self.ranges[j] > 0 else (gap != 0).astype(np.float64)
            total += np.where(there, np.minimum(counted, 1.0), 0.0)
            shared += there
        return np.divide(total, shared, out=np.ones_like(total), where=shared > 0)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make rows of numbers and words."""
        rows = np.empty((n, 3), dtype=object)
        rows[:, 0], rows[:, 1] = rng.normal(size=n), rng.normal(size=n)
        rows[:, 2] = rng.choice(["red", "green", "blue"], n)
        return rows


class _Coded:
    """Rows of coded cells."""

    def __init__(self, values: Matrix) -> None:
        self.values = values
        self.shape = values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> _Coded:
        return _Coded(self.values[rows])


def _numbers(cells: Any, j: int) -> Matrix | None:
    """The column as numbers, or None where it holds categories."""
    if isinstance(cells, Table):
        number = cells.columns[j].kind not in ("category", "text")
    else:
        number = kind_of_cells(cells.columns[j]) in ("number", "date")
    return column_numbers(cells, j, f"x{j}") if number else None
