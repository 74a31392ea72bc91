"""Values kept as they are, for what no smaller statistic gives exactly: quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.native.select_rank import select_ranks
from surefit.data.batch import Batch
from surefit.metrics.centred import Vector, columns
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class Kept(Statistic):
    """The values of each output, and the weight of each row (None for ones): eight bytes an entry."""

    values: Vector
    weight: Vector | None

    @classmethod
    def of(cls, batch: Batch, *, values: Any = None, **context: Any) -> Kept:
        """Keep ``values``, (n,) or (n, k), of the rows that count."""
        table, weight = columns(values), batch.weight
        if weight is not None and not weight.all():
            table, weight = table[:, weight > 0], weight[weight > 0]
        return cls(table, weight)

    def __add__(self, other: Kept) -> Kept:
        weight = None
        if self.weight is not None or other.weight is not None:
            both = (part.values.shape[1] if part.weight is None else part.weight for part in (self, other))
            weight = np.concatenate([np.ones(w) if isinstance(w, int) else w for w in both])
        return Kept(np.concatenate([self.values, other.values], axis=1), weight)

    def quantile(self, share: float) -> Vector:
        """The quantile of each output: the value where the weight reaches the share; where it does so
        exactly, the middle of that value and the next.
        """
        if self.values.shape[1] == 0:
            return np.full(len(self.values), np.nan)
        return np.array([_quantile(column, self.weight, share) for column in self.values])


def _quantile(values: Vector, weight: Vector | None, share: float) -> float:
    if weight is None:
        place = share * len(values)
        low = max(int(np.ceil(place)) - 1, 0)
        high = min(low + (place == low + 1), len(values) - 1)
        first, second = select_ranks(np.ascontiguousarray(values), low, high)
        return (first + second) / 2
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    place = share * reached[-1]
    low = min(int(np.searchsorted(reached, place)), len(values) - 1) if place > 0 else 0
    # A share such as 1/2 of weights such as 0.1 is reached exactly up to the rounding of the sum.
    level = abs(reached[low] - place) <= np.finfo(np.float64).eps * reached[-1]
    high = min(low + int(level), len(values) - 1)
    return float((values[order[low]] + values[order[high]]) / 2)
