"""All decisions about a table at once: what each column is, what is learnt, and how the table is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surefit.core.errors import DataError
from surefit.data.source import TableSource
from surefit.data.stream import ArrowStream
from surefit.study.record import ColumnRecord
from surefit.study.table.facts import TableFacts, gather
from surefit.study.table.kinds import kinds_of
from surefit.study.table.stream import stream_of
from surefit.study.table.task import TaskDecision, decide_task
from surefit.study.table.typed import typed_stream


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about a table. rows: of the table; labelled: of those that have a target."""

    target: str
    weight: str | None
    task: TaskDecision
    columns: tuple[ColumnRecord, ...]
    facts: TableFacts

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.facts.rows

    @property
    def labelled(self) -> int:
        """How many rows have a target."""
        return self.facts.columns[self.target].present

    @property
    def used(self) -> tuple[str, ...]:
        """The columns that models see."""
        return tuple(column.name for column in self.columns if column.used)

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of the columns that models see, and of the target."""
        found = {column.name: column.kind for column in self.columns if column.used}
        return {**found, self.target: self.task.kind}

    def read(self, table: Any) -> TableSource:
        """Read the table, or another with the same columns, as was decided: see ``typed``."""
        return self.read_stream(stream_of(table, self.target)[0])

    def read_stream(self, stream: ArrowStream) -> TableSource:
        """The same, of a table that is open already."""
        return typed_stream(stream, self.kinds, self.target, self.weight)


def decide(
    table: Any,
    target: str,
    kinds: Mapping[str, str] | None = None,
    task: str | None = None,
    *,
    weight: str | None = None,
    drop: tuple[str, ...] = (),
) -> Decided:
    """Look at a table once and decide what its columns are and what is to be learnt of the target.

    >>> import pyarrow as pa
    >>> table = pa.table({"size": ["1,200", "n/a", "950"] * 9, "sold": ["yes", "no", "no"] * 9})
    >>> decided = decide(table, "sold")
    >>> decided.task.task, decided.kinds, decided.read(table).schema.names
    ('classification', {'size': 'number', 'sold': 'category'}, ('size',))
    """
    stream, name = stream_of(table, target)
    if name is None:
        raise DataError("name the column to predict as the target.")
    return decide_from(gather(stream), name, kinds, task, weight=weight, drop=drop)


def decide_from(
    facts: TableFacts,
    target: str,
    kinds: Mapping[str, str] | None = None,
    task: str | None = None,
    *,
    weight: str | None = None,
    drop: tuple[str, ...] = (),
) -> Decided:
    """The same, from facts that were gathered already."""
    columns = kinds_of(facts, target, kinds, drop=drop, weight=weight)
    own = next(column for column in columns if column.name == target)
    decision = decide_task(facts.columns[target], own.kind, task)
    if not any(column.used for column in columns):
        raise DataError(
            "no column is left to learn from: each is the target, an identifier, text, constant or empty; "
            "overrule a kind if that is wrong."
        )
    return Decided(target, weight, decision, columns, facts)
