"""Parquet files, a run of row groups at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from surefit.core.config import threads
from surefit.data.checks.schemas import common_schema
from surefit.data.files import DataFile, FileFormat
from surefit.data.stream import BATCH_BYTES, ArrowStream, Chain, batch_rows

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

WHOLE = 85_000_000  # bytes of a run that is decoded at once: two thirds of the time of batch after batch
PIECES = 2  # of a run that is decoded at once: one is added up while the other is; each takes a join
AT_ONCE = 2  # batches of a larger run, each
LARGER = 2  # times as large: fewer starts in the middle of a page, for a little memory
BUFFER = 2**16  # bytes of a column that are fetched at once; every column has one


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring row groups that are read together: about a batch, or one that is larger."""

    groups: tuple[int, ...]
    rows: int
    decoded: int  # bytes


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """One file, or some of its row groups.

    Batches end where a run ends, so that a file read whole and read in parts has the same batches.
    """

    file: DataFile
    arrow_schema: pa.Schema
    runs: tuple[Run, ...]
    one_at_a_time = True  # every column of an open row group takes two megabytes or three

    @classmethod
    def at(cls, file: DataFile) -> ParquetFile:
        """Read the footer."""
        import pyarrow.parquet as pq

        with file.opened() as path, pq.ParquetFile(path) as opened:
            return cls(file, opened.schema_arrow, tuple(_runs(opened.metadata, opened.schema_arrow)))

    @property
    def rows(self) -> int:
        """The sum over the row groups."""
        return sum(run.rows for run in self.runs)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Decode run by run; of a large run a few batches at a time, and its bytes as they are needed.

        Columns are decoded side by side, on as many threads as the caller has.
        """
        import pyarrow.parquet as pq

        names = self.arrow_schema.names if columns is None else list(columns)
        # Strings stay codes and a dictionary, which take a fraction of the room and of the time.
        strings = [
            name for name in names if str(self.arrow_schema.field(name).type) in ("string", "large_string")
        ]
        how = {"buffer_size": BUFFER, "pre_buffer": False, "read_dictionary": strings}
        how["page_checksum_verification"] = True  # of pages that were written with one
        share = len(names) / max(1, len(self.arrow_schema.names))
        with self.file.opened() as path, pq.ParquetFile(path, **how) as opened:
            for run in self.runs:
                rows = batch_rows(share * run.decoded / max(1, run.rows))
                which: dict[str, Any] = {"columns": names, "use_threads": threads() > 1}
                if share * run.decoded <= WHOLE:
                    rows = max(rows, -(-run.rows // PIECES))
                    table = opened.read_row_groups(list(run.groups), **which)
                    several = iter((table.combine_chunks() if len(run.groups) > 1 else table).to_batches())
                    del table
                else:
                    rows *= LARGER
                    several = opened.iter_batches(AT_ONCE * rows, list(run.groups), **which)
                for some in several:
                    yield from (some.slice(at, rows) for at in range(0, some.num_rows, rows))
                    del some  # or it would wait here while the next run is read

    def parts(self) -> Sequence[ArrowStream]:
        """One for each run of row groups."""
        return [replace(self, runs=(run,)) for run in self.runs] or [self]


def _runs(metadata: pq.FileMetaData, schema: pa.Schema) -> Iterator[Run]:
    """Pack row groups into runs of about a batch."""
    import pyarrow as pa

    numbers = all(pa.types.is_primitive(kind) for kind in schema.types)
    groups: list[int] = []
    rows = decoded = 0
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        # Once decoded, a number takes eight bytes in a table, whatever dictionary or compression there was.
        size = 8 * group.num_rows * group.num_columns
        size = size if numbers else max(group.total_byte_size, size)
        if groups and decoded + size > BATCH_BYTES:
            yield Run(tuple(groups), rows, decoded)
            groups, rows, decoded = [], 0, 0
        groups.append(index)
        rows, decoded = rows + group.num_rows, decoded + size
    if rows:
        yield Run(tuple(groups), rows, decoded)


class Parquet(FileFormat):
    """Parquet: typed, compressed, by columns; the best format for a large table."""

    name = "parquet"
    endings = (".parquet", ".pq")

    @classmethod
    def open(cls, files: Sequence[DataFile]) -> ArrowStream:
        """Read all footers, and compare them."""
        members = tuple(ParquetFile.at(file) for file in files)
        schema = common_schema((member.file.path, member.arrow_schema) for member in members)
        return Chain(members, schema)
