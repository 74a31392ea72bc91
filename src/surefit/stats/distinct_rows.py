"""The distinct rows of a table of categories, and how often each occurs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import column_levels
from surefit.data.batches.distinct import places
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial

_LARGEST_KEY = 2.0**62


@dataclass(frozen=True, slots=True)
class DistinctRows(Statistic):
    """Each row that occurs, as codes of the levels of its columns, and its weight; -1 is a missing cell.

    What tables and structures of Bayes nets are made of: counts of any columns together follow from it. It is
    as long as there are different rows.
    """

    name = "distinct-rows"

    rows: int
    weight: float
    codes: NDArray[np.int32]  # (distinct rows, columns), in ascending order
    counts: NDArray[np.float64]
    sizes: NDArray[np.int64]  # levels a column

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(cls, batch: Batch, **context: Any) -> DistinctRows:
        """Code cells by the ``levels`` of each column, arrays; one that is none of them is missing."""
        levels: Sequence[NDArray[Any]] = context["levels"]
        columns = []
        for place, known in enumerate(levels):
            found, codes = column_levels(batch.X, place)
            where = places(found, known) if len(found) else np.zeros(0, dtype=np.int32)
            columns.append(np.append(where, np.int32(-1))[codes])  # the code -1 takes the last, which is -1
        codes = (
            np.column_stack(columns).astype(np.int32)
            if columns
            else np.zeros((len(batch), 0), dtype=np.int32)
        )
        sizes = np.array([len(known) for known in levels], dtype=np.int64)
        counts = np.ones(len(batch)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        return cls(len(batch), float(counts.sum()), *_joined(codes, counts, sizes), sizes)

    def __add__(self, other: DistinctRows) -> DistinctRows:
        codes = np.concatenate([self.codes, other.codes])
        counts = np.concatenate([self.counts, other.counts])
        sizes = np.maximum(self.sizes, other.sizes)
        return DistinctRows(
            self.rows + other.rows, self.weight + other.weight, *_joined(codes, counts, sizes), sizes
        )

    def table(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Return the weight of each combination of levels of some columns, of rows without a gap there."""
        shape = tuple(int(self.sizes[column]) for column in columns)
        if not columns:
            return np.array(self.counts.sum())
        part, counts = self.codes[:, list(columns)], self.counts
        whole = (part >= 0).all(axis=1)
        if not whole.all():
            part, counts = part[whole], counts[whole]
        keys = np.ravel_multi_index(tuple(part.T), shape)
        return np.bincount(keys, counts, int(np.prod(shape))).astype(np.float64, copy=False).reshape(shape)

    @property
    def complete(self) -> bool:
        """Whether no cell is missing."""
        return bool((self.codes >= 0).all())

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Rows of numbers on a few levels, some of which are unknown."""
        return (Trial("numbers", {"levels": [np.arange(1.0, 6.0, 0.01).round(2)] * 4}),)


def _joined(
    codes: NDArray[np.int32], counts: NDArray[np.float64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return each row that has weight once, in ascending order, with the sum of its counts."""
    kept = counts > 0
    if not kept.all():
        codes, counts = codes[kept], counts[kept]
    if np.prod(sizes + 1.0) < _LARGEST_KEY:
        shape = tuple(int(size) + 1 for size in sizes)
        keys = np.ravel_multi_index(tuple((codes + 1).T), shape) if len(shape) else np.zeros(len(codes), int)
        found, where = np.unique(keys, return_inverse=True)
        rows = np.column_stack(np.unravel_index(found, shape)) - 1 if len(shape) else codes[: len(found)]
    else:
        rows, where = np.unique(codes, axis=0, return_inverse=True)
    sums = np.bincount(where.ravel(), counts, len(rows)).astype(np.float64, copy=False)
    return rows.astype(np.int32), sums
