"""``surefit.read``: make a source of anything that holds a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, ClassVar

from surefit.core.errors import DataError
from surefit.core.public import public
from surefit.core.registry import Registered, members
from surefit.data.arrow import kind_of
from surefit.data.checks.schemas import name_given_twice
from surefit.data.levels import Levels, levels_of
from surefit.data.matrix import MatrixSource
from surefit.data.schema import Column, Kind, Schema
from surefit.data.source import Source, TableSource, is_source
from surefit.data.stream import JOINED, ArrowStream, MatrixStream, Role


class Reader(Registered, kind="reader", folder="surefit.data.readers"):
    """Opens one form of table; one a file in ``readers/``."""

    opens: ClassVar[str]  # what it opens, in words, for the error when nothing fits
    in_memory: ClassVar[bool] = False  # an array or frame, which the door can check as a whole

    @classmethod
    @abstractmethod
    def takes(cls, what: Any) -> bool:
        """Whether this is the reader for it; must not import a library that the object does not come from."""

    @classmethod
    @abstractmethod
    def open(cls, what: Any) -> ArrowStream | MatrixStream:
        """Open it: a typed table, or plain numbers."""


def find_reader(what: Any) -> type[Reader] | None:
    """The reader that takes it, if there is one."""
    for reader in members("reader").values():
        assert issubclass(reader, Reader)
        if reader.takes(what):
            return reader
    return None


def open_stream(what: Any) -> ArrowStream | MatrixStream:
    """Open whatever a reader takes."""
    reader = find_reader(what)
    if reader is None:
        known = sorted(reader.opens for reader in members("reader").values() if issubclass(reader, Reader))
        raise DataError(f"surefit cannot read a {type(what).__name__}; it reads {'; '.join(known)}.")
    return reader.open(what)


@public
def read(
    what: Any,
    target: Any = None,
    weight: Any = None,
    columns: Sequence[str] | None = None,
    *,
    header: bool | None = None,
) -> Source:
    """Make a source of a table: files, a frame, an array, an iterator of batches, a query, ...

    target, weight: names of columns, which leave X; values, one a row, for what lies in memory or on a
    cluster. A list of names is several targets, for models that take them. columns: which ones X keeps; all
    others by default. header: whether the first row of CSV files holds names; without, they are column_0,
    column_1, ...; by default it does, and numbers are refused.

    >>> import pyarrow as pa
    >>> source = read(pa.table({"size": [1.0, 2.0], "price": [10.0, 20.0]}), target="price")
    >>> source.schema.names
    ('size',)
    """
    if is_source(what):
        return _again(what if header is None else _headed(what, header), target, weight, columns)
    stream = open_stream(what)
    if header is not None:
        stream = _headed(stream, header)
    names: dict[Role, Any] = {}
    given: tuple[tuple[Role, Any], ...] = (("target", target), ("weight", weight))
    for role, values in given:
        if values is None or isinstance(values, str) or (role == "target" and _are_names(values, stream)):
            names[role] = values
        else:
            stream, names[role] = _join(stream, role, values), JOINED[role]
    if isinstance(stream, MatrixStream):
        asked = (*_listed(names["target"]), names["weight"], *(columns or ()))
        named = next((n for n in asked if n not in (None, *JOINED.values())), None)
        if named is not None:
            raise DataError(
                f"there is no column {named!r}, for an array has no names: pass values, or a frame."
            )
        return MatrixSource.of(stream)
    return table_source(stream, names["target"], names["weight"], columns)


def _listed(names: Any) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def _are_names(values: Any, stream: Any) -> bool:
    """Whether a list is one of names: its entries are text, and columns, or no row could have them."""
    if not isinstance(values, list | tuple) or not values or not all(isinstance(v, str) for v in values):
        return False
    return not hasattr(stream, "beside") or set(values) <= set(_names(stream))


def _names(stream: Any) -> Sequence[str]:
    return () if isinstance(stream, MatrixStream) else stream.arrow_schema.names


def _headed(stream: Any, header: bool) -> Any:
    if not hasattr(stream, "headed"):
        raise DataError("header= applies to CSV and TSV files only: leave it out.")
    return stream.headed(header)


def _join(stream: Any, role: Role, values: Any) -> Any:
    if not hasattr(stream, "beside"):
        raise DataError(
            f"the {role} must name a column when the table is read from a file, a query or an iterator, "
            f"not be of type {type(values).__name__}: put it into the table, and name it."
        )
    return stream.beside(role, values)


def _again(source: Source, target: Any, weight: Any, columns: Sequence[str] | None) -> Source:
    """A source, with other columns for target, weights or X if any are named."""
    if target is None and weight is None and columns is None:
        return source
    named = isinstance(weight, str | None) and all(isinstance(name, str) for name in _listed(target))
    if not isinstance(source, TableSource) or not named:
        raise DataError(
            "this source cannot take another target, weight or choice of columns: give them to surefit.read."
        )
    kept: Any = [column.name for column in source.targets]
    if source.schema.target_is_flat:
        kept = kept[0] if kept else None
    target, weight = target or kept, weight or source.weight
    names = [name for name in source.schema.names or () if name not in (*_listed(target), weight)]
    return table_source(source.stream, target, weight, columns or names)


def table_source(
    stream: ArrowStream,
    target: str | Sequence[str] | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
) -> TableSource:
    """Decide what each column is; finding the levels of categories takes a pass over those columns."""
    if isinstance(columns, str):
        raise DataError(f"columns is a list of names, not the text {columns!r}: write columns=[{columns!r}].")
    fields = {field.name: field for field in stream.arrow_schema}
    twice = name_given_twice(stream.arrow_schema.names)
    if twice is not None:
        raise DataError(f"the table has two columns named {twice!r}: rename one of them.")
    for what, given in (("columns", columns or ()), ("target", _listed(target))):
        twice = name_given_twice(given)
        if twice is not None:
            raise DataError(f"{what} names {twice!r} twice: leave one out.")
    target = target or next((name for name in fields if name == JOINED["target"]), None)
    weight = weight or next((name for name in fields if name == JOINED["weight"]), None)
    targets = _listed(target)
    wants = [("target", targets), ("weight", _listed(weight)), ("column", columns or ())]
    for role, name in ((role, name) for role, names in wants for name in names):
        if name not in fields:
            near = get_close_matches(name, fields, n=1)
            hint = (
                f"did you mean {near[0]!r}?" if near else f"its columns are {', '.join(list(fields)[:20])}."
            )
            raise DataError(f"the table has no {role} named {name!r}: {hint}")
    if weight is not None and kind_of(fields[weight]) not in ("number", "boolean"):
        raise DataError(f"the weight {weight!r} holds {fields[weight].type}: weights must be numbers.")
    chosen = (
        list(columns) if columns is not None else [name for name in fields if name not in (*targets, weight)]
    )
    if not chosen:
        raise DataError("the table has no column left for X beside target and weight.")
    wanted = [*chosen, *targets]
    stream = _select(stream, [*wanted, *([weight] if weight is not None else [])])
    kinds = {name: kind_of(fields[name]) for name in wanted}
    categories = [name for name, kind in kinds.items() if kind == "category"]
    levels = levels_of(stream, categories) if categories else {}
    found = {name: _column(name, kind, levels.get(name), name in targets) for name, kind in kinds.items()}
    schema = Schema(
        len(chosen),
        tuple(found[name] for name in chosen),
        stream.rows,
        targets=len(targets),
        target_is_flat=target is None or isinstance(target, str),
        target_names=tuple(name for name in targets if name != JOINED["target"]),
        weight_name=None if weight == JOINED["weight"] else weight,
    )
    first = found[targets[0]] if targets else None
    return TableSource(stream, schema, first, weight, others=tuple(found[name] for name in targets[1:]))


def _column(name: str, kind: Kind, levels: Levels | None, is_target: bool) -> Column:
    """A column, with its levels; the classes of a target are those that occur."""
    if levels is None:
        return Column(name, kind)
    if levels.known is None:
        return Column(name, "text")
    if is_target and levels.present is not None:
        return Column(name, kind, levels.present)
    return Column(name, kind, levels.known, levels.ordered)


def read_like(what: Any, columns: tuple[Column, ...] | None) -> Source:
    """Make a source of rows for a model that knows its columns, so that no pass is needed to find them."""
    if columns is None or is_source(what):
        source = read(what)
        return (
            with_columns(source, columns)
            if columns is not None and isinstance(source, TableSource)
            else source
        )
    stream = open_stream(what)
    if isinstance(stream, MatrixStream):
        return MatrixSource.of(stream)
    if hasattr(stream, "like"):
        stream = stream.like(columns)
    return with_columns(TableSource(stream, Schema(len(columns), columns)), columns)


def with_columns(source: TableSource, columns: tuple[Column, ...]) -> TableSource:
    """Hold a source to columns seen before: the same names and kinds, with the levels that were fitted."""
    stream = source.stream
    if source.schema.columns != columns and hasattr(stream, "like"):
        stream = stream.like(columns)
    fields = {field.name: field for field in stream.arrow_schema}
    missing = [column.name for column in columns if column.name not in fields]
    if missing:
        raise DataError(
            f"the table lacks {len(missing)} of the columns that the model was fitted on: "
            f"{', '.join(missing[:10])}."
        )
    for column in columns:
        kind = kind_of(fields[column.name])
        if not _fits(column, kind, str(fields[column.name].type) == "null"):
            raise DataError(
                f"column {column.name!r} was a {column.kind} when the model was fitted, but is a {kind} "
                "here: give it the same type as then."
            )
    kept = [*(column.name for column in source.targets), *([source.weight] if source.weight else [])]
    stream = _select(stream, [*(column.name for column in columns), *kept])
    schema = replace(source.schema, width=len(columns), columns=columns, rows=stream.rows)
    return replace(source, stream=stream, schema=schema)


def _fits(column: Column, kind: str, empty: bool) -> bool:
    if empty or kind == column.kind:
        return True
    if column.kind == "text":
        return kind == "category"
    if column.kind == "category" and column.levels is not None and column.levels.dtype.kind in "iufb":
        return kind in ("number", "boolean")
    return {kind, column.kind} == {"number", "boolean"}


def _select(stream: ArrowStream, names: Iterable[str]) -> ArrowStream:
    """Leave other columns out at once, where the stream can."""
    narrower: ArrowStream = stream.select(list(dict.fromkeys(names))) if hasattr(stream, "select") else stream
    return narrower
