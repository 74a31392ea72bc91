"""Tables to files and to standard output, batch by batch; a file is there whole or not at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from surefit.cli._frame import STDOUT
from surefit.core.errors import DataError
from surefit.core.files import atomic, naming
from surefit.core.printable_text import visible

if TYPE_CHECKING:
    import pyarrow as pa

SHEETS = (".csv", ".tsv")  # what a spreadsheet opens, and takes text that begins with these for a formula:
ACTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Rows:
    """Record batches of one schema."""

    schema: pa.Schema
    batches: Iterable[pa.RecordBatch]


def rows_of(batches: Iterable[pa.RecordBatch]) -> Rows:
    """Batches with the schema of the first; there must be one."""
    first = next(iterator := iter(batches), None)
    if first is None:
        raise DataError("the table has no rows.")
    return Rows(first.schema, chain([first], iterator))


def check_ending(path: str) -> str:
    """The ending of a file to write; one that no format has is an error."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise DataError(
            f"cannot tell what to write from {path!r}: its name must end in {', '.join(ENDINGS)}."
        )
    return ending


def write_rows(path: str, rows: Rows) -> int:
    """Write a file in the format of its ending; return how many rows."""
    ending = check_ending(path)
    with atomic(path) as file:
        return _written(file, ending, rows)


def print_rows(rows: Rows, ending: str = ".csv") -> int:
    """Write rows to standard output; on a terminal, which would act on them, controls are spelt out."""
    watched = sys.stdout.isatty()
    if watched and ending in SHEETS:
        rows = _each_text(rows, visible)
    with naming(STDOUT):
        count = _written(sys.stdout.buffer, ending, rows, ascii_only=watched)
        sys.stdout.buffer.flush()
    return count


def inert(rows: Rows) -> Rows:
    """Rows whose text no spreadsheet takes for a formula: what begins like one is put behind an apostrophe.

    >>> import pyarrow as pa
    >>> table = pa.table({"=a": ["=1+1", "-x", "b-c"], "n": [-1.0, -2.0, -3.0]})
    >>> next(iter(inert(Rows(table.schema, table.to_batches())).batches)).to_pydict()
    {"'=a": ["'=1+1", "'-x", 'b-c'], 'n': [-1.0, -2.0, -3.0]}
    """
    return _each_text(rows, lambda text: f"'{text}" if text.startswith(ACTS) else text)


def _each_text(rows: Rows, change: Callable[[str], str]) -> Rows:
    """Change names and cells of text, each distinct one of a batch once."""
    import pyarrow as pa

    def changed(column: pa.Array) -> pa.Array:
        codes = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        words = [None if word is None else change(str(word)) for word in codes.dictionary.to_pylist()]
        return pa.array(words, pa.string()).take(codes.indices)

    text = [_is_text(field.type) for field in rows.schema]
    fields = [
        pa.field(change(field.name), pa.string() if is_text else field.type)
        for field, is_text in zip(rows.schema, text, strict=True)
    ]
    schema = pa.schema(fields)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in rows.batches:
            columns = [changed(c) if t else c for c, t in zip(batch.columns, text, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return Rows(schema, batches())


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as t

    kind = _flat(kind)
    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind))


def _written(file: IO[bytes], ending: str, rows: Rows, *, ascii_only: bool = False) -> int:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    count = 0
    if ending in (".jsonl", ".ndjson"):
        for line in _lines(rows.batches, ascii_only):
            file.write(line)
            count += 1
        return count
    schema = rows.schema
    if ending in (".csv", ".tsv"):
        schema = pa.schema([(field.name, _flat(field.type)) for field in schema])
        options = pa.csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ",")
        writer: Any = pa.csv.CSVWriter(file, schema, write_options=options)
    elif ending == ".parquet":
        writer = pa.parquet.ParquetWriter(file, schema)
    else:
        writer = pa.ipc.new_file(file, schema)
    with writer:
        for batch in rows.batches:
            writer.write_batch(batch.cast(schema))
            count += batch.num_rows
    return count


def _flat(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if hasattr(kind, "value_type") else kind


def _lines(batches: Iterable[pa.RecordBatch], ascii_only: bool) -> Iterator[bytes]:
    for batch in batches:
        for row in batch.to_pylist():
            plain = {name: _cell(value) for name, value in row.items()}
            yield json.dumps(plain, allow_nan=False, ensure_ascii=ascii_only).encode() + b"\n"


def _cell(value: Any) -> Any:
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
