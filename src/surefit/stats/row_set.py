"""The rows themselves, for models that answer from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import RefusalError
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial, relative_gap


@dataclass(frozen=True, slots=True)
class RowSet(Statistic):
    """Rows of positive weight with their weights and targets, as they came; a sum joins them.

    Rows that are taken away again are found by their cells, target and weight.

    >>> one = RowSet.of(Batch(np.array([[1.0], [3.0]])))
    >>> (one + one - one).X.tolist()
    [[1.0], [3.0]]
    """

    name = "row-set"
    subtractable = True

    X: Matrix
    y: Vector
    weight: Vector

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(cls, batch: Batch, **context: Any) -> RowSet:
        """Keep the rows of a matrix; without a target it is 0."""
        X: Any = batch.X
        rows = np.array(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64, order="C")
        y = np.zeros(len(rows)) if batch.y is None else np.array(batch.y, dtype=np.float64)
        weight = np.ones(len(rows)) if batch.weight is None else np.array(batch.weight)
        if not weight.all():
            kept = weight > 0
            rows, y, weight = rows[kept], y[kept], weight[kept]
        return cls(rows, y, weight)

    def __len__(self) -> int:
        return len(self.X)

    def __add__(self, other: RowSet) -> RowSet:
        if len(self) == 0 or len(other) == 0:
            return other if len(self) == 0 else self
        return RowSet(*(np.concatenate(pair) for pair in zip(self._parts(), other._parts(), strict=True)))

    def __sub__(self, other: RowSet) -> RowSet:
        if len(other) == 0:
            return self
        gone: dict[bytes, int] = {}
        for key in other._keys():
            gone[key] = gone.get(key, 0) + 1
        keep = np.ones(len(self), dtype=bool)
        for i, key in enumerate(self._keys()):
            if gone.get(key, 0):
                gone[key] -= 1
                keep[i] = False
        if any(gone.values()):
            raise RefusalError(
                f"{sum(gone.values())} of these rows are not among the ones kept: subtract only rows that "
                "were added before, with the same weights."
            )
        return RowSet(*(part[keep] for part in self._parts()))

    def _parts(self) -> tuple[Any, ...]:
        return self.X, self.y, self.weight

    def _keys(self) -> list[bytes]:
        table = np.column_stack([self.X, self.y, self.weight]) + 0.0  # which makes one of the two zeros
        return [row.tobytes() for row in table]

    def distance(self, other: RowSet) -> float:
        """The greatest difference of rows in order, each distinct row once with its whole weight."""
        return relative_gap(self._distinct(), other._distinct())

    def _distinct(self) -> Matrix:
        table = np.column_stack([self.X, self.y])
        rows, codes = np.unique(table, axis=0, return_inverse=True)
        return np.column_stack([rows, np.bincount(codes.ravel(), self.weight, len(rows))])

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Numbers, sparse rows and classes."""
        yield from (Trial("numbers"), Trial("sparse"), Trial("classes"))
