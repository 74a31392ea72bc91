"""Folds of a source that are sources themselves: rows are kept or passed over as the batches go by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import ParameterError
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells
from surefit.data.batches.table import Table
from surefit.data.schema import Schema
from surefit.data.source import Source, TableSource
from surefit.data.stream import ArrowStream
from surefit.resample.row_rule import RowRule
from surefit.resample.streams import seed_of

if TYPE_CHECKING:
    import pyarrow as pa


class Rule(Protocol):
    """Which rows to keep, or how often to take each, told from their numbers."""

    def keeps(self, start: int, count: int) -> NDArray[Any]:
        """Which of the ``count`` rows from number ``start`` on are kept, or how often."""

    def kept_before(self, row: int) -> int:
        """How many of the rows before this one are kept."""


def source_folds(
    source: Source, k: int = 5, *, block: int = 1, shuffle: bool = False, random_state: Any = None
) -> Iterator[tuple[Source, Source]]:
    """Yield ``k`` pairs of sources, train and test; every row is in exactly one test.

    A row's fold follows from its number, so nothing is loaded and no pass is made beforehand. Rows go to the
    folds in turn, ``block`` rows at a time, or in random order with ``shuffle``; the sizes of two folds
    differ by one block at the most. Give a larger block where neighbouring rows belong together. The first
    pair alone is a hold-out of 1/k.

    >>> import pyarrow as pa
    >>> from surefit.data.read import read
    >>> source = read(pa.table({"x": [0.0, 1.0, 2.0, 3.0, 4.0]}))
    >>> for train, test in source_folds(source, 2):
    ...     print([batch.X.column(0).tolist() for fold in (train, test) for batch in fold])
    [[1.0, 3.0], [0.0, 2.0, 4.0]]
    [[0.0, 2.0, 4.0], [1.0, 3.0]]
    """
    for name, value, least in (("k", k, 2), ("block", block, 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ParameterError(
                f"source_folds: {name}={value!r} must be a whole number of at least {least}."
            )
    rows = source.schema.rows
    if rows is not None and rows <= (k - 1) * block:
        raise ParameterError(
            f"source_folds: {rows} rows cannot fill {k} folds of blocks of {block}: take fewer or smaller."
        )
    seed = seed_of(random_state) if shuffle else None
    rules = [[RowRule(k, fold, others, block, seed) for others in (True, False)] for fold in range(k)]
    return ((selected(source, train), selected(source, test)) for train, test in rules)


def selected(source: Source, rule: Rule) -> Source:
    """The rows of a source that a rule keeps, as a source."""
    rows = source.schema.rows
    schema = replace(source.schema, rows=None if rows is None else rule.kept_before(rows))
    if isinstance(source, TableSource):  # below its typed columns, so that what a target is for stays open
        return replace(source, stream=SelectedStream(source.stream, rule), schema=schema)
    return SelectedSource(source, schema, rule)


@dataclass(frozen=True, slots=True)
class SelectedSource:
    """The batches of another source, each cut down to the rows that a rule keeps, numbered anew."""

    origin: Source
    schema: Schema
    rule: Rule

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.origin:
            taken = _taken(self.rule.keeps(batch.start, len(batch)))
            if taken is None or len(taken):
                yield _cut(batch, taken, self.rule.kept_before(batch.start))

    def parts(self) -> Sequence[Source]:
        """The parts of the origin, cut alike; one piece where the number of rows is not known, for then the
        number of a part's first row is not either.
        """
        if self.origin.schema.rows is None:
            return (self,)
        return [SelectedSource(part, self.schema, self.rule) for part in self.origin.parts()]


def _taken(kept: NDArray[Any]) -> NDArray[np.intp] | None:
    """The places of the rows that are taken, those of several times again and again; None for all once."""
    if (kept == 1).all():
        return None
    return np.flatnonzero(kept) if kept.dtype == bool else np.repeat(np.arange(len(kept)), kept)


def _cut(batch: Batch, taken: NDArray[np.intp] | None, start: int) -> Batch:
    if taken is None:
        return replace(batch, start=start)
    X: Any = batch.X
    if isinstance(X, Table):
        X = X.take(taken)
    elif isinstance(X, Cells):
        X = Cells(tuple(column[taken] for column in X.columns))
    else:
        X = X[taken]
    y = None if batch.y is None else batch.y[taken]
    return Batch(X, y, None if batch.weight is None else batch.weight[taken], start)


@dataclass(frozen=True, slots=True)
class SelectedStream:
    """The record batches of another stream, each cut down to the rows that a rule keeps; ``offset`` is the
    number of its first row in the whole table.
    """

    origin: ArrowStream
    rule: Rule
    offset: int = 0

    @property
    def arrow_schema(self) -> pa.Schema:
        """That of the origin."""
        return self.origin.arrow_schema

    @property
    def rows(self) -> int | None:
        """How many are kept, None when the origin does not know its own."""
        if self.origin.rows is None:
            return None
        return self.rule.kept_before(self.offset + self.origin.rows) - self.rule.kept_before(self.offset)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Start a pass."""
        import pyarrow as pa

        row = self.offset
        for batch in self.origin.batches(columns):
            taken = _taken(self.rule.keeps(row, batch.num_rows))
            row += batch.num_rows
            if taken is None or len(taken):
                yield batch if taken is None else batch.take(pa.array(taken))

    def parts(self) -> Sequence[ArrowStream]:
        """The parts of the origin, cut alike; one piece where a part does not know its rows."""
        pieces, offset = [], self.offset
        for part in self.origin.parts():
            if part.rows is None:
                return (self,)
            pieces.append(SelectedStream(part, self.rule, offset))
            offset += part.rows
        return pieces
