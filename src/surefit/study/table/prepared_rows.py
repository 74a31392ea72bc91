"""The rows of a study in memory, as numbers that suit a family: prepared anew for each fold."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.batches.table import Table
from surefit.data.checks.cells import check_weights
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, TableSource
from surefit.data.targets import with_target
from surefit.models.candidate import Purpose
from surefit.models.prepare.tables.table_preparer import TablePreparer, prepared
from surefit.study.record import Task
from surefit.study.table.typed import Converted

Rows = NDArray[np.intp]
_WANTED: dict[Task, Literal["class", "number"]] = {"classification": "class", "regression": "number"}
MOST_CACHED = 50_000_000  # numbers of prepared rows that are kept for the families to come


@dataclass(frozen=True, slots=True, eq=False)
class RowsInMemory:
    """Typed columns, the target and the weights of rows in memory; classes: the labels, of a classification.

    y holds labels or numbers, as models are given them. numbers: of the rows in the whole table, some of
    whose rows may have no target.
    """

    table: Table
    y: NDArray[Any]
    weight: Vector | None = None
    classes: NDArray[Any] | None = None
    numbers: NDArray[np.int64] | None = None
    _prepared: dict[Any, Any] = field(default_factory=dict)
    _locks: dict[Any, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    @classmethod
    def of(cls, source: TableSource, task: Task) -> RowsInMemory:
        """Load all rows of a source."""
        import pyarrow as pa

        source = cast(TableSource, with_target("learn", source, _WANTED[task]))
        assert source.schema.columns is not None
        schema = source.stream.arrow_schema
        loaded = pa.Table.from_batches(list(source.stream.batches()), schema).combine_chunks()
        if loaded.num_rows == 0:
            raise DataError("no row has a target: name another column.")
        batch = source.converted(loaded.to_batches()[0], 0)
        classes = source.schema.classes
        y = np.asarray(batch.y if classes is None else np.asarray(classes)[batch.y])
        return cls(
            cast(Table, batch.X),
            y,
            check_weights(batch.weight, len(y)),
            classes,
            _row_numbers(source, len(y)),
        )

    def __len__(self) -> int:
        return len(self.y)

    def source(self, rows: Rows | None = None) -> ArraySource:
        """Some of the rows, or all, as the models' preparer reads them."""
        table = self.table if rows is None else self.table.take(rows)
        return source_of(table)

    def prepared(self, purpose: Purpose, train: Rows, test: Rows, key: Any = None) -> tuple[Any, Any, Any]:
        """The rows to learn from and the others, prepared by what the first ones say, and the preparer.

        key: under which the outcome is kept for the next family of the same purpose.
        """
        if key is None:
            return self._prepare(purpose, train, test)
        with self._locks[purpose, key]:
            if (purpose, key) not in self._prepared:
                found = self._prepare(purpose, train, test)
                held = sum(entry[0].size + entry[1].size for entry in self._prepared.values())
                if held + found[0].size + found[1].size > MOST_CACHED:
                    return found
                self._prepared[purpose, key] = found
            return self._prepared[purpose, key]

    def forget(self) -> None:
        """Let go of what was kept."""
        self._prepared.clear()
        self._locks.clear()

    def _prepare(self, purpose: Purpose, train: Rows, test: Rows) -> tuple[Any, Any, Any]:
        learnt = self.source(train)
        if self.weight is not None:
            learnt = replace(learnt, batch=replace(learnt.batch, weight=self.weight[train]))
        preparer = TablePreparer(purpose, identifiers="keep").fit(learnt)
        if len(train) + len(test) == len(self):  # as whole folds: every row once, then dealt out
            rows = transformed(preparer, self.table)
            return rows[train], rows[test], preparer
        return (*(transformed(preparer, self.table.take(rows)) for rows in (train, test)), preparer)


def source_of(table: Table) -> ArraySource:
    """Typed rows as a source."""
    return ArraySource(Schema(len(table.columns), table.columns, table.shape[0]), Batch(table))


def transformed(preparer: TablePreparer, table: Table) -> Matrix:
    """Typed rows as a fitted preparer makes numbers of them."""
    if np.isinf(table.numbers).any():  # which the checks of ``transform`` refuse in words
        return np.ascontiguousarray(next(iter(preparer.transform(source_of(table)))).X)
    return np.ascontiguousarray(prepared(preparer, table))


def _row_numbers(source: TableSource, rows: int) -> NDArray[np.int64]:
    """The place of each row in the table that was read, before rows without a target were left out."""
    stream = source.stream
    if not isinstance(stream, Converted) or stream.target is None or stream.origin.rows == rows:
        return np.arange(rows)
    there = [
        ~stream.converted(batch, stream.target).is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        for batch in stream.origin.batches([stream.target])
    ]
    return np.flatnonzero(np.concatenate(there))
