"""How often each row of a source is taken, told from its number: draws with replacement, read in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 16  # rows that are counted beforehand


@dataclass(frozen=True, slots=True)
class CountRule:
    """Takes each row so many times, at a byte a row where none is drawn more than 255 times.

    >>> rule = CountRule.of(np.array([3, 0, 3, 4]), 6)
    >>> rule.keeps(2, 3).tolist(), rule.kept_before(4)
    ([0, 2, 1], 3)
    """

    counts: NDArray[Any]
    before: NDArray[np.int64]  # rows taken before each piece

    @classmethod
    def of(cls, rows: NDArray[Any], count: int) -> CountRule:
        """The rule of row numbers, drawn from ``count`` rows."""
        counts = np.bincount(rows, minlength=count)
        pieces = np.add.reduceat(counts, np.arange(0, count, PIECE), dtype=np.int64)
        return cls(counts.astype(np.min_scalar_type(counts.max())), np.append(0, np.cumsum(pieces)))

    def keeps(self, start: int, count: int) -> NDArray[Any]:
        """How often each of the ``count`` rows from number ``start`` on is taken."""
        return self.counts[start : start + count]

    def kept_before(self, row: int) -> int:
        """How many rows are taken before this one."""
        piece = row // PIECE
        return int(self.before[piece]) + int(self.counts[piece * PIECE : row].sum(dtype=np.int64))
