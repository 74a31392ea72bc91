"""The rows with the greatest or least scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.sums.topk import top_k
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial


@dataclass(frozen=True, slots=True)
class TopK(Statistic):
    """The k rows of a source with the greatest, or least, scores: their numbers and their scores, best first.

    Of equal scores the first row wins. Rows of weight 0 and rows whose score is NaN are left out; otherwise a
    row is listed once, whatever its weight.

    >>> TopK.of(Batch(np.array([[2.0], [5.0], [1.0]]), start=10), k=2, score=lambda b: b.X[:, 0]).numbers
    array([11, 10])
    """

    name = "top-k"
    weights_repeat = False  # a row's number stands for the row, not for its copies

    k: int
    largest: bool
    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        k: int = 10,
        score: Callable[[Batch], NDArray[Any]] | None = None,
        largest: bool = True,
        **context: Any,
    ) -> TopK:
        """Score each row; without ``score``, by the target."""
        found = batch.y if score is None else score(batch)
        if found is None:
            raise ValueError("the batch has no target to rank by.")
        scores = np.asarray(found, dtype=np.float64)
        counted = ~np.isnan(scores) if batch.weight is None else ~np.isnan(scores) & (batch.weight > 0)
        places = np.flatnonzero(counted)
        return cls._best(k, largest, batch.start + places, scores[places])

    @classmethod
    def _best(cls, k: int, largest: bool, numbers: NDArray[np.int64], scores: NDArray[np.float64]) -> TopK:
        """Choose among rows in increasing order of their numbers, so that the first of equals wins."""
        kept = min(k, len(scores))
        chosen = top_k(np.ascontiguousarray(scores[None]), kept, largest).index[0] if kept else slice(0)
        return cls(k, largest, numbers[chosen], scores[chosen])

    def __add__(self, other: TopK) -> TopK:
        numbers = np.concatenate([self.numbers, other.numbers])
        order = np.argsort(numbers, kind="stable")
        scores = np.concatenate([self.scores, other.scores])
        return self._best(self.k, self.largest, numbers[order], scores[order])

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """The greatest and the least, by the target and by a column with ties."""
        by_column = {"k": 7, "score": _first_column, "largest": False}
        return Trial("numbers", {"k": 5}), Trial("numbers", by_column)


def _first_column(batch: Batch) -> NDArray[Any]:
    assert isinstance(batch.X, np.ndarray)
    return np.round(batch.X[:, 0])
