"""Searching by values of a distance alone: by blocks of the matrix of all pairs, or in a tree that spares
calls.

Each node of the tree holds one of its things, the vantage point, and cuts the others at their median distance
from it. A query knows its distance from the vantage point, so by the triangle inequality it skips a side that
lies too near or too far.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native.sums.topk import top_k
from surefit.distances.base import Distance, length
from surefit.distances.search.index import CELLS, Found, Index, Lists

_ROUNDING = 1e-12  # relative, by which sums of distances may miss the triangle inequality


class MatrixIndex(Index):
    """Things whose distances are asked for, all pairs of them."""

    def __init__(self, X: Any, distance: Distance, why: str) -> None:
        super().__init__(int(X.shape[1]) if distance.takes == "pairs" else length(X), distance, "brute", why)
        self._X = X

    def _blocks(self, Q: Any) -> Any:
        """Yield the first query of each block and the distances of its queries."""
        queries = self._X if Q is None else Q
        step = max(1, CELLS // max(1, self.rows))
        for start in range(0, length(queries), step):
            found = np.array(self.distance.between(queries[start : start + step], self._X), dtype=np.float64)
            if Q is None:  # NaN comes after every number
                found[np.arange(len(found)), start + np.arange(len(found))] = np.nan
            yield start, found

    def _nearest(self, Q: Any, k: int) -> Found:
        chosen = [top_k(block, k) for _, block in self._blocks(Q)]
        empty = np.empty((0, k))
        return Found(
            np.concatenate([empty, *(one.value for one in chosen)]),
            np.concatenate([empty.astype(np.int64), *(one.index for one in chosen)]),
        )

    def _within(self, Q: Any, radius: Vector, by_distance: bool) -> Lists:
        counts, index, distance = [np.zeros(1, dtype=np.int64)], [], []
        for start, block in self._blocks(Q):
            row, column = np.nonzero(block <= radius[start : start + len(block), None])
            values = block[row, column]
            if by_distance:
                order = np.lexsort((column, values, row))
                column, values = column[order], values[order]
            counts.append(np.bincount(row, minlength=len(block)))
            index.append(column)
            distance.append(values)
        return Lists(
            np.cumsum(np.concatenate(counts)),
            np.concatenate([np.empty(0, dtype=np.int64), *index]).astype(np.int64),
            np.concatenate([np.empty(0), *distance]),
        )


@dataclass(frozen=True, slots=True)
class _Node:
    """Things and, of an inner node, the one they are cut around and how far the two sides are from it."""

    rows: NDArray[np.int64]
    vantage: int = -1
    near: _Node | None = None
    far: _Node | None = None
    spans: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # of near, least and most; of far


class MetricTree(Index):
    """Things compared by a true metric, in a tree of vantage points."""

    def __init__(self, X: Any, distance: Distance, why: str, leaf_size: int = 30) -> None:
        super().__init__(length(X), distance, "ball_tree", why)
        self._X = X
        self._leaf = max(leaf_size, 2)
        self.calls = 0
        self._root = self._grown(np.arange(self.rows))

    def _from(self, thing: Any, rows: NDArray[np.int64]) -> Vector:
        self.calls += len(rows)
        return np.asarray(self.distance.between(thing, self._X[rows])[0], dtype=np.float64)

    def _grown(self, rows: NDArray[np.int64]) -> _Node:
        if len(rows) <= self._leaf:
            return _Node(rows)
        vantage, others = int(rows[len(rows) // 2]), np.delete(rows, len(rows) // 2)
        distance = self._from(self._X[vantage : vantage + 1], others)
        order = np.argsort(distance, kind="stable")
        half = len(order) // 2
        low, high = order[:half], order[half:]
        least, low_end, high_start, most = (float(distance[order[i]]) for i in (0, half - 1, half, -1))
        near, far = self._grown(np.sort(others[low])), self._grown(np.sort(others[high]))
        return _Node(rows, vantage, near, far, (least, low_end, high_start, most))

    def _search(self, query: Any, own: int, k: int | None, radius: float) -> list[tuple[float, int]]:
        """Return (distance, row) in order: the k nearest, or all within the radius."""
        kept: list[tuple[float, int]] = []

        def bound() -> float:
            return radius if k is None else (kept[-1][0] if len(kept) == k else np.inf)

        def offer(distances: Vector, rows: Any) -> None:
            for far, row in zip(distances.tolist(), rows.tolist(), strict=True):
                if far <= bound() and row != own:
                    insort(kept, (far, row))
                    if k is not None:
                        del kept[k:]

        waiting: list[tuple[float, _Node]] = [(0.0, self._root)]
        while waiting:
            least, node = waiting.pop()
            if least > bound():
                continue
            if node.near is None or node.far is None:
                offer(self._from(query, node.rows), node.rows)
                continue
            here = float(self._from(query, np.array([node.vantage]))[0])
            offer(np.array([here]), np.array([node.vantage]))
            sides = []
            for side, low, high in ((node.near, *node.spans[:2]), (node.far, *node.spans[2:])):
                gap = max(low - here, here - high, 0.0)
                sides.append((max(least, gap - _ROUNDING * (here + high)), side))
            waiting.extend(sorted(sides, key=lambda side: -side[0]))
        return kept

    def _lists(self, Q: Any, k: int | None, radius: Vector | None) -> list[list[tuple[float, int]]]:
        queries = self._X if Q is None else Q
        return [
            self._search(
                queries[i : i + 1], i if Q is None else -1, k, np.inf if radius is None else float(radius[i])
            )
            for i in range(length(queries))
        ]

    def _nearest(self, Q: Any, k: int) -> Found:
        found = self._lists(Q, k, None)
        distance = np.array([[far for far, _ in mine] for mine in found], dtype=np.float64).reshape(-1, k)
        return Found(
            distance, np.array([[row for _, row in mine] for mine in found], dtype=np.int64).reshape(-1, k)
        )

    def _within(self, Q: Any, radius: Vector, by_distance: bool) -> Lists:
        found = self._lists(Q, None, radius)
        if not by_distance:
            found = [sorted(mine, key=lambda entry: entry[1]) for mine in found]
        flat = [entry for mine in found for entry in mine]
        return Lists(
            np.cumsum([0, *map(len, found)]),
            np.array([row for _, row in flat], dtype=np.int64),
            np.array([far for far, _ in flat], dtype=np.float64),
        )
