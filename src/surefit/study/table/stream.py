"""Any table as a stream of named columns, and a sample of its rows: what a study reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefit.core.errors import DataError
from surefit.data.checks.schemas import name_given_twice
from surefit.data.matrix import MatrixSource
from surefit.data.read import open_stream
from surefit.data.readers.text import TextFiles
from surefit.data.source import ArraySource, TableSource, is_source
from surefit.data.stream import JOINED, ArrowStream, Block, MatrixStream

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """An array as a table, whose columns are called x0, x1, ... as scikit-learn does."""

    matrix: MatrixStream
    arrow_schema: pa.Schema

    @property
    def rows(self) -> int | None:
        """How many rows."""
        return self.matrix.rows

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Cut blocks into columns."""
        names = self.arrow_schema.names if columns is None else list(columns)
        for block in self.matrix.blocks():
            yield _record_batch(block).select(names)

    def parts(self) -> Sequence[ArrowStream]:
        """The parts of the array."""
        return [NamedColumns(part, self.arrow_schema) for part in self.matrix.parts()]


def _record_batch(block: Block) -> pa.RecordBatch:
    import pyarrow as pa

    X = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
    cells = {f"x{j}": pa.array(np.ascontiguousarray(X[:, j]), from_pandas=True) for j in range(X.shape[1])}
    for name, side in ((JOINED["target"], block.y), (JOINED["weight"], block.weight)):
        if side is not None:
            cells[name] = pa.array(np.ascontiguousarray(side), from_pandas=True)
    return pa.RecordBatch.from_pydict(cells)


@dataclass(frozen=True, slots=True)
class InMemory:
    """Record batches of a file that were kept as they passed: it need not be read again."""

    arrow_schema: pa.Schema
    kept: tuple[pa.RecordBatch, ...]

    @property
    def rows(self) -> int | None:
        """How many rows."""
        return sum(batch.num_rows for batch in self.kept)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The same batches as the file gives."""
        return iter(self.kept) if columns is None else (batch.select(list(columns)) for batch in self.kept)

    def parts(self) -> Sequence[ArrowStream]:
        """A file is one."""
        return (self,)


class Keeper:
    """Keeps the batches of a text file as they pass, while they have few rows.

    Other formats cut batches by the columns that are asked for, and are quick to read again.
    """

    def __init__(self, stream: ArrowStream, most: int) -> None:
        self._stream = stream
        self._left = most if isinstance(stream, TextFiles) and len(stream.files) == 1 else 0
        self._kept: list[pa.RecordBatch] = []

    def see(self, batch: pa.RecordBatch, start: int = 0) -> None:
        """Take in a batch."""
        self._left -= batch.num_rows
        if self._left >= 0:
            self._kept.append(batch)
        else:
            self._kept.clear()

    def stream(self) -> ArrowStream:
        """What was kept of all rows, or the stream itself."""
        return InMemory(self._stream.arrow_schema, tuple(self._kept)) if self._kept else self._stream


def stream_of(table: Any, target: Any = None) -> tuple[ArrowStream, str | None]:
    """Open anything that holds a table; return its stream and the name of the target.

    target: the name of a column, or its values, which then join the table as the column "(target)".

    >>> import numpy as np
    >>> stream, target = stream_of(np.ones((3, 2)), target=[0, 1, 0])
    >>> stream.arrow_schema.names, target
    (['x0', 'x1', '(target)'], '(target)')
    """
    if is_source(table):
        return _of_source(table, target)
    stream: Any = open_stream(table)
    if target is not None and not isinstance(target, str):
        if not hasattr(stream, "beside"):
            raise DataError("the target must name a column of a table that is read from files: name it.")
        stream, target = stream.beside("target", target), JOINED["target"]
    if isinstance(stream, MatrixStream):
        stream = _named(stream)
    twice = name_given_twice(stream.arrow_schema.names)
    if twice is not None:
        raise DataError(f"the table has two columns named {twice!r}: rename one of them.")
    return stream, target


def _of_source(source: Any, target: Any) -> tuple[ArrowStream, str | None]:
    if isinstance(source, TableSource):
        own = None if source.target is None else source.target.name
        return source.stream, own if target is None else target
    if isinstance(source, MatrixSource):
        stream = _named(source.stream)
        own = JOINED["target"] if JOINED["target"] in stream.arrow_schema.names else None
        return stream, own if target is None else target
    if isinstance(source, ArraySource):
        batch = source.batch
        return stream_of(batch.X, batch.y if target is None else target)
    raise DataError(f"a {type(source).__name__} cannot be studied: pass the table that it was made of.")


def _named(matrix: MatrixStream) -> NamedColumns:
    first = next(iter(matrix.blocks()), None)
    if first is None:
        raise DataError("the table has no rows.")
    X = first.X[:1]
    sides = [None if side is None else side[:1] for side in (first.y, first.weight)]
    return NamedColumns(matrix, _record_batch(Block(X, *sides)).schema)


class Sampler:
    """Draws rows at random, without replacement, from batches as they pass, and keeps their order.

    Every row draws a key, and the rows of the least keys stay.
    """

    def __init__(self, rows: int, seed: int = 0) -> None:
        self.rows = rows
        self._rng = np.random.Generator(np.random.Philox(seed))
        self._kept: pa.Table | None = None
        self._keys = np.zeros(0)

    def see(self, batch: pa.RecordBatch, start: int = 0) -> None:
        """Take in a batch."""
        import pyarrow as pa

        if batch.num_rows == 0:
            return
        keys = self._rng.random(batch.num_rows)
        if len(self._keys) >= self.rows:
            near = np.flatnonzero(keys < np.partition(self._keys, self.rows - 1)[self.rows - 1])
            batch, keys = batch.take(near), keys[near]
        piece = pa.Table.from_batches([batch])
        parts = [piece] if self._kept is None else [self._kept, piece]
        self._kept = pa.concat_tables(parts, promote_options="permissive")
        self._keys = np.concatenate([self._keys, keys])
        if len(self._keys) > 2 * self.rows:
            self._shorten()

    def _shorten(self) -> None:
        if self._kept is not None and len(self._keys) > self.rows:
            places = np.sort(np.argpartition(self._keys, self.rows)[: self.rows])
            self._kept, self._keys = self._kept.take(places), self._keys[places]

    def table(self) -> pa.Table | None:
        """The rows drawn; None if there were none."""
        self._shorten()
        return None if self._kept is None else self._kept.combine_chunks()


def sample(stream: ArrowStream, rows: int, seed: int = 0) -> pa.Table:
    """Draw rows at random in one pass, without replacement, in the order of the table; or all.

    >>> import pyarrow as pa
    >>> stream, _ = stream_of(pa.table({"a": range(100)}))
    >>> sample(stream, 3).num_rows, sample(stream, 1000).num_rows
    (3, 100)
    """
    sampler = Sampler(rows, seed)
    for batch in stream.batches():
        sampler.see(batch)
    drawn = sampler.table()
    return stream.arrow_schema.empty_table() if drawn is None else drawn
