"""How much weight each class has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial


@dataclass(frozen=True, slots=True)
class ClassWeights(Statistic):
    """The sum of weights of each class code, and the number of rows with positive weight."""

    name = "class-weights"

    rows: int
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch, *, classes: int = 0, **context: Any) -> ClassWeights:
        """Count the codes of the target; ``classes`` is how many there are in all."""
        if batch.y is None:
            raise ValueError("the batch has no target.")
        rows = len(batch) if batch.weight is None else int(np.count_nonzero(batch.weight))
        return cls(rows, np.bincount(batch.y, batch.weight, minlength=classes).astype(np.float64))

    def __add__(self, other: ClassWeights) -> ClassWeights:
        longer, shorter = sorted((self.weights, other.weights), key=len, reverse=True)
        total = longer.copy()
        total[: len(shorter)] += shorter
        return ClassWeights(self.rows + other.rows, total)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Class codes, whose number is known or not."""
        return Trial("classes", {"classes": 3}), Trial("classes")
