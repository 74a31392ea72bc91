"""What may give other rows, or none, when asked again: lazy frames, queries, readers of record batches."""

from __future__ import annotations

from typing import Any

from surefit.data.files import DataFile, reading
from surefit.data.read import Reader
from surefit.data.readers.arrow_file import ArrowFile
from surefit.data.readers.spill import Spilled, SpillFolder, room_in, spill


class LazyFrameReader(Reader):
    """polars.LazyFrame: its engine runs the query once, in pieces, into a file."""

    name = "lazy-frame"
    opens = "polars lazy frames"

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Look at the type's own name, so that polars need not be imported."""
        return type(what).__module__.partition(".")[0] == "polars" and type(what).__name__ == "LazyFrame"

    @classmethod
    def open(cls, what: Any) -> Spilled:
        """Run the query."""
        import polars as pl

        folder = SpillFolder()
        name = folder.file(0)
        with reading("the lazy frame"), room_in(folder):
            what.sink_ipc(name, compat_level=pl.CompatLevel.oldest(), maintain_order=True)
        file = ArrowFile.at(DataFile.at(name))
        rows = sum(batch.num_rows for batch in file.batches(file.arrow_schema.names[:1]))
        file = ArrowFile(file.file, file.arrow_schema, rows)
        return Spilled((file,), file.arrow_schema, folder)


class ArrowReaderReader(Reader):
    """Anything that hands over record batches once: a RecordBatchReader, a Scanner, a query of a database."""

    name = "arrow-reader"
    opens = "pyarrow readers, and whatever speaks Arrow's stream interface"

    @classmethod
    def takes(cls, what: Any) -> bool:
        """The interface is a method; what else has it is a frame or a table, in memory or lazy."""
        if type(what).__module__ == "pyarrow._dataset":
            return type(what).__name__ == "Scanner"
        others = ("pandas", "polars", "pyarrow._dataset")
        if type(what).__module__.startswith(others) or type(what).__name__ in {"Table", "RecordBatch"}:
            return False
        return hasattr(what, "__arrow_c_stream__")

    @classmethod
    def open(cls, what: Any) -> Spilled:
        """Read it to the end."""
        import pyarrow as pa

        with reading("the query"):
            reader = (
                what.to_reader() if hasattr(what, "to_reader") else pa.RecordBatchReader.from_stream(what)
            )
            with reader:
                return spill(reader, reader.schema)
