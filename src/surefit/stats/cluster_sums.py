"""The sums of the rows nearest to each centre: one pass of k-means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.centres.cluster_sums import cluster_cost, cluster_sums
from surefit.core.native.centres.nearest_centre import nearest_centre
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial

_BLOCK = 2**20  # cells of a sparse table that are filled at a time


def dense_blocks(X: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
    """The rows in C order: those of a dense table at once, those of a sparse one some at a time."""
    if isinstance(X, np.ndarray):
        yield slice(0, len(X)), np.ascontiguousarray(X)
        return
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        rows = slice(start, min(start + step, X.shape[0]))
        yield rows, np.ascontiguousarray(X[rows].toarray())


@dataclass(frozen=True, slots=True)
class ClusterSums(Statistic):
    """For each centre, the sums of the columns, and of the weights, of the rows that it is nearest to.

    A row at the same distance from several goes to the first. The sums are ``high + low``, to twice double
    precision, one row a centre with its weight last; ``cost`` is the weighted sum of squared distances.

    >>> batch = Batch(np.array([[0.0], [1.0], [9.0]]))
    >>> ClusterSums.of(batch, centres=np.array([[0.0], [10.0]])).high.tolist()
    [[1.0, 2.0], [9.0, 1.0]]
    """

    name = "cluster-sums"

    high: NDArray[np.float64]
    low: NDArray[np.float64]
    cost: float

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(cls, batch: Batch, *, centres: Any = None, **context: Any) -> ClusterSums:
        """Compute it over some rows."""
        high = np.zeros((len(centres), centres.shape[1] + 1))
        low, cost = np.zeros_like(high), 0.0
        for rows, block in dense_blocks(batch.X):
            labels = np.zeros(len(block), dtype=np.int32)
            nearest_centre(block, centres, labels)
            weight = None if batch.weight is None else batch.weight[rows]
            cluster_sums(block, weight, None, labels, high, low)
            cost += cluster_cost(block, weight, centres, labels)
        return cls(high, low, cost)

    def __add__(self, other: ClusterSums) -> ClusterSums:
        high = self.high + other.high
        part = high - self.high
        low = self.low + other.low + ((self.high - (high - part)) + (other.high - part))
        return ClusterSums(high, low, self.cost + other.cost)

    def distance(self, other: Statistic) -> float:
        """As for any statistic, with the two parts of a sum together."""
        assert isinstance(other, ClusterSums)
        size = max(float(np.abs(self.high).max()), self.cost, 1e-300)
        gap = np.abs((self.high - other.high) + (self.low - other.low)).max()
        return float(max(gap, abs(self.cost - other.cost)) / size)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Dense and sparse rows, about three centres, two of which are the same."""
        context = {"centres": np.array([[3.0, 3.0, 3.0, 3.0], [0.0, 5.0, 3.0, 1.0], [0.0, 5.0, 3.0, 1.0]])}
        return Trial("numbers", context), Trial("sparse", context)
