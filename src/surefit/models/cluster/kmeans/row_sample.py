"""Rows drawn at random from a table that is read in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.centres.cluster_sums import cluster_cost
from surefit.core.native.centres.nearest_centre import nearest_centre
from surefit.data.batches.batch import Batch
from surefit.stats.cluster_sums import dense_blocks


def row_chances(numbers: NDArray[Any], seed: int) -> NDArray[np.float64]:
    """Uniform numbers in (0, 1), decided by the numbers of the rows and a seed alone (splitmix64)."""
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + np.uint64(seed % 2**64)) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return ((z >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


@dataclass(frozen=True, slots=True)
class RowSample:
    r"""``count`` rows drawn without replacement, in row order, with their weights.

    Chances are proportional to the weights, or with ``centres`` to weight times squared distance to the
    nearest of them: of all rows those with the least :math:`-\log(u_i) / w_i` are kept (Efraimidis and
    Spirakis). Rows without weight, or at distance 0, are never drawn; where there are no more than ``count``
    others, all are.

    >>> RowSample.of(Batch(np.array([[2.0], [5.0], [1.0]])), count=2, seed=3).X.shape
    (2, 1)
    """

    count: int
    numbers: NDArray[np.int64]
    keys: NDArray[np.float64]
    X: NDArray[np.float64]
    weight: NDArray[np.float64]
    seen: int

    @classmethod
    def of(
        cls, batch: Batch, *, count: int = 10, seed: int = 0, centres: Any = None, **context: Any
    ) -> RowSample:
        """Draw from some rows."""
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        numbers = batch.start + np.arange(len(batch))
        share = weight.copy()
        if centres is not None:
            for rows, block in dense_blocks(batch.X):
                labels, squares = np.zeros(len(block), np.int32), np.empty(len(block))
                nearest_centre(block, centres, labels)
                cluster_cost(block, None, centres, labels, squares)
                share[rows] *= squares
        with np.errstate(divide="ignore"):
            keys = -np.log(row_chances(numbers, seed)) / share
        counted = np.flatnonzero(share > 0)
        kept = counted[np.sort(np.argsort(keys[counted], kind="stable")[:count])]
        X: Any = batch.X[kept]  # type: ignore[index]
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        return cls(count, numbers[kept], keys[kept], dense, weight[kept], len(counted))

    def __add__(self, other: RowSample) -> RowSample:
        keys = np.concatenate([self.keys, other.keys])
        numbers = np.concatenate([self.numbers, other.numbers])
        best = np.lexsort((numbers, keys))[: self.count]
        kept = best[np.argsort(numbers[best], kind="stable")]
        return RowSample(
            self.count,
            numbers[kept],
            keys[kept],
            np.concatenate([self.X, other.X])[kept],
            np.concatenate([self.weight, other.weight])[kept],
            self.seen + other.seen,
        )
