"""How much weight each class has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batch import Batch
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class ClassWeights(Statistic):
    """The sum of weights of each class code, and the number of rows."""

    name = "class-weights"

    rows: int
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch, *, classes: int = 0, **context: Any) -> ClassWeights:
        """Count the codes of the target; ``classes`` is how many there are in all."""
        if batch.y is None:
            raise ValueError("the batch has no target.")
        return cls(len(batch), np.bincount(batch.y, batch.weight, minlength=classes).astype(np.float64))

    def __add__(self, other: ClassWeights) -> ClassWeights:
        size = max(len(self.weights), len(other.weights))
        total = np.zeros(size)
        total[: len(self.weights)] += self.weights
        total[: len(other.weights)] += other.weights
        return ClassWeights(self.rows + other.rows, total)
