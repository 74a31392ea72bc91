"""Mutual information by counts in bins: an estimate whose sums add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Vector
from surefit.data.batches.batch import Batch
from surefit.distributions.information import mutual_information

BINS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Bins of equal width between the least and the greatest value of each column."""

    low: Vector
    high: Vector
    count: int

    def codes(self, values: Any) -> NDArray[np.intp]:
        """The bin of each value, (n, columns); a constant has one bin."""
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        place = np.floor((np.asarray(values, dtype=np.float64) - self.low) / width * self.count)
        return np.clip(place, 0, self.count - 1).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class BinnedCounts:
    """How much weight each bin of each column has with each class, or bin of the target: (columns, a, b)."""

    cells: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch, columns: Bins, target: Bins | None, classes: Any = None) -> BinnedCounts:
        """Count some rows; without bins of the target, its codes are classes."""
        y: Any = batch.y
        code = np.asarray(y) if target is None else target.codes(np.asarray(y).reshape(-1, 1))[:, 0]
        kinds = len(classes) if target is None else target.count
        X = batch.X.toarray() if sparse.issparse(batch.X) else batch.X  # type: ignore[union-attr]
        pair = columns.codes(X) * kinds + code[:, None]
        size = columns.count * kinds
        found = [np.bincount(column, batch.weight, size) for column in pair.T]
        return cls(np.array(found, dtype=np.float64).reshape(-1, columns.count, kinds))

    def __add__(self, other: BinnedCounts) -> BinnedCounts:
        return BinnedCounts(self.cells + other.cells)

    @property
    def information(self) -> Vector:
        """The mutual information of each column and the target, in nats."""
        return np.maximum([mutual_information(table) for table in self.cells], 0.0)


def binned_info_classif(X: Any, y: Any, *, bins: int = BINS) -> Vector:
    """Mutual information of each column and the classes, in nats, by counts in bins of equal width.

    It is too large by about (bins - 1)(classes - 1) / 2n, and blind to what happens within a bin; but its
    counts add up, so that a table of any size is scored as it is read.

    >>> binned_info_classif([[0.0, 1.0], [0.1, 2.0], [0.9, 1.0], [1.0, 2.0]], ["a", "a", "b", "b"]).round(4)
    array([0.6931, 0.    ])
    """
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    return _information(X, codes, None, classes, bins)


def binned_info_regression(X: Any, y: Any, *, bins: int = BINS) -> Vector:
    """Mutual information of each column and a number, in nats, by counts in bins of equal width of both.

    >>> x = np.linspace(-1, 1, 4000)
    >>> binned_info_regression(np.column_stack([x, np.cos(97 * x)]), x**2, bins=8).round(1)
    array([1.1, 0. ])
    """
    target = np.asarray(y, dtype=np.float64)
    return _information(
        X, target, Bins(target.min(keepdims=True), target.max(keepdims=True), bins), None, bins
    )


def _information(X: Any, y: Any, target: Bins | None, classes: Any, bins: int) -> Vector:
    table = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    columns = Bins(table.min(axis=0), table.max(axis=0), bins)
    return BinnedCounts.of(Batch(table, y), columns, target, classes).information
