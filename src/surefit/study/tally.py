"""How often each value of a column occurs, and how many there are when there are too many to list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.study.hashing import Hashes, hash_cells

if TYPE_CHECKING:
    import pyarrow as pa

KEPT = 4096  # least hashes; they tell the number of distinct values to 1.6 % (one standard error)


class Tally:
    """Exact counts of up to ``most`` values; beyond that, the number of values from their least hashes.

    The k-th least of d even draws from [0, 1) lies at k / d. Which hashes are kept depends on the values
    alone, so that any order and cut of the rows gives the same number.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.counts: dict[Any, int] | None = {}
        self._least: Hashes = np.zeros(0, dtype=np.uint64)

    def see(self, cells: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
        """Take in cells, none of them missing; return the distinct ones and how often each occurs.

        Where there are too many to list, the cells themselves, each once.
        """
        if self.counts is None:
            self._hash(hash_cells(cells))
            return cells, np.ones(len(cells), dtype=np.int64)
        counted = cells.value_counts()
        values, counts = counted.field("values"), counted.field("counts").to_numpy(zero_copy_only=False)
        known = self.counts
        if len(values) <= self.most:
            for value, count in zip(values.to_pylist(), counts.tolist(), strict=True):
                known[value] = known.get(value, 0) + count
        if max(len(known), len(values)) > self.most:
            import pyarrow as pa

            self.counts = None
            self._hash(hash_cells(pa.array(list(known), type=values.type)))
            self._hash(hash_cells(values))
        return values, counts

    def _hash(self, hashes: Hashes) -> None:
        if len(self._least) == KEPT:
            hashes = hashes[hashes < self._least[-1]]
        ordered = np.sort(np.concatenate([self._least, hashes]))
        self._least = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]][:KEPT]

    @property
    def distinct(self) -> int:
        """How many values: exact while they are listed, and while all hashes are kept."""
        if self.counts is not None:
            return len(self.counts)
        if len(self._least) < KEPT:
            return len(self._least)
        return round((KEPT - 1) / (float(self._least[-1]) / 2.0**64))

    @property
    def exact(self) -> bool:
        """Whether ``distinct`` is no estimate."""
        return self.counts is not None or len(self._least) < KEPT
