"""Sources: re-iterable streams of batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from surefit.data.batch import Batch
from surefit.data.schema import Schema


@runtime_checkable
class Source(Protocol):
    """Rows that can be read many times, in the same order each time."""

    @property
    def schema(self) -> Schema:
        """What is known beforehand."""

    def __iter__(self) -> Iterator[Batch]:
        """Start a pass."""

    def parts(self) -> Sequence[Source]:
        """Independent pieces, in row order, for threads and clusters."""


@dataclass(frozen=True, slots=True)
class ArraySource:
    """A table in memory: one batch, without a copy."""

    schema: Schema
    batch: Batch

    def __iter__(self) -> Iterator[Batch]:
        yield self.batch

    def parts(self) -> Sequence[Source]:
        """The table is one piece: kernels split it among threads themselves."""
        return (self,)
