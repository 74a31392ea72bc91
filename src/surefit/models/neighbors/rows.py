"""The rows that are searched: in memory, growing and shrinking without a rebuild, or in a source."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.data.source import Source
from surefit.distances import Distance, search
from surefit.distances.base import length
from surefit.distances.search import Found, Index, Lists
from surefit.engine.base import Engine, choose_engine
from surefit.stats.nearest_rows import NearestRows

Build = Callable[[Any], Index]


@dataclass
class _Part:
    """An index over some rows and the number that each has now, -1 for one that is gone."""

    index: Index
    X: Any
    number: NDArray[np.int64]
    gone: int = 0


class HeldRows:
    """Rows in memory: a few indexes, each over a part of them.

    New rows make a part of their own, and parts of like size are joined, so that n rows that come one by one
    are indexed log n times each. Rows that go are passed over, until a quarter of a part is gone.
    """

    def __init__(self, X: Any, build: Build) -> None:
        self._build = build
        self.rows = 0
        self._parts: list[_Part] = []
        self.add(X)

    @property
    def main(self) -> Index:
        """The index over the largest part."""
        return max(self._parts, key=lambda part: len(part.number)).index

    def copied(self) -> HeldRows:
        """The same rows behind the same indexes, which may be changed without changing these."""
        made = copy(self)
        made._parts = [copy(part) for part in self._parts]
        return made

    def add(self, X: Any) -> None:
        """Take in rows, after those that are there."""
        new = np.arange(self.rows, self.rows + length(X))
        self.rows += length(X)
        part = _Part(self._build(X), X, new)
        while self._parts and len(self._parts[-1].number) <= 2 * len(part.number):
            last = self._parts.pop()
            kept = last.number >= 0
            rows = _joined(last.X if kept.all() else last.X[kept], part.X)
            part = _Part(self._build(rows), rows, np.concatenate([last.number[kept], part.number]))
        self._parts.append(part)

    def remove(self, numbers: NDArray[np.int64]) -> None:
        """Drop rows; those after them move up."""
        gone = np.zeros(self.rows, dtype=bool)
        gone[numbers] = True
        place = np.where(gone, -1, np.cumsum(~gone) - 1)
        self.rows -= int(gone.sum())
        for i, part in enumerate(self._parts):
            part.number = np.where(part.number >= 0, place[part.number], -1)
            part.gone = int((part.number < 0).sum())
            if 4 * part.gone > len(part.number):
                kept = part.number >= 0
                self._parts[i] = _Part(self._build(part.X[kept]), part.X[kept], part.number[kept])
        self._parts = [part for part in self._parts if len(part.number)]

    def nearest(self, Q: Any, k: int) -> Found:
        """The k nearest rows of each query; without queries, of each row among the others."""
        if len(self._parts) == 1 and not self._parts[0].gone:
            return self._parts[0].index.nearest(Q, k)
        own = Q is None
        queries = self.all_rows() if own else Q
        total: NearestRows | None = None
        wanted = k + own
        for part in self._parts:
            found = part.index.nearest(queries, min(wanted + part.gone, len(part.number)))
            number = part.number[found.index]
            distance = np.where(number < 0, np.inf, found.distance)
            mine = NearestRows(wanted, *_padded(distance, number, wanted))
            total = mine if total is None else total + mine
        assert total is not None
        if not own:
            return Found(total.distances, total.numbers)
        return without_own(Found(total.distances, total.numbers), np.arange(self.rows), k)

    def within(self, Q: Any, radius: Any, by_distance: bool) -> Lists:
        """All rows within a radius of each query."""
        if len(self._parts) == 1 and not self._parts[0].gone:
            return self._parts[0].index.within(Q, radius, by_distance=by_distance)
        own = Q is None
        queries = self.all_rows() if own else Q
        found = []
        for part in self._parts:
            lists = part.index.within(queries, radius)
            found.append(Lists(lists.start, part.number[lists.index], lists.distance))
        return merged(found, np.arange(self.rows) if own else None, by_distance)

    def all_rows(self) -> Any:
        """The rows in the order of their numbers."""
        joined: Any = None
        for part in self._parts:
            joined = part.X if joined is None else _joined(joined, part.X)
        numbers = np.concatenate([part.number for part in self._parts])
        order = np.argsort(numbers, kind="stable")
        return joined[order[numbers[order] >= 0]]


def _joined(one: Any, two: Any) -> Any:
    if hasattr(one, "toarray"):
        from scipy.sparse import vstack

        return vstack([one, two], format="csr")
    if isinstance(one, np.ndarray):
        return np.concatenate([one, two])
    items = "items" if hasattr(one, "items") else "values"  # of objects, or of coded cells
    return type(one)(np.concatenate([getattr(one, items), getattr(two, items)]))


def _padded(distance: Matrix, number: NDArray[np.int64], k: int) -> tuple[Matrix, NDArray[np.int64]]:
    missing = max(0, k - distance.shape[1])
    order = np.argsort(distance, axis=1, kind="stable")
    distance, number = np.take_along_axis(distance, order, 1), np.take_along_axis(number, order, 1)
    pad = ((0, 0), (0, missing))
    return (
        np.pad(distance, pad, constant_values=np.inf)[:, :k],
        np.pad(number, pad, constant_values=-1)[:, :k],
    )


def without_own(found: Found, own: NDArray[np.int64], k: int) -> Found:
    """Leave out the row that each query is; of k + 1 found, the last where it is not among them."""
    mine = found.index == own[:, None]
    mine[~mine.any(axis=1), -1] = True
    keep = ~mine
    return Found(found.distance[keep].reshape(-1, k), found.index[keep].reshape(-1, k))


def merged(lists: list[Lists], own: NDArray[np.int64] | None, by_distance: bool) -> Lists:
    """Join what the parts found for the same queries, in order of numbers or distances."""
    count = len(lists[0].start) - 1
    query = np.concatenate([np.repeat(np.arange(count), one.counts()) for one in lists])
    index = np.concatenate([one.index for one in lists])
    distance = np.concatenate([one.distance for one in lists])
    keep = index >= 0 if own is None else (index >= 0) & (index != own[query])
    query, index, distance = query[keep], index[keep], distance[keep]
    order = np.lexsort((index, distance, query) if by_distance else (index, query))
    start = np.concatenate([[0], np.cumsum(np.bincount(query, minlength=count))])
    return Lists(start.astype(np.int64), index[order], distance[order])


@dataclass(frozen=True)
class _Searching:
    """Compare queries with rows, all pairs of them; sent to where the rows are."""

    distance: Distance
    queries: Any

    def __call__(self, X: Any, k: int) -> tuple[Matrix, NDArray[np.int64]]:
        found = search.build(X, self.distance, algorithm="brute").nearest(self.queries, k)
        return found.distance, found.index


@dataclass(frozen=True)
class _Within:
    distance: Distance
    queries: Any
    radius: Any

    def __call__(self, batch: Any) -> Lists:
        found = search.build(batch.X, self.distance, algorithm="brute").within(self.queries, self.radius)
        return Lists(found.start, found.index + batch.start, found.distance)


class StreamedRows:
    """Rows that stay in their source: each question is a pass over it, in which nearest rows add up."""

    def __init__(self, source: Source, distance: Distance, rows: int, engine: Engine | None = None) -> None:
        self.source = source
        self.distance = distance
        self.rows = rows
        self._engine = choose_engine(source) if engine is None else engine

    def nearest(self, Q: Any, k: int) -> Found:
        """The k nearest rows of each query; without queries, of each row among the others."""
        if Q is None:
            found, start = [], 0
            for batch in self.source:
                own = np.arange(start, start + len(batch))
                found.append(without_own(self.nearest(batch.X, k + 1), own, k))
                start += len(batch)
            return Found(
                np.concatenate([one.distance for one in found]), np.concatenate([one.index for one in found])
            )
        queries = np.empty((length(Q), 0))  # only their number matters to the statistic
        of = partial(NearestRows.of, k=k, queries=queries, search=_Searching(self.distance, Q))
        total: Any = self._engine.accumulate(of, self.source)
        return Found(total.distances, total.numbers)

    def within(self, Q: Any, radius: Any, by_distance: bool) -> Lists:
        """All rows within a radius of each query."""
        if Q is None:
            blocks, start = [], 0
            for batch in self.source:
                found = self.within(batch.X, radius, by_distance)
                query = np.repeat(np.arange(len(batch)), found.counts()) + start
                blocks.append(found.kept(found.index != query))
                start += len(batch)
            counts = np.concatenate([block.counts() for block in blocks])
            return Lists(
                np.concatenate([[0], np.cumsum(counts)]),
                np.concatenate([block.index for block in blocks]),
                np.concatenate([block.distance for block in blocks]),
            )
        lists = list(self._engine.map(_Within(self.distance, Q, radius), self.source))
        return merged(lists, None, by_distance)


def _whole(Q: Matrix) -> Any:
    """Dense distances as a graph that keeps those of 0 too."""
    from scipy.sparse import csr_matrix

    n, m = Q.shape
    return csr_matrix((Q.ravel(), np.tile(np.arange(m), n), np.arange(0, n * m + 1, m)), shape=(n, m))


class GraphRows:
    """Distances that were computed before, kept for the near pairs alone: a sparse precomputed matrix."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.rows = int(graph.shape[1])

    def _lists(self, Q: Any, own: bool) -> Lists:
        from scipy.sparse import csr_matrix

        from surefit.core.errors import DataError

        graph = _whole(Q) if isinstance(Q, np.ndarray) else csr_matrix(self.graph if Q is None else Q)
        if graph.nnz and graph.data.min() < 0:
            raise DataError("Negative values in data passed to precomputed distance matrix.")
        query = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        lists = Lists(np.zeros(graph.shape[0] + 1, dtype=np.int64), graph.indices, graph.data)
        lists = Lists(
            graph.indptr.astype(np.int64), lists.index.astype(np.int64), lists.distance.astype(float)
        )
        if own:
            lists = lists.kept(lists.index != query)
            query = np.repeat(np.arange(graph.shape[0]), lists.counts())
        order = np.lexsort((lists.index, lists.distance, query))
        return Lists(lists.start, lists.index[order], lists.distance[order])

    def nearest(self, Q: Any, k: int) -> Found:
        """The k nearest of the pairs that are there."""
        from surefit.core.errors import DataError

        lists = self._lists(Q, Q is None)
        if (lists.counts() < k).any():
            raise DataError(
                f"{k} neighbors per samples are required, but some samples have only "
                f"{int(lists.counts().min())} neighbors in precomputed graph matrix. Decrease number of "
                "neighbors or recompute the graph with more neighbors."
            )
        at = lists.start[:-1, None] + np.arange(k)
        return Found(lists.distance[at], lists.index[at])

    def within(self, Q: Any, radius: Vector | float, by_distance: bool) -> Lists:
        """The pairs that are near enough."""
        lists = self._lists(Q, Q is None)
        return lists.kept(lists.distance <= radius)
