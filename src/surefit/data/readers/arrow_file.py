"""Arrow IPC files, also called Feather: the format of the file and that of the stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefit.data.checks.schemas import common_schema
from surefit.data.files import DataFile, FileFormat
from surefit.data.stream import ArrowStream, Chain, batch_rows

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"ARROW1"  # how a file starts; a stream does not


@dataclass(frozen=True, slots=True)
class ArrowFile:
    """One file; the batches are those that were written, cut where they are larger than ours."""

    file: DataFile
    arrow_schema: pa.Schema
    rows: int | None = None

    @classmethod
    def at(cls, file: DataFile, rows: int | None = None) -> ArrowFile:
        """Read the schema."""
        with _reader(file) as reader:
            return cls(file, reader.schema, rows)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read one batch after the other; buffers of other columns are passed over."""
        names = self.arrow_schema.names if columns is None else list(columns)
        with _reader(self.file, [self.arrow_schema.get_field_index(name) for name in names]) as reader:
            for batch in _each(reader):
                rows = batch_rows(max(8 * len(names), batch.nbytes / max(1, batch.num_rows)))
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)

    def parts(self) -> Sequence[ArrowStream]:
        """A file is one piece."""
        return (self,)


@contextmanager
def _reader(file: DataFile, included: list[int] | None = None) -> Iterator[Any]:
    import pyarrow as pa

    # Not a memory map: a mapped file that is cut short ends the process.
    options = pa.ipc.IpcReadOptions(included_fields=included)
    with file.opened() as path, pa.OSFile(path) as opened:
        is_file = opened.read(len(MAGIC)) == MAGIC
        opened.seek(0)
        yield (pa.ipc.open_file if is_file else pa.ipc.open_stream)(opened, options=options)


def _each(reader: Any) -> Iterator[pa.RecordBatch]:
    if hasattr(reader, "get_batch"):
        return (reader.get_batch(index) for index in range(reader.num_record_batches))
    return iter(reader)


class Arrow(FileFormat):
    """Arrow IPC: read without decoding."""

    name = "arrow"
    endings = (".arrow", ".feather", ".ipc", ".arrows")

    @classmethod
    def open(cls, files: Sequence[DataFile]) -> ArrowStream:
        """Read all schemas, and compare them."""
        members = tuple(ArrowFile.at(file) for file in files)
        return Chain(members, common_schema((member.file.path, member.arrow_schema) for member in members))
