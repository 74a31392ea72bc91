"""Tables to files and to standard output, batch by batch; a file is there whole or not at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from surefit.core.errors import DataError
from surefit.core.files import atomic

if TYPE_CHECKING:
    import pyarrow as pa

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
    """Write rows to standard output."""
    return _written(sys.stdout.buffer, ending, rows)


def _written(file: IO[bytes], ending: str, rows: Rows) -> int:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    count = 0
    if ending in (".jsonl", ".ndjson"):
        for line in _lines(rows.batches):
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


def _lines(batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    for batch in batches:
        for row in batch.to_pylist():
            plain = {name: _cell(value) for name, value in row.items()}
            yield json.dumps(plain, allow_nan=False, ensure_ascii=False).encode() + b"\n"


def _cell(value: Any) -> Any:
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
