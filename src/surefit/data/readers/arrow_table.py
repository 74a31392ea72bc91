"""Tables of pyarrow, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefit.core.errors import DataError
from surefit.data.read import Reader
from surefit.data.stream import JOINED, ArrowStream, Role, batch_rows

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
        return iter(table.to_batches(max_chunksize=batch_rows(8 * table.num_columns)))

    def parts(self) -> Sequence[ArrowStream]:
        """The table is one piece."""
        return (self,)

    def beside(self, role: Role, values: Any) -> ArrowTable:
        """Add a column named after its role."""
        import pyarrow as pa

        column = np.asarray(values)
        if column.ndim != 1 or len(column) != self.rows:
            raise DataError(f"the {role} has shape {column.shape}, but the table has {self.rows} rows.")
        return ArrowTable(self.table.append_column(JOINED[role], pa.array(column, from_pandas=True)))


class ArrowTableReader(Reader):
    """pyarrow.Table and pyarrow.RecordBatch."""

    name = "arrow-table"
    opens = "pyarrow tables and record batches"

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Look at the type's own name, so that pyarrow need not be imported."""
        return type(what).__module__ == "pyarrow.lib" and type(what).__name__ in {"Table", "RecordBatch"}

    @classmethod
    def open(cls, what: Any) -> ArrowTable:
        """Wrap it."""
        import pyarrow as pa

        return ArrowTable(pa.Table.from_batches([what]) if isinstance(what, pa.RecordBatch) else what)
