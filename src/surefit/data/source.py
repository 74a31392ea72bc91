"""Sources: re-iterable streams of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.schema import Column, Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from surefit.data.stream import ArrowStream


class Source(Protocol):
    """Rows that can be read many times, in the same order each time.

    A source, or the stream behind it, may name the engine that suits it in an attribute ``engine``.
    """

    @property
    def schema(self) -> Schema:
        """What is known beforehand."""

    def __iter__(self) -> Iterator[Batch]:
        """Start a pass."""

    def parts(self) -> Sequence[Source]:
        """Independent pieces, in row order, for threads and clusters."""


def is_source(what: Any) -> TypeGuard[Source]:
    """Whether it is a source, by its type alone: a lazy frame's ``schema`` costs a query.

    >>> is_source(ArraySource(Schema(1), Batch(np.ones((2, 1))))), is_source([1.0])
    (True, False)
    """
    methods = all(hasattr(type(what), name) for name in ("parts", "__iter__"))
    return methods and (hasattr(type(what), "schema") or "schema" in getattr(what, "__dict__", ()))


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


@dataclass(frozen=True, slots=True)
class TableSource:
    """A typed table behind an Arrow stream: files, frames, or whatever a reader opened.

    The target stays as it is in the table until a model says whether it wants numbers or classes: see
    ``with_target``. others: the targets after the first, where several were named.
    """

    stream: ArrowStream
    schema: Schema
    target: Column | None = None
    weight: str | None = None
    start: int = 0
    others: tuple[Column, ...] = ()

    @property
    def targets(self) -> tuple[Column, ...]:
        """All columns that are targets."""
        return () if self.target is None else (self.target, *self.others)

    def __iter__(self) -> Iterator[Batch]:
        return (make() for make in self.deferred())

    def deferred(self) -> Iterator[Callable[[], Batch]]:
        """Read record batches, and leave it to the caller when each becomes a batch."""
        assert self.schema.columns is not None
        names = [column.name for column in self.schema.columns]
        extra = [*(column.name for column in self.targets), *([] if self.weight is None else [self.weight])]
        start = self.start
        for batch in self.stream.batches(list(dict.fromkeys([*names, *extra]))):
            if batch.num_rows == 0:
                continue
            yield partial(self.converted, batch, start)
            start += batch.num_rows

    def converted(self, batch: pa.RecordBatch, start: int) -> Batch:
        """Make a batch of a record batch of the stream; start: the number of its first row."""
        from surefit.data.arrow import to_numpy, to_table

        assert self.schema.columns is not None
        weight = None if self.weight is None else to_numpy(batch.column(self.weight), Column(self.weight))
        return Batch(to_table(batch, self.schema.columns), self._target_of(batch), weight, start)

    def _target_of(self, batch: pa.RecordBatch) -> NDArray[Any] | None:
        from surefit.data.arrow import to_numpy

        if self.target is None:
            return None
        if not self.schema.target_is_flat:
            return np.column_stack([to_numpy(batch.column(one.name), one) for one in self.targets])
        values = to_numpy(batch.column(self.target.name), self.target)
        classes = self.schema.classes
        if classes is None or self.target.kind == "category":
            return values
        # The classes of a number or boolean are its sorted distinct values.
        codes = np.searchsorted(classes, values).astype(np.int64)
        known = np.isin(values, classes)
        return np.where(known, codes, -1)

    def parts(self) -> Sequence[Source]:
        """One piece for each independent part of the stream."""
        pieces, start = [], self.start
        parts = self.stream.parts()
        if any(part.rows is None for part in parts[:-1]):
            return (self,)  # a later part would not know the number of its first row
        for part in parts:
            pieces.append(replace(self, stream=part, start=start))
            start += part.rows or 0
        return pieces


@dataclass(frozen=True, slots=True)
class MappedSource:
    """Another source with a function applied to each batch as it passes; nothing is kept."""

    origin: Source
    schema: Schema
    function: Callable[[Batch], Batch]

    def __iter__(self) -> Iterator[Batch]:
        return map(self.function, self.origin)

    def deferred(self) -> Iterator[Callable[[], Batch]]:
        """The origin's batches, still to be made and mapped."""
        return (partial(self._mapped, make) for make in deferred(self.origin))

    def _mapped(self, make: Callable[[], Batch]) -> Batch:
        return self.function(make())

    def parts(self) -> Sequence[Source]:
        """The parts of the origin, mapped alike."""
        return [MappedSource(part, self.schema, self.function) for part in self.origin.parts()]


def deferred(source: Source) -> Iterator[Callable[[], Batch]]:
    """The batches of a source as functions that make them, so that threads which take turns at reading share
    the work that comes after it.
    """
    later: Any = getattr(source, "deferred", None)
    return (partial(_itself, batch) for batch in source) if later is None else later()


def _itself(batch: Batch) -> Batch:
    return batch


def in_memory(source: Source) -> Batch | None:
    """Return the one batch of a source that lies in memory, mapped or not; None for any other."""
    if isinstance(source, ArraySource):
        return source.batch
    if isinstance(source, MappedSource):
        batch = in_memory(source.origin)
        return None if batch is None else source.function(batch)
    return None
