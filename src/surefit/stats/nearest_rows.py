"""The rows nearest to each of some queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.native.neighbours.norms import Norm
from surefit.core.native.neighbours.point_tree import nearest_twin
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial

Search = Callable[[Any, int], tuple[Matrix, NDArray[np.int64]]]  # rows and k: distances and places


@dataclass(frozen=True, slots=True)
class NearestRows(Statistic):
    """The numbers of the k nearest rows of each query and their distances, the nearest first.

    Of equal distances the first row wins; where fewer than k rows were seen, the number is -1 and the
    distance infinite. Weights play no part.

    >>> NearestRows.of(Batch(np.array([[2.0], [5.0]])), k=1, queries=np.array([[4.0]])).numbers
    array([[1]])
    """

    name = "nearest-rows"
    weights_repeat = False  # a row's number stands for the row, not for its copies

    k: int
    distances: Matrix
    numbers: NDArray[np.int64]

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        k: int = 1,
        queries: Matrix | None = None,
        search: Search | None = None,
        **context: Any,
    ) -> NearestRows:
        """Search the rows of a batch; without ``search``, dense ones by Euclidean distance."""
        count = 0 if queries is None else len(queries)
        distance, index = np.full((count, k), np.inf), np.full((count, k), -1, dtype=np.int64)
        rows = np.arange(len(batch))
        if batch.weight is not None:
            rows = np.flatnonzero(batch.weight > 0)
        kept = min(k, len(rows))
        if kept and count:
            X: Any = batch.X if len(rows) == len(batch) else batch.X[rows]  # type: ignore[index]
            found, place = _euclidean(X, queries, kept) if search is None else search(X, kept)
            distance[:, :kept], index[:, :kept] = found, batch.start + rows[place]
        return cls(k, distance, index)

    def __add__(self, other: NearestRows) -> NearestRows:
        distance = np.hstack([self.distances, other.distances])
        index = np.hstack([self.numbers, other.numbers])
        last = np.where(index < 0, np.iinfo(np.int64).max, index)
        order = np.lexsort((last, distance), axis=1)[:, : self.k]
        return NearestRows(
            self.k, np.take_along_axis(distance, order, axis=1), np.take_along_axis(index, order, axis=1)
        )

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Two queries, on a grid where distances repeat."""
        return (
            Trial("numbers", {"k": 4, "queries": np.array([[3.0, 3.0, 3.0, 3.0], [2.0, 4.0, 3.0, 1.0]])}),
        )


def _euclidean(X: Any, queries: Any, k: int) -> tuple[Matrix, NDArray[np.int64]]:
    found = nearest_twin(np.asarray(X, dtype=np.float64), Norm(), queries, k, False)
    return np.sqrt(found.value), found.index
