"""The target alone, as a loss sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import SquaredTrial, Trial


@dataclass(frozen=True, slots=True)
class TargetSums(Statistic):
    """Sum of the targets, and of the least loss that each row could have.

    total: one number an output. floor: the sum of s_i inf_z f(y_i, z), which no scores go below. offset: the
    sum of what is added to the scores.

    >>> TargetSums.of(Batch(np.zeros((2, 1)), np.array([1.0, 4.0])), loss=SquaredTrial())
    TargetSums(weight=2.0, total=array([5.]), floor=0.0, offset=0.0)
    """

    name = "target_sums"

    weight: float
    total: NDArray[np.float64]
    floor: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(cls, batch: Batch, *, loss: Any = None, **context: Any) -> TargetSums:
        """Sum the targets of some rows, and the least losses that they allow."""
        y: Any = batch.y
        s = np.ones(len(batch)) if batch.weight is None else batch.weight
        counts = s > 0
        added = 0.0 if batch.offset is None else float(s @ batch.offset)
        y, s = y[counts], s[counts]
        columns = np.asarray(y, dtype=np.float64)
        columns = columns[:, None] if columns.ndim == 1 else columns
        return cls(float(s.sum()), s @ columns, float(s @ loss.least(y)), added)

    def __add__(self, other: TargetSums) -> TargetSums:
        return TargetSums(
            self.weight + other.weight,
            self.total + other.total,
            self.floor + other.floor,
            self.offset + other.offset,
        )

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """One target and several."""
        return (
            Trial("numbers", {"loss": SquaredTrial()}),
            Trial("targets", {"loss": SquaredTrial()}),
        )
