"""The sums of all rows at each centre, by how much they belong to it: one pass of fuzzy c-means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.native.centres.fuzzy_step import fuzzy_step, fuzzy_step_twin
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial
from surefit.stats.cluster_sums import dense_blocks


@dataclass(frozen=True, slots=True)
class FuzzySums(Statistic):
    """For each centre the sums of s r^m x, with that of s r^m last, and the weighted cost."""

    name = "fuzzy-sums"

    sums: NDArray[np.float64]
    cost: float

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(
        cls, batch: Batch, *, centres: Any = None, power: float = 2.0, plain: bool = False, **context: Any
    ) -> FuzzySums:
        """Compute it over some rows; ``plain``: by the twin of the kernel."""
        sums, cost = np.zeros((len(centres), centres.shape[1] + 1)), 0.0
        step = fuzzy_step_twin if plain else fuzzy_step
        for rows, block in dense_blocks(batch.X):
            size = len(block) if not plain else max(1, 2**22 // centres.size)
            for start in range(0, len(block), max(size, 1)):
                some = slice(start, start + size)
                weight = None if batch.weight is None else batch.weight[rows][some]
                more, part = step(np.ascontiguousarray(block[some]), weight, centres, power)
                sums, cost = sums + more, cost + part
        return cls(sums, cost)

    def __add__(self, other: FuzzySums) -> FuzzySums:
        return FuzzySums(self.sums + other.sums, self.cost + other.cost)

    def means(self, centres: Matrix) -> Matrix:
        """The next centres; one that nothing belongs to stays where it is."""
        weight = self.sums[:, -1:]
        found: Matrix = np.where(weight > 0, self.sums[:, :-1] / np.where(weight > 0, weight, 1.0), centres)
        return found

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Dense and sparse rows, about two centres."""
        context = {"centres": np.array([[3.0, 3.0, 3.0, 3.0], [0.0, 5.0, 3.0, 1.0]]), "power": 1.7}
        return Trial("numbers", context), Trial("sparse", context)
