"""Which rows of a source belong to a fold, told from their numbers alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class RowRule:
    """Rows are cut into blocks, and of each run of ``folds`` blocks every fold gets one: in turn, or in an
    order drawn from ``seed``. The rule keeps the rows of one fold, or, with ``others``, all the rest.

    >>> RowRule(folds=3, fold=1, others=True).keeps(0, 7).astype(int)
    array([1, 0, 1, 1, 0, 1, 1])
    """

    folds: int
    fold: int
    others: bool
    block: int = 1
    seed: int | None = None

    def keeps(self, start: int, count: int) -> NDArray[np.bool_]:
        """Which of the ``count`` rows from number ``start`` on are kept."""
        blocks = np.arange(start, start + count) // self.block
        if self.seed is None:
            fold = blocks % self.folds
        else:
            first, last = (start // self.block) // self.folds, (start + count - 1) // self.block // self.folds
            fold = self._drawn(first, last + 1)[blocks - first * self.folds]
        return (fold == self.fold) != self.others

    def kept_before(self, row: int) -> int:
        """How many of the rows before this one are kept."""
        runs, rest = divmod(row, self.folds * self.block)
        in_a_run = self.block * (self.folds - 1 if self.others else 1)
        tail = self.keeps(row - rest, rest) if rest else np.zeros(0, dtype=bool)
        return runs * in_a_run + int(np.count_nonzero(tail))

    def _drawn(self, first: int, stop: int) -> NDArray[np.intp]:
        """The fold of each block of some runs: in every run, the order of the blocks' hashes."""
        blocks = np.arange(first * self.folds, stop * self.folds, dtype=np.uint64)
        keys = _mixed(_mixed(blocks) ^ np.uint64((self.seed or 0) % 2**64))
        return np.argsort(keys.reshape(-1, self.folds), axis=1).ravel()


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of 64 bits, that of splitmix64: any row can be looked up without drawing those before it."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
