"""What an iteration of k-means asks of rows: labels, sums and costs for given centres."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.centres.cluster_sums import cluster_cost, cluster_sums
from surefit.core.native.centres.nearest_centre import Bounds, nearest_centre
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine
from surefit.stats.cluster_sums import ClusterSums, dense_blocks

Labels = NDArray[np.int32]
Skips = Literal["plain", "hamerly", "elkan"]
MOST_BOUNDS = 2**28  # of distances that are kept between iterations; beyond it, one bound a row


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums of the columns of each cluster, their weights, and how many distances were computed."""

    columns: Matrix
    weight: Vector
    computed: int


class Passes(Protocol):
    """Rows that can be put to centres again and again."""

    def step(self, centres: Matrix, moved: Vector | None) -> Sums:
        """Put every row to its nearest centre; ``moved``: how far each centre is from where it was."""

    def labels(self) -> Labels:
        """The clusters of the last step."""

    def cost(self, centres: Matrix) -> float:
        """The weighted sum of squared distances to the centres of the last step."""

    def farthest(self, centres: Matrix, count: int) -> Farthest:
        """The rows that lie farthest from their centre, those of the last step."""


@dataclass(frozen=True, slots=True)
class Farthest:
    """Some rows, farthest first; equal ones are one row, with their weights added up."""

    count: int
    squares: Vector
    X: Matrix
    labels: Labels
    weight: Vector

    @classmethod
    def of(cls, batch: Batch, *, centres: Matrix, count: int) -> Farthest:
        """Those of some rows."""
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        found = cls(count, np.empty(0), np.empty((0, centres.shape[1])), np.empty(0, np.int32), np.empty(0))
        for rows, block in dense_blocks(batch.X):
            labels, squares = np.zeros(len(block), np.int32), np.empty(len(block))
            nearest_centre(block, centres, labels)
            cluster_cost(block, None, centres, labels, squares)
            counted = (weight[rows] > 0) & (squares > 0)
            if counted.sum() > 4 * count:  # equal rows may hide others, so a few more than asked for
                low = np.partition(squares[counted], -4 * count)[-4 * count]
                counted &= squares >= low
            some = cls(count, squares[counted], block[counted].astype(np.float64), labels[counted],
                       weight[rows][counted])  # fmt: skip
            found = found + some
        return found

    def __add__(self, other: Farthest) -> Farthest:
        squares = np.concatenate([self.squares, other.squares])
        X, labels = np.concatenate([self.X, other.X]), np.concatenate([self.labels, other.labels])
        weight = np.concatenate([self.weight, other.weight])
        order = np.lexsort((*X.T[::-1], -squares))
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = (X[order][1:] != X[order][:-1]).any(axis=1)
        first = order[fresh]
        total: Any = np.bincount(np.cumsum(fresh) - 1, weight[order], len(first)) if len(first) else weight
        kept = slice(0, 4 * self.count)
        return Farthest(self.count, squares[first][kept], X[first][kept], labels[first][kept], total[kept])


class InMemory:
    """Dense rows in memory: labels, bounds and sums are kept, and only what changes is computed again."""

    def __init__(self, X: NDArray[Any], weight: Vector | None, skips: Skips, clusters: int) -> None:
        self.X = np.ascontiguousarray(X)
        self.weight = weight
        self._labels = np.full(len(X), -1, dtype=np.int32)
        self._high = np.zeros((clusters, X.shape[1] + 1))
        self._low = np.zeros_like(self._high)
        self._bounds: Bounds | None = None
        if skips != "plain":
            each = skips == "elkan" and len(X) * clusters <= MOST_BOUNDS
            self._bounds = Bounds.of(len(X), clusters if each else 1)

    def step(self, centres: Matrix, moved: Vector | None) -> Sums:
        """Put every row to its nearest centre, and add up those that have changed."""
        after = self._labels.copy()
        computed = nearest_centre(self.X, centres, after, self._bounds, moved)
        cluster_sums(self.X, self.weight, self._labels, after, self._high, self._low)
        self._labels = after
        total = self._high + self._low
        return Sums(total[:, :-1], total[:, -1], computed)

    def labels(self) -> Labels:
        """The clusters of the last step."""
        return self._labels

    def cost(self, centres: Matrix) -> float:
        """The sum of squared distances to the centres of the last step."""
        return cluster_cost(self.X, self.weight, centres, self._labels)

    def farthest(self, centres: Matrix, count: int) -> Farthest:
        """The rows farthest from their centre."""
        return Farthest.of(Batch(self.X, weight=self.weight), centres=centres, count=count)


class Streamed:
    """Rows of a source, or sparse ones: each step is one pass that adds up a statistic."""

    def __init__(self, source: Source, engine: Engine) -> None:
        self._source, self._engine = source, engine
        self._centres: Matrix | None = None
        self._cost = 0.0

    def step(self, centres: Matrix, moved: Vector | None) -> Sums:
        """Read all rows once."""
        found = self._engine.accumulate(partial(ClusterSums.of, centres=centres), self._source)
        self._centres, self._cost = centres, found.cost
        total = found.high + found.low
        return Sums(total[:, :-1], total[:, -1], 0)

    def labels(self) -> Labels:
        """Read all rows once more, for their clusters."""
        assert self._centres is not None
        found = self._engine.map(partial(labels_of, self._centres), self._source)
        return np.concatenate(list(found))

    def cost(self, centres: Matrix) -> float:
        """The cost of the last step."""
        return self._cost

    def farthest(self, centres: Matrix, count: int) -> Farthest:
        """Read all rows once more, for those that lie far."""
        found = self._engine.map(partial(Farthest.of, centres=centres, count=count), self._source)
        return reduce(add, found)


def labels_of(centres: Matrix, batch: Batch) -> Labels:
    """The number of the nearest centre of each row of a batch."""
    return nearest_of(centres, batch.X)


def nearest_of(centres: Matrix, X: Any) -> Labels:
    """The number of the nearest centre of each row."""
    labels = np.zeros(X.shape[0], dtype=np.int32)
    for rows, block in dense_blocks(X):
        nearest_centre(block, centres, labels[rows])
    return labels


def passes_over(source: Source, engine: Engine, skips: Skips, clusters: int) -> Passes:
    """Rows of a source, kept where they are in memory and dense."""
    if isinstance(source, ArraySource) and isinstance(source.batch.X, np.ndarray):
        return InMemory(source.batch.X, source.batch.weight, skips, clusters)
    return Streamed(source, engine)
