"""A table read by kinds that were decided: text becomes numbers, dates, yes and no, and columns fall away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefit.core.errors import DataError
from surefit.core.public import public
from surefit.data.arrow import countable, kind_of, plain, to_numpy
from surefit.data.read import table_source
from surefit.data.schema import Column, Kind
from surefit.data.source import TableSource
from surefit.data.stream import ArrowStream
from surefit.study.table import spellings
from surefit.study.table.stream import stream_of

if TYPE_CHECKING:
    import pyarrow as pa


@public
def typed(
    table: Any,
    kinds: Mapping[str, str],
    target: Any = None,
    *,
    weight: str | None = None,
) -> TableSource:
    """Read a table by the kinds of its columns; X has those of ``kinds``, in that order, without the target.

    A cell that is not of its kind becomes a gap: "n/a" in a column of numbers. Rows without a target are left
    out. X has no columns of the kinds "identifier", "constant" and "text".

    >>> import pyarrow as pa
    >>> table = pa.table({"size": ["1,200", "n/a"], "sold": ["yes", "no"]})
    >>> source = typed(table, {"size": "number", "sold": "boolean"}, "sold")
    >>> source.schema.names, source.target.kind
    (('size',), 'boolean')
    """
    stream, name = stream_of(table, target)
    return typed_stream(stream, kinds, name, weight)


def typed_stream(
    stream: ArrowStream, kinds: Mapping[str, str], target: str | None, weight: str | None = None
) -> TableSource:
    """The same, of a table that is open already."""
    fields = stream.arrow_schema.names
    missing = [wanted for wanted in (*kinds, *([target] if target else [])) if wanted not in fields]
    if missing:
        raise DataError(f"the table has no column {missing[0]!r}; its columns are {', '.join(fields[:20])}.")
    left_out = ("identifier", "constant", "text")
    columns = [each for each, kind in kinds.items() if each not in (target, weight) and kind not in left_out]
    read = [*columns, *(each for each in (target, weight) if each is not None)]
    # A target of numbers stays that: a classifier takes them as classes by itself.
    numbers = target is not None and kind_of(stream.arrow_schema.field(target)) == "number"
    kept = (target, weight) if numbers else (weight,)
    converted = {each: kind for each, kind in kinds.items() if kind not in left_out and each not in kept}
    opened = Converted.of(stream, read, converted, target)
    return table_source(opened, target, weight, columns)


@dataclass(frozen=True, slots=True)
class Converted:
    """A stream whose columns are read by their kinds, without the rows that lack the target."""

    origin: ArrowStream
    target: str | None
    arrow_schema: pa.Schema

    @classmethod
    def of(
        cls, origin: ArrowStream, names: Sequence[str], kinds: Mapping[str, str], target: str | None = None
    ) -> Converted:
        """Work out the types of what comes out."""
        import pyarrow as pa

        fields = [origin.arrow_schema.field(name) for name in names]
        schema = [(field.name, type_of(field, kinds.get(field.name))) for field in fields]
        return cls(origin, target, pa.schema(schema))

    @property
    def rows(self) -> int | None:
        """Known beforehand unless rows may be left out."""
        return self.origin.rows if self.target is None else None

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Convert batch by batch."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = self.arrow_schema.names if columns is None else list(columns)
        read = list(dict.fromkeys([*names, *([self.target] if self.target else [])]))
        for batch in self.origin.batches(read):
            cells = {name: self.converted(batch, name) for name in read}
            if self.target is not None and batch.num_rows:
                there = pc.invert(cells[self.target].is_null(nan_is_null=True))
                if not pc.all(there).as_py():
                    cells = {name: column.filter(there) for name, column in cells.items()}
            yield pa.RecordBatch.from_pydict({name: cells[name] for name in names})

    def converted(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        """A column of the origin, read by its kind."""
        return convert(batch.column(name), self.arrow_schema.field(name).type)

    def parts(self) -> Sequence[ArrowStream]:
        """The parts of the origin, converted alike."""
        return [Converted(part, self.target, self.arrow_schema) for part in self.origin.parts()]


def type_of(field: pa.Field, kind: str | None) -> pa.DataType:
    """The type of a column that is read as some kind; its own where it is of that kind already."""
    import pyarrow as pa

    own = kind_of(field)
    if kind is None or kind == own:
        return field.type
    if kind == "date" and own != "category":
        raise DataError(f"column {field.name!r} holds {field.type}, which cannot be read as dates.")
    return {"number": pa.float64(), "boolean": pa.bool_(), "date": pa.timestamp("us")}.get(kind, pa.string())


def convert(cells: pa.Array, to: pa.DataType) -> pa.Array:
    """Read cells as another type; those that are none of it become null.

    >>> import pyarrow as pa
    >>> convert(pa.array([0.0, 1.0, 7.0]), pa.bool_()).to_pylist()
    [False, True, None]
    >>> convert(pa.array([3.0, 2.0, None]), pa.string()).to_pylist()
    ['3', '2', None]
    """
    import pyarrow as pa
    import pyarrow.types as t

    if cells.type == to or t.is_null(cells.type):
        return cells if cells.type == to else pa.nulls(len(cells), to)
    cells = countable(plain(cells))
    words = t.is_string(cells.type) or t.is_large_string(cells.type)
    if t.is_floating(to):
        return spellings.to_numbers(cells) if words else _numbers(cells)
    if t.is_boolean(to):
        return spellings.to_booleans(cells) if words else _zero_or_one(cells)
    if t.is_timestamp(to) and words:
        return spellings.to_dates(cells).cast(to)
    if t.is_string(to) and t.is_floating(cells.type):
        return _names(cells)
    return cells.cast(to)  # a dictionary, a date of another unit, text


def _numbers(cells: pa.Array) -> pa.Array:
    import pyarrow as pa

    kind: Kind = "date" if pa.types.is_temporal(cells.type) else "number"
    return pa.array(to_numpy(cells, Column("", kind)), from_pandas=True)


def _zero_or_one(cells: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    either = pc.is_in(cells, pa.array([0, 1]).cast(cells.type))
    return pc.if_else(either, pc.equal(cells, pa.scalar(1).cast(cells.type)), pa.scalar(None, pa.bool_()))


def _names(cells: pa.Array) -> pa.Array:
    """Numbers as words, whole ones without a point."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.if_else(cells.is_null(nan_is_null=True), pa.scalar(None, cells.type), cells)
    whole = pc.and_(pc.equal(cells, pc.round(cells)), pc.less(pc.abs(cells), 2.0**53))
    short = pc.if_else(whole, cells, pa.scalar(0.0, cells.type)).cast(pa.int64()).cast(pa.string())
    return pc.if_else(whole, short, cells.cast(pa.string()))
