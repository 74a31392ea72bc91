"""The contract of an index, and what its answers are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.distances.base import Distance

CELLS = 2**22  # distances that are held at once


@dataclass(frozen=True, slots=True)
class Found:
    """The distances of the nearest rows of each query, and their numbers, both (m, k), the nearest first."""

    distance: Matrix
    index: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lists:
    """What each query found: rows and distances from ``start[i]`` to ``start[i + 1]``."""

    start: NDArray[np.int64]
    index: NDArray[np.int64]
    distance: Vector

    def counts(self) -> NDArray[np.int64]:
        """How many each query found."""
        return np.diff(self.start)

    def split(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Two arrays of arrays, one a query: distances and numbers."""
        distance, index = (
            np.empty(len(self.start) - 1, dtype=object),
            np.empty(len(self.start) - 1, dtype=object),
        )
        for i in range(len(distance)):
            mine = slice(self.start[i], self.start[i + 1])
            distance[i], index[i] = self.distance[mine], self.index[mine]
        return distance, index

    def kept(self, mask: NDArray[np.bool_]) -> Lists:
        """Leave out entries."""
        before = np.concatenate([[0], np.cumsum(mask)])
        return Lists(before[self.start], self.index[mask], self.distance[mask])


class Index(ABC):
    """Rows that can be asked who is near.

    distance: fitted to the rows. algorithm: "brute", "kd_tree" or "ball_tree"; why: how it was chosen.
    """

    def __init__(self, rows: int, distance: Distance, algorithm: str, why: str) -> None:
        self.rows = rows
        self.distance = distance
        self.algorithm = algorithm
        self.why = why

    def nearest(self, Q: Any = None, k: int = 1) -> Found:
        """Return the k nearest rows of each query; without queries, of each row among the others."""
        most = self.rows - (Q is None)
        if not 1 <= k <= most:
            raise DataError(f"k={k} nearest rows were asked for, and there are {most}.")
        return self._nearest(None if Q is None else self.distance.inputs(Q), k)

    def within(self, Q: Any = None, radius: float | Vector = 1.0, *, by_distance: bool = False) -> Lists:
        """Return all rows at most ``radius`` away (one for all, or one a query), by number or by distance."""
        queries = None if Q is None else self.distance.inputs(Q)
        count = self.rows if queries is None else int(queries.shape[0])
        limit = np.ascontiguousarray(np.broadcast_to(np.asarray(radius, dtype=np.float64), (count,)))
        return self._within(queries, limit, by_distance)

    @abstractmethod
    def _nearest(self, Q: Any, k: int) -> Found:
        """Search for checked queries; None: for the rows themselves."""

    @abstractmethod
    def _within(self, Q: Any, radius: Vector, by_distance: bool) -> Lists:
        """Search for checked queries; None: for the rows themselves."""

    def nearest_graph(
        self, k: int, Q: Any = None, *, mode: Literal["distance", "connectivity"] = "distance"
    ) -> csr_matrix:
        """Return the graph from queries, or from the rows themselves, to their k nearest rows."""
        found = self.nearest(Q, k)
        values = found.distance.ravel() if mode == "distance" else np.ones(found.index.size)
        start = np.arange(0, found.index.size + 1, k)
        return csr_matrix((values, found.index.ravel(), start), shape=(len(found.index), self.rows))

    def radius_graph(
        self, radius: float, Q: Any = None, *, mode: Literal["distance", "connectivity"] = "distance"
    ) -> csr_matrix:
        """Return the graph from queries, or from the rows themselves, to all rows within a radius."""
        found = self.within(Q, radius)
        values = found.distance if mode == "distance" else np.ones(len(found.index))
        return csr_matrix((values, found.index, found.start), shape=(len(found.start) - 1, self.rows))

    def __str__(self) -> str:
        return f"{self.algorithm}, {self.distance!r}: {self.why}"
