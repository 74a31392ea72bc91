"""Tables of pyarrow, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefit.data.read import Reader
from surefit.data.stream import BATCH_BYTES, ArrowStream

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ArrowTable:
    """An Arrow table as a stream; its batches are views."""

    table: pa.Table

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types."""
        return self.table.schema

    @property
    def rows(self) -> int:
        """How many rows."""
        return int(self.table.num_rows)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Cut the table into batches without a copy."""
        table = self.table if columns is None else self.table.select(list(columns))
        rows = max(1, BATCH_BYTES // max(1, 8 * max(1, table.num_columns)))
        return iter(table.to_batches(max_chunksize=rows))

    def parts(self) -> Sequence[ArrowStream]:
        """The table is one piece."""
        return (self,)


class ArrowTableReader(Reader):
    """pyarrow.Table and pyarrow.RecordBatch."""

    name = "arrow-table"
    opens = "pyarrow tables"

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Look at the type's own name, so that pyarrow need not be imported."""
        return type(what).__module__ == "pyarrow.lib" and type(what).__name__ in {"Table", "RecordBatch"}

    @classmethod
    def open(cls, what: Any) -> ArrowTable:
        """Wrap it."""
        import pyarrow as pa

        return ArrowTable(pa.Table.from_batches([what]) if isinstance(what, pa.RecordBatch) else what)
