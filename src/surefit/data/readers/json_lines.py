"""JSON lines: one object a line, its keys are the columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from surefit.core.errors import DataError
from surefit.data.files import DataFile, FileFormat
from surefit.data.readers.text import InferredSchema, TextFiles
from surefit.data.readers.text_types import InferredType
from surefit.data.stream import ArrowStream, watched
from surefit.data.unpacked import BLOCK, PACKED, unpacked

if TYPE_CHECKING:
    import pyarrow as pa

DEEPEST = 64  # levels that a cell may be nested; a table needs one, and the parser crashes at some thousands
_STEP = np.zeros(256, dtype=np.int8)  # what each letter adds to the depth
_STEP[list(b"[{")], _STEP[list(b"]}")] = 1, -1


class JsonLines(TextFiles):
    """Files of objects; a key that a line lacks is a missing cell."""

    def _names(self) -> list[str]:
        return list(self.arrow_schema.names)

    def _find(self) -> InferredSchema:
        import pyarrow as pa

        kinds: dict[str, pa.DataType] = {}
        dates: defaultdict[str, InferredType] = defaultdict(partial(InferredType, only_dates=True))
        counts = []
        for file in self.files:
            rows = 0
            for batch in watched(_parse(file, None), f"finding types in {file.path}"):
                rows += batch.num_rows
                for field in batch.schema:
                    kinds[field.name] = _join(file, field, kinds.get(field.name))
                    if pa.types.is_string(kinds[field.name]):
                        dates[field.name].see(batch.column(field.name))
            counts.append(rows)
        return InferredSchema(
            pa.schema(kinds | {name: look.type for name, look in dates.items()}), tuple(counts)
        )

    def _read(self, file: DataFile, schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        return _parse(file, pa.schema([schema.field(name) for name in columns]))


def _parse(file: DataFile, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.json

    options = None
    if schema is not None:
        options = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    reading = pa.json.ReadOptions(block_size=2 * BLOCK)
    with file.opened() as path:
        for text in _lines(path):
            table = pa.json.read_json(BytesIO(text), read_options=reading, parse_options=options)
            table = _as_text(table) if schema is None else table.select(schema.names)
            yield from table.combine_chunks().to_batches()


def _as_text(table: pa.Table) -> pa.Table:
    """Undo pyarrow's guess that a text is a date: other blocks may hold other texts."""
    import pyarrow as pa

    return table.cast(
        pa.schema([f.with_type(pa.string()) if pa.types.is_timestamp(f.type) else f for f in table.schema])
    )


def _lines(path: str) -> Iterator[bytes]:
    """Blocks of whole lines, none of which the parser could choke on."""
    rest = b""
    with unpacked(path) as file:
        while block := file.read(BLOCK):
            whole, end, tail = block.rpartition(b"\n")
            if end and (rest + whole).strip():
                yield _shallow(path, rest + whole + end)
            rest = tail if end else rest + tail
            if len(rest) > BLOCK:
                raise DataError(
                    f"{path} has a line of more than {BLOCK // 10**6} MB: write one object, a row, a line."
                )
    if rest.strip():
        yield _shallow(path, rest)


def _shallow(path: str, text: bytes) -> bytes:
    """Refuse text that is nested so deeply that parsing it would overflow the stack, line ends or not."""
    if depth(text) > DEEPEST:
        raise DataError(
            f"{path} holds a value that is nested more than {DEEPEST} levels deep: a cell of a table is a "
            "number, a text, true, false or null; leave that key out."
        )
    return text


def depth(text: bytes) -> int:
    """How deeply the brackets of JSON are nested; those within texts do not count.

    >>> depth(b'{"a": [[1], [2]]}'), depth(b'{"a": "[[[["}'), depth(b'{"a": 1}\\n{"a": 2}\\n')
    (3, 1, 1)
    """
    # Flat lines, which are nearly all that there are: each object begins where one has ended. A text cannot
    # hold a line's end, so the bracket before it is a bracket.
    if b"[" not in text and text.count(b"{") == text.count(b"}\n{") + text.startswith(b"{"):
        return 1
    if b"\\" in text:
        text = text.replace(b"\\\\", b"..").replace(b'\\"', b"..")
    letters = np.frombuffer(text, np.uint8)
    outside = np.bitwise_xor.accumulate(letters == ord('"')) == 0
    return int(np.cumsum(_STEP[letters] * outside, dtype=np.int32).max(initial=0))


def _join(file: DataFile, field: pa.Field, seen: pa.DataType | None) -> pa.DataType:
    """One type for two blocks; numbers and text in one column are an error."""
    import pyarrow.types as t

    kind = field.type
    if seen is None or t.is_null(seen) or kind == seen:
        return kind
    if t.is_null(kind):
        return seen
    if all(t.is_integer(k) or t.is_floating(k) for k in (kind, seen)):
        return kind if t.is_floating(kind) else seen
    raise DataError(
        f"{file.path}: column {field.name!r} holds {kind} in some rows and {seen} in others; "
        "write it with one type."
    )


class Json(FileFormat):
    """One JSON object a line."""

    name = "json-lines"
    endings = tuple(f"{kind}{packed}" for kind in (".jsonl", ".ndjson") for packed in ("", *PACKED))

    @classmethod
    def open(cls, files: Sequence[DataFile]) -> ArrowStream:
        """Types are found when they are asked for."""
        return JsonLines(files)
