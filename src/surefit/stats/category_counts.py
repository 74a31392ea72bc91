"""Which values each column takes, and how often."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import column_counts
from surefit.data.batches.distinct import distinct
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial


@dataclass(frozen=True, slots=True)
class CategoryCounts(Statistic):
    """The levels of each column, in order, and the weight of each; values are found as they come.

    A value that only rows without weight have is no level.
    """

    name = "category-counts"

    rows: int
    weight: float
    levels: tuple[NDArray[Any], ...]
    counts: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, batch: Batch, **context: Any) -> CategoryCounts:
        """Count the cells of every column of cells, a table or a dense matrix."""
        weight = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
        found = [column_counts(batch.X, j, batch.weight) for j in range(batch.X.shape[1])]
        return cls(
            len(batch), weight, tuple(levels for levels, _ in found), tuple(counts for _, counts in found)
        )

    def __add__(self, other: CategoryCounts) -> CategoryCounts:
        joined = [
            join_levels(a, b, m, n)
            for a, b, m, n in zip(self.levels, other.levels, self.counts, other.counts, strict=True)
        ]
        return CategoryCounts(
            self.rows + other.rows,
            self.weight + other.weight,
            tuple(levels for levels, _ in joined),
            tuple(counts for _, counts in joined),
        )

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Numbers with gaps, and typed tables."""
        return (Trial("numbers"), Trial("gaps"), Trial("table"))


def join_levels(
    one: NDArray[Any], two: NDArray[Any], first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The levels of both, in order, and the sum of what each has for them."""
    if len(one) == 0 or len(two) == 0:
        return (two, second) if len(one) == 0 else (one, first)
    levels, codes = distinct(np.concatenate([one, two]))
    sums = np.zeros((len(levels), *first.shape[1:]))
    np.add.at(sums, codes, np.concatenate([first, second]))
    return levels, sums
