"""The contract of a check, and what it is shown."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.diagnosis import Finding
from surefit.core.registry import Registered
from surefit.data.arrow import to_numpy
from surefit.data.batches.distinct import distinct
from surefit.data.schema import Column
from surefit.study.record import ColumnRecord
from surefit.study.table.duplicates import Copies
from surefit.study.table.facts import TableFacts
from surefit.study.table.task import TaskDecision
from surefit.study.table.typed import convert, type_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Seen:
    """All that an audit saw of a table.

    sample: rows drawn at random, as they are stored; all of them where they are few. task: what is to be
    learnt of the target, if there is one that can be learnt; refusal: why it cannot.
    """

    facts: TableFacts
    columns: tuple[ColumnRecord, ...]
    target: str | None
    task: TaskDecision | None
    refusal: str | None
    sample: pa.Table
    copies: Copies
    against: Seen | None = None

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The kind of every column by name."""
        return {column.name: column.kind for column in self.columns}

    @property
    def used(self) -> list[str]:
        """The columns that a model would see."""
        return [column.name for column in self.columns if column.used]

    def cells(self, name: str) -> pa.Array:
        """A column of the sample, read by its kind."""
        kind = self.kinds[name]
        field = self.sample.schema.field(name)
        cells = self.sample.column(name).combine_chunks()
        return convert(cells, type_of(field, kind)) if kind in ("number", "boolean", "date") else cells

    def numbers(self, name: str) -> Vector:
        """A number, boolean or date of the sample as floats, NaN where missing."""
        kind: Any = self.kinds[name]
        kind = kind if kind in ("boolean", "date") else "number"
        return np.asarray(to_numpy(self.cells(name), Column(name, kind)), dtype=np.float64)

    def codes(self, name: str) -> NDArray[np.int32]:
        """A column of the sample as codes of its values; a missing cell is a value of its own."""
        cells = self.cells(name)
        coded = cells if hasattr(cells, "indices") else cells.dictionary_encode()
        codes = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)
        return np.asarray(distinct(np.asarray(codes, dtype=np.int64))[1], dtype=np.int32)

    def gaps(self, name: str) -> NDArray[np.bool_]:
        """Where a column of the sample has no value."""
        gone: NDArray[np.bool_] = self.cells(name).is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        return gone


@dataclass(frozen=True, slots=True)
class Case:
    """A table for the law of a check, with what is said about it."""

    table: Any
    target: str | None = None
    against: Any = None


class Check(Registered, kind="check", folder="surefit.study.checks"):
    """Looks at a table for one thing that may be wrong with it."""

    @abstractmethod
    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Yield what is wrong, if anything."""

    @classmethod
    @abstractmethod
    def triggering_case(cls) -> Case:
        """Return a small table that triggers the check."""

    @classmethod
    @abstractmethod
    def clean_case(cls) -> Case:
        """Return one close to it that does not."""


def quoted(names: Iterable[str], most: int = 5) -> str:
    """Names of columns for a sentence, cut after a few."""
    names = [repr(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(count: int, what: str) -> str:
    """A number of things: "1 row", "1,234 rows"."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
