"""k-means on a line, exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError
from surefit.core.parameters import Count, WholeNumber
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.cluster.kmeans.base import (
    CentreModel,
    CentreParameters,
    HalfSteps,
    check_count,
    recomputed,
    scale_of,
    warn_of_duplicates,
)
from surefit.models.cluster.kmeans.passes import nearest_of
from surefit.models.cluster.kmeans.starts import distinct_rows
from surefit.models.rows_in_memory import gathered
from surefit.stats.cluster_sums import dense_blocks
from surefit.stats.spread import Spread

SMALL = 1500  # different values, up to which verification looks at every partition


class KMeans1D(CentreModel):
    r"""Find the k intervals of a line with the least :math:`\sum_i s_i (x_i - c_{k(i)})^2`, by dynamic
    programme.

    Clusters of the best solution are intervals, so with :math:`w(i, j)` the cost of the sorted values i to j
    as one cluster, :math:`D_k(j) = \min_i D_{k-1}(i) + w(i + 1, j)`; the best i grows with j, so that all of
    them are found in :math:`O(k n \log n)`. No start, no local minimum. column: which one of a
    table. Clusters are numbered from left to
    right.

    The certificate is that of an optimum: for up to 1500 different values, verification searches all
    partitions without that short cut; beyond, that no value and no centre is better elsewhere.

    >>> from surefit import KMeans1D
    >>> KMeans1D(2).fit([[0.0], [1.0], [9.0], [10.0]]).cluster_centers_.ravel().tolist()
    [0.5, 9.5]
    """

    tol = 0.0

    def __init__(self, n_clusters: Count = 8, *, column: WholeNumber = 0) -> None:
        self.n_clusters = n_clusters
        self.column = column

    def _seen(self, X: Any) -> Any:
        return X[:, [self.column]]

    def _values(self, source: Source) -> tuple[Vector, Vector, Batch]:
        """The different values that count, in order, with their weights; and the column of all rows."""
        width = source.schema.width
        if self.column >= width:
            raise ParameterError(
                f"{type(self).__name__}: there is no column {self.column}, but only {width}."
            )
        batch = gathered(source)
        seen: Any = self._seen(batch.X)
        x = np.asarray(seen.toarray() if hasattr(seen, "toarray") else seen, dtype=np.float64)
        values, weight, _ = distinct_rows(x, batch.weight)
        return values[:, 0], weight, replace(batch, X=np.ascontiguousarray(x))

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        x, weight, every = self._values(source)
        check_count(type(self).__name__, int((weight_of(every) > 0).sum()), self.n_clusters)
        segments = Segments(x, weight)
        clusters = min(self.n_clusters, len(x))
        starts = segments.best(clusters)
        total = np.add.reduceat(weight, starts)
        centres = segments.origin + np.add.reduceat(weight * (x - segments.origin), starts) / total
        missing = self.n_clusters - clusters
        centres = np.concatenate([centres, np.repeat(centres[-1:], missing)])[:, None]
        total = np.concatenate([total, np.zeros(missing)])
        labels = np.concatenate([nearest_of(centres, block) for _, block in dense_blocks(every.X)])
        cost = float(weight_of(every) @ np.square(np.asarray(every.X)[:, 0] - centres[labels, 0]))
        warn_of_duplicates(type(self).__name__, total)
        return Learned(CentreParameters(centres, labels, cost, 1, total), self._stated(0.0, {}))

    def _certificate_of(self, steps: HalfSteps, spread: Spread) -> Certificate:
        found = recomputed(self, steps, scale_of(spread), 0.0)
        return self._stated(found.value, dict(found.parts))

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        x, weight, every = self._values(source)
        found = super()._certify(ArraySource(Schema(1, None, len(every)), every), engine)
        if len(x) > SMALL or not found.holds:
            return found
        segments = Segments(x, weight)
        least = segments.by_all_partitions(min(self.n_clusters, len(x)))
        size = max(float(weight @ np.square(x - segments.origin)), 1e-300)
        excess = abs(self.inertia_ - least) / size / 1e-9
        return self._stated(max(found.value, excess), {**found.parts, "excess over all partitions": excess})

    @staticmethod
    def _stated(value: float, parts: dict[str, float]) -> Certificate:
        return Certificate(
            "optimal", "the cost over the least, over what rounding may change", value, 1.0, parts
        )


def weight_of(batch: Batch) -> Vector:
    """The weights of a batch, ones where it has none."""
    return np.ones(len(batch)) if batch.weight is None else batch.weight


class Segments:
    """Costs of runs of sorted values, each as one cluster, and the best ways to cut all into k of them."""

    def __init__(self, x: Vector, weight: Vector) -> None:
        self.origin = float(np.average(x, weights=weight))
        shifted = x - self.origin
        self._weight = np.concatenate([[0.0], np.cumsum(weight)])
        self._sum = np.concatenate([[0.0], np.cumsum(weight * shifted)])
        self._square = np.concatenate([[0.0], np.cumsum(weight * shifted**2)])

    def cost(self, start: NDArray[Any], end: NDArray[Any]) -> Vector:
        """Of values ``start`` to ``end - 1``; 0 where there is none."""
        W, S = self._weight[end] - self._weight[start], self._sum[end] - self._sum[start]
        spread = self._square[end] - self._square[start]
        found: Vector = spread - np.divide(S * S, W, out=np.zeros_like(S), where=W > 0)
        return np.where(end - start <= 1, 0.0, np.maximum(found, 0.0))

    def best(self, k: int) -> NDArray[np.intp]:
        """Where each of k runs begins."""
        n = len(self._weight) - 1
        ends = np.arange(n + 1)
        least = self.cost(np.zeros(n + 1, dtype=np.intp), ends)
        cuts = []
        for clusters in range(2, k + 1):
            least, cut = self._layer(least, clusters)
            cuts.append(cut)
        starts, end = [], n
        for cut in reversed(cuts):
            end = int(cut[end])
            starts.append(end)
        return np.array([0, *reversed(starts)], dtype=np.intp)

    def _layer(self, before: Vector, clusters: int) -> tuple[Vector, NDArray[np.intp]]:
        """The least cost of the first j values in so many runs, for every j, and where the last run begins.

        The best beginning grows with j: that of the middle j bounds those on either side, level by level.
        """
        n = len(before) - 1
        least, cut = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.intp)
        low, high = np.array([clusters]), np.array([n])  # of j, for each piece of a level
        left, right = np.array([clusters - 1]), np.array([n - 1])  # of the beginnings
        while len(low):
            middle = (low + high) // 2
            first, last = left, np.minimum(right, middle - 1)
            sizes = last - first + 1
            offsets = np.concatenate([[0], np.cumsum(sizes)])
            piece = np.repeat(np.arange(len(middle)), sizes)
            begin = np.arange(offsets[-1]) - offsets[piece] + first[piece]
            total = before[begin] + self.cost(begin, middle[piece])
            least[middle] = np.minimum.reduceat(total, offsets[:-1])
            hit = np.flatnonzero(total == least[middle][piece])
            _, earliest = np.unique(piece[hit], return_index=True)
            cut[middle] = begin[hit[earliest]]
            best = cut[middle]
            below, above = low < middle, middle < high
            low, high, left, right = (
                np.concatenate([low[below], middle[above] + 1]),
                np.concatenate([middle[below] - 1, high[above]]),
                np.concatenate([left[below], best[above]]),
                np.concatenate([best[below], right[above]]),
            )
        return least, cut

    def by_all_partitions(self, k: int) -> float:
        """The least cost, by trying every beginning of every run."""
        n = len(self._weight) - 1
        begin, end = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        costs = np.where(begin < end, self.cost(np.minimum(begin, end), end), np.inf)
        least = np.concatenate([[0.0], costs[0, 1:]])
        for _ in range(k - 1):
            least = (np.where(np.arange(n + 1) > 0, least, np.inf)[:, None] + costs).min(axis=0)
        return float(least[-1])
