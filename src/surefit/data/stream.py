"""Streams of Arrow record batches: what every reader makes, and all that a table source knows of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 64 * 2**20  # what a batch may weigh once it is decoded


@runtime_checkable
class ArrowStream(Protocol):
    """A table that can be read many times, in the same row order each time, batch by batch."""

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types, the same for all batches."""

    @property
    def rows(self) -> int | None:
        """How many rows, None when that takes a pass to know."""

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Start a pass over all columns, or over some; nothing else is read then."""

    def parts(self) -> Sequence[ArrowStream]:
        """Independent pieces in row order: the files of a folder, the row groups of a file."""
