"""``surefit.read``: make a source of anything that holds a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, ClassVar

from surefit.core.errors import DataError
from surefit.core.registry import Registered, members
from surefit.data.arrow import kind_of, levels_of
from surefit.data.schema import Column, Schema
from surefit.data.source import Source, TableSource
from surefit.data.stream import ArrowStream


class Reader(Registered, kind="reader", folder="surefit.data.readers"):
    """Opens one form of table; one a file in ``readers/``."""

    opens: ClassVar[str]  # what it opens, in words, for the error when nothing fits

    @classmethod
    @abstractmethod
    def takes(cls, what: Any) -> bool:
        """Whether this is the reader for it; must not import a library that the object does not come from."""

    @classmethod
    @abstractmethod
    def open(cls, what: Any) -> ArrowStream | Source:
        """Open it; a typed table is an ArrowStream, plain numbers may be a Source of their own."""


def read(
    what: Any, target: str | None = None, weight: str | None = None, columns: Sequence[str] | None = None
) -> Source:
    """Make a source of a table: a path, folder or glob of files, a frame, an array, an iterator of batches,
    ...

    target, weight: the columns of those names leave X. columns: which ones X keeps; all others by default.

    >>> import pyarrow as pa
    >>> source = read(pa.table({"size": [1.0, 2.0], "price": [10.0, 20.0]}), target="price")
    >>> source.schema.names
    ('size',)
    """
    if isinstance(what, Source):
        return what
    for reader in members("reader").values():
        assert issubclass(reader, Reader)
        if reader.takes(what):
            opened = reader.open(what)
            return opened if isinstance(opened, Source) else table_source(opened, target, weight, columns)
    known = "; ".join(
        sorted(reader.opens for reader in members("reader").values() if issubclass(reader, Reader))
    )
    raise DataError(f"surefit cannot read a {type(what).__name__}; it reads {known}.")


def table_source(
    stream: ArrowStream,
    target: str | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
) -> TableSource:
    """Decide what each column of a stream is; finding the levels of categories takes a pass over those
    columns.
    """
    fields = {field.name: field for field in stream.arrow_schema}
    if len(fields) != len(stream.arrow_schema):
        names = stream.arrow_schema.names
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the table has two columns named {twice!r}: rename one of them.")
    for role, name in (("target", target), ("weight", weight), *(("column", name) for name in columns or ())):
        if name is not None and name not in fields:
            near = get_close_matches(name, fields, n=1)
            hint = (
                f"did you mean {near[0]!r}?" if near else f"its columns are {', '.join(list(fields)[:20])}."
            )
            raise DataError(f"the table has no {role} named {name!r}: {hint}")
    chosen = (
        list(columns) if columns is not None else [name for name in fields if name not in (target, weight)]
    )
    if not chosen:
        raise DataError("the table has no column left for X beside target and weight.")
    kinds = {name: kind_of(fields[name]) for name in [*chosen, *([target] if target is not None else [])]}
    categories = [name for name, kind in kinds.items() if kind == "category"]
    levels = levels_of(stream, categories) if categories else {}
    found = {
        name: Column(name, "text" if kind == "category" and levels[name] is None else kind, levels.get(name))
        for name, kind in kinds.items()
    }
    schema = Schema(
        len(chosen), tuple(found[name] for name in chosen), stream.rows, targets=0 if target is None else 1
    )
    return TableSource(stream, schema, None if target is None else found[target], weight)


def with_columns(source: TableSource, columns: tuple[Column, ...]) -> TableSource:
    """Hold a source to columns seen before: the same names, with the levels that were fitted."""
    present = set(source.stream.arrow_schema.names)
    missing = [column.name for column in columns if column.name not in present]
    if missing:
        raise DataError(
            f"the table lacks {len(missing)} of the columns that the model was fitted on: "
            f"{', '.join(missing[:10])}."
        )
    return replace(source, schema=replace(source.schema, width=len(columns), columns=columns))
