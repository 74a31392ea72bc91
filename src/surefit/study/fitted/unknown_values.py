"""What a model could not read of a table: levels that it has never seen, cells of another kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from surefit.data.arrow import UNKNOWN, plain
from surefit.data.batches.table import Table
from surefit.data.source import ArraySource
from surefit.study.table.spellings import are_nothing

if TYPE_CHECKING:
    import pyarrow as pa

WORDS = {"number": "numbers", "boolean": "yes or no", "date": "dates"}
SHOWN = 3  # values of a column


@dataclass(slots=True)
class UnknownValues:
    """Counts, batch by batch, the cells that became gaps and the levels that are new, by column.

    missing: cells that hold nothing. untold: rows whose truth is missing, which are left out.
    """

    new: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: dict[str, Counter[str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    missing: Counter[str] = field(default_factory=Counter)
    untold: int = 0

    def add(self, batch: pa.RecordBatch, rows: ArraySource) -> None:
        """Look at some rows of a table, and at what the model reads of them."""
        X: Any = rows.batch.X
        if not isinstance(X, Table):
            names = batch.schema.names
            self.missing.update({names[j]: int(k) for j, k in enumerate(np.isnan(X).sum(axis=0)) if k})
            return
        for j, column in enumerate(X.columns):
            raw, read = batch.column(column.name), X.column(j)
            gone = int(np.count_nonzero(X.missing(j) & _gone(raw)))
            if gone:
                self.missing[column.name] += gone
            if column.kind == "category":
                self._count(self.new, column.name, raw, read == UNKNOWN)
            elif column.kind in WORDS and np.isnan(read).any():
                there = np.isnan(read) & ~_gone(raw)
                self._count(self.wrong, column.name, raw, there)
                self.kinds[column.name] = WORDS[column.kind]

    @staticmethod
    def _count(where: dict[str, Counter[str]], name: str, raw: pa.Array, rows: Any) -> None:
        if rows.any():
            cells = raw.take(np.flatnonzero(rows)).to_pylist()
            where.setdefault(name, Counter()).update(map(str, cells))

    def facts(self) -> dict[str, Any]:
        """The counts by column."""
        return {
            "rows_without_truth": self.untold,
            "missing_cells": dict(self.missing),
            "cells_of_another_kind": {name: sum(counts.values()) for name, counts in self.wrong.items()},
            "levels_never_seen": {name: sum(counts.values()) for name, counts in self.new.items()},
        }

    def gaps(self, rows: int, target: str) -> list[str]:
        """Sentences of what is not there, among so many rows that have a truth."""
        found = []
        if self.untold:
            found.append(f"{self.untold:,} more without {target!r} left out")
        if self.missing:
            most = [f"{count:,} of {name!r}" for name, count in self.missing.most_common(SHOWN)]
            more = ", ..." if len(self.missing) > SHOWN else ""
            told = f"{self.missing.total():,} cells of {rows:,} rows missing: {', '.join(most)}{more}"
            found.append(told)
        return found

    def lines(self) -> list[str]:
        """A sentence a column."""
        found = [
            f"{_rows(counts, name, 'has', 'have')} a level that the model has never seen ({_shown(counts)})"
            for name, counts in self.new.items()
        ]
        for name, counts in self.wrong.items():
            said = f"{_rows(counts, name, 'holds', 'hold')} no {self.kinds[name]} ({_shown(counts)})"
            found.append(f"{said}: taken as missing")
        return found


def _gone(cells: pa.Array) -> Any:
    import pyarrow.types as t

    cells = plain(cells)
    gone = cells.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    if t.is_string(cells.type) or t.is_large_string(cells.type):
        gone = gone | are_nothing(cells).to_numpy(zero_copy_only=False)
    return gone


def _rows(counts: Counter[str], name: str, one: str, many: str) -> str:
    total = sum(counts.values())
    return f"1 row of {name!r} {one}" if total == 1 else f"{total:,} rows of {name!r} {many}"


def _shown(counts: Counter[str]) -> str:
    more = ", ..." if len(counts) > SHOWN else ""
    return ", ".join(repr(value) for value, _ in counts.most_common(SHOWN)) + more
