"""Streams: what every reader makes, and all that a source knows of files, frames and clusters.

An ``ArrowStream`` is a typed table, a ``MatrixStream`` plain numbers without names. A stream may have more:

- ``beside(role, values)`` joins a target or weights that are not a column;
- ``headed(header)`` says whether the first row of a text file holds names;
- ``like(columns)`` reads a text format by the kinds of columns seen before, not by its looks;
- ``select(names)`` leaves other columns out before anything is read;
- ``seen_levels(names)`` finds levels where the data lie, instead of reading them here;
- ``engine`` names the engine that suits it;
- ``one_at_a_time`` tells that an open part takes much memory, so that threads had better share one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from numpy.typing import NDArray

from surefit.core.progress import progress

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 8 * 2**20  # what a batch may weigh once it is decoded
Role = Literal["target", "weight"]
JOINED: dict[Role, str] = {"target": "(target)", "weight": "(weight)"}  # columns that ``beside`` adds


def batch_rows(bytes_per_row: float) -> int:
    """How many rows make a batch."""
    return max(1, int(BATCH_BYTES / max(1.0, bytes_per_row)))


@runtime_checkable
class ArrowStream(Protocol):
    """A table that can be read many times, in the same row order each time, batch by batch."""

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types; in all batches a column is of the same kind."""

    @property
    def rows(self) -> int | None:
        """How many rows, None when that takes a pass to know."""

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Start a pass over all columns, or over some; nothing else is read then."""

    def parts(self) -> Sequence[ArrowStream]:
        """Independent pieces in row order: the files of a folder, the row groups of a file."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Streams one after the other, as one."""

    members: tuple[ArrowStream, ...]
    arrow_schema: pa.Schema

    @property
    def rows(self) -> int | None:
        """The sum, if all are known."""
        return total_rows(member.rows for member in self.members)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read one after the other."""
        return chain.from_iterable(member.batches(columns) for member in self.members)

    def parts(self) -> Sequence[ArrowStream]:
        """The members; those of the only one, where there is but one."""
        return self.members if len(self.members) > 1 else self.members[0].parts()


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of plain numbers, with the target and weights beside them as they came."""

    X: Any
    y: NDArray[Any] | None = None
    weight: NDArray[Any] | None = None


class MatrixStream(ABC):
    """Matrices without names that can be read many times, in the same row order each time."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many columns."""

    @property
    @abstractmethod
    def rows(self) -> int | None:
        """How many rows, None when that takes a pass to know."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[int, ...] | None:
        """The shape of one row's target, () for a plain one; None for no target."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Start a pass."""

    @abstractmethod
    def distinct_targets(self) -> Iterable[NDArray[Any]]:
        """The distinct targets of each block; nothing else is read."""

    def parts(self) -> Sequence[MatrixStream]:
        """Independent pieces, in row order."""
        return (self,)


def total_rows(counts: Iterable[int | None]) -> int | None:
    """Add up what is known; None if any is not."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def watched(
    batches: Iterable[pa.RecordBatch], label: str, rows: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Pass batches on, under a progress bar that appears when it takes long."""
    with progress(label, rows) as bar:
        for batch in batches:
            yield batch
            bar.advance(batch.num_rows)
