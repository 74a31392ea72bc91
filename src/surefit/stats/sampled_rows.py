"""Some rows of a table, drawn without regard to where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class SampledRows(Statistic):
    """At most ``most`` different rows, each with its weight: those whose cells hash to the least numbers.

    So the sample does not depend on the order of rows, nor on how they were cut into pieces, and a row that
    stands twice is one of weight 2.
    """

    name = "sampled-rows"
    rows: int
    most: int
    keys: Vector
    X: Matrix
    weight: Vector

    @classmethod
    def of(cls, batch: Batch, *, most: int = 20_000, **context: Any) -> SampledRows:
        """Draw from a batch of numbers."""
        X: Any = batch.X
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        dense = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        return cls._least(len(batch), most, _hashed(dense), dense, weight)

    @classmethod
    def _least(cls, rows: int, most: int, keys: Vector, X: Matrix, weight: Vector) -> SampledRows:
        counted = np.flatnonzero(weight > 0)
        if len(counted) > most:
            found = np.unique(keys[counted])
            counted = counted[keys[counted] <= found[min(most, len(found)) - 1]]
        counted = counted[np.lexsort((*X[counted].T[::-1], keys[counted]))]
        bits = (X[counted] + 0.0).view(np.uint64)  # 0 and -0 are the same cell
        fresh = np.ones(len(counted), dtype=bool)
        fresh[1:] = (bits[1:] != bits[:-1]).any(axis=1)
        starts = np.flatnonzero(fresh)
        total = np.add.reduceat(weight[counted], starts) if len(starts) else np.zeros(0)
        first = counted[starts]
        return cls(rows, most, keys[first], X[first], total)

    def __add__(self, other: SampledRows) -> SampledRows:
        if self.X.shape[1] != other.X.shape[1]:  # no rows may have no columns
            return other if len(self.X) == 0 else self
        keys = np.concatenate([self.keys, other.keys])
        X, weight = np.concatenate([self.X, other.X]), np.concatenate([self.weight, other.weight])
        return self._least(self.rows + other.rows, self.most, keys, X, weight)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Rows with and without gaps; few enough to be kept, so that the distance sees each."""
        return Trial("numbers"), Trial("gaps")


def _hashed(X: Matrix) -> Vector:
    """A fraction for each row that looks random and depends on its cells alone (SplitMix64's finaliser)."""
    bits: NDArray[np.uint64] = (X + 0.0).view(np.uint64)  # 0 and -0 are the same cell
    with np.errstate(over="ignore"):
        odd = np.arange(1, X.shape[1] + 1, dtype=np.uint64) * _ODD | np.uint64(1)
        z = (bits ^ (bits >> np.uint64(29))) @ odd if X.shape[1] else np.zeros(len(X), dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    found: Vector = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found
