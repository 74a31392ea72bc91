"""Rows and columns that are copies of others, told by their hashes as a table passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefit.study.table.hashing import Hashes, combined, hash_cells, stirred

if TYPE_CHECKING:
    import pyarrow as pa

KEPT = 2_000_000  # hashes of rows; of more rows, those of the least hashes, which copies share


class Copies:
    """Watches a table for rows that come twice, columns that say the same, and gaps that come together."""

    def __init__(self, names: Sequence[str], target: str | None) -> None:
        self.names = tuple(names)
        self.target = target
        self.rows = 0
        self.empty_rows = 0
        self.prints = np.zeros(len(names), dtype=np.uint64)  # of the values of each column, by row
        self.gap_prints = np.zeros(len(names), dtype=np.uint64)  # of where each column is empty
        self._features: list[Hashes] = []
        self._targets: list[Hashes] = []
        self._below = np.uint64(2**64 - 1)

    def see(self, batch: pa.RecordBatch, start: int) -> None:
        """Take in a batch; start: the number of its first row."""
        numbers = stirred(np.arange(start, start + batch.num_rows, dtype=np.uint64) + np.uint64(1))
        features = np.zeros(batch.num_rows, dtype=np.uint64)
        answer = np.zeros(batch.num_rows, dtype=np.uint64)
        empty = np.ones(batch.num_rows, dtype=bool)
        for place, name in enumerate(self.names):
            cells = batch.column(name)
            gone = cells.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
            hashes = hash_cells(cells)
            empty &= gone
            with np.errstate(over="ignore"):
                self.prints[place] += combined(numbers, hashes).sum(dtype=np.uint64)
                self.gap_prints[place] += numbers[gone].sum(dtype=np.uint64)
            if name == self.target:
                answer = hashes
            else:
                features = combined(features, hashes)
        self.rows += batch.num_rows
        self.empty_rows += int(empty.sum())
        self._keep(features, answer)

    def _keep(self, features: Hashes, answer: Hashes) -> None:
        near = features <= self._below
        self._features.append(features[near])
        self._targets.append(answer[near])
        while sum(map(len, self._features)) > KEPT:
            self._below //= np.uint64(2)
            kept = [each <= self._below for each in self._features]
            self._targets = [each[rows] for each, rows in zip(self._targets, kept, strict=True)]
            self._features = [each[rows] for each, rows in zip(self._features, kept, strict=True)]

    @property
    def share(self) -> float:
        """The share of the rows whose hashes were kept."""
        return (float(self._below) + 1.0) / 2.0**64

    def repeated(self) -> tuple[int, int]:
        """Rows that are copies of an earlier one, and those with the features of another and another target.

        Where not all hashes were kept, what the kept ones tell of all.
        """
        features = np.concatenate([np.zeros(0, dtype=np.uint64), *self._features])
        ordered = np.sort(features)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(twice) == 0:
            return 0, 0
        several = np.isin(features, twice)
        answers = np.concatenate(self._targets)[several]
        features = features[several]
        order = np.lexsort((answers, features))
        features, answers = features[order], answers[order]
        same = features[1:] == features[:-1]
        copies = int((same & (answers[1:] == answers[:-1])).sum())
        first = np.flatnonzero(np.append(True, ~same))
        last = np.append(first[1:], len(features)) - 1
        at_odds = int((last - first + 1)[answers[first] != answers[last]].sum())
        return round(copies / self.share), round(at_odds / self.share)

    def same_columns(self) -> list[tuple[str, ...]]:
        """Columns with the same value in every row."""
        return self._groups(self.prints, np.ones(len(self.names), dtype=bool))

    def same_gaps(self) -> list[tuple[str, ...]]:
        """Columns that are empty in the same rows, and not in all."""
        return self._groups(self.gap_prints, self.gap_prints != 0)

    def _groups(self, prints: Hashes, which: NDArray[np.bool_]) -> list[tuple[str, ...]]:
        found: dict[int, list[str]] = {}
        for name, own, counts in zip(self.names, prints.tolist(), which, strict=True):
            if counts:
                found.setdefault(own, []).append(name)
        return [tuple(names) for names in found.values() if len(names) > 1]
