"""What text formats share: types are found in a pass over all rows of all files, and hold from then on.

A text file says nothing of types. What the first million rows look like says nothing of the next one, so
types are decided when every row was seen, once; a pass that knows the columns beforehand does without.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Self

from surefit.core.errors import DataError
from surefit.data.checks.schemas import name_given_twice
from surefit.data.files import DataFile
from surefit.data.schema import Column
from surefit.data.stream import total_rows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class InferredSchema:
    """What the first pass found: a type for each column, and the rows of each file."""

    schema: pa.Schema
    rows: tuple[int | None, ...]


class TextFiles(ABC):
    """Text files that are one table."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        self.files = tuple(files)

    @cached_property
    def found(self) -> InferredSchema:
        """Look at every row once."""
        return self._find()

    @abstractmethod
    def _find(self) -> InferredSchema:
        """Read all files for their types."""

    @abstractmethod
    def _names(self) -> list[str]:
        """The columns, as far as they are known without a pass; an error if files disagree."""

    @abstractmethod
    def _read(self, file: DataFile, schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns of a file by fixed types."""

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types, after a pass if need be."""
        return self.found.schema

    @property
    def rows(self) -> int | None:
        """The sum over the files, if they were counted."""
        return total_rows(self.found.rows)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read file after file."""
        schema = self.arrow_schema
        names = schema.names if columns is None else list(columns)
        return chain.from_iterable(self._read(file, schema, names) for file in self.files)

    def parts(self) -> Sequence[Self]:
        """The files."""
        return [
            self._with([file], InferredSchema(self.arrow_schema, (rows,)))
            for file, rows in zip(self.files, self.found.rows, strict=True)
        ]

    def like(self, columns: Sequence[Column]) -> Self:
        """Read by the kinds of columns seen before; types need not be found then."""
        import pyarrow as pa

        found: InferredSchema | None = self.__dict__.get("found")
        if found is None:
            names = self._names()
            found = InferredSchema(
                pa.schema([(name, pa.string()) for name in names]), (None,) * len(self.files)
            )
        wanted = {column.name: _type_of(column) for column in columns}
        schema = pa.schema([field.with_type(wanted.get(field.name, field.type)) for field in found.schema])
        return self._with(self.files, InferredSchema(schema, found.rows))

    def _with(self, files: Sequence[DataFile], found: InferredSchema) -> Self:
        other = copy(self)
        other.__dict__ |= {"files": tuple(files), "found": found}
        return other


def _type_of(column: Column) -> pa.DataType:
    import pyarrow as pa

    if column.kind in ("category", "text"):
        return pa.string()
    return {"number": pa.float64(), "boolean": pa.bool_(), "date": pa.timestamp("us")}[column.kind]


def check_names(file: DataFile, names: Sequence[str]) -> None:
    """Refuse a header with a name twice."""
    twice = name_given_twice(names)
    if twice is not None:
        raise DataError(f"{file.path} has two columns named {twice!r}: rename one of them.")
