"""Iterators and generators of batches: arrays, frames or tables, alone or as (X, y) or (X, y, weight)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.matrix import distinct_labels, matrix
from surefit.data.read import Reader, find_reader
from surefit.data.readers.arrays import ArrayStream
from surefit.data.readers.arrow_table import ArrowTable
from surefit.data.readers.spill import Spilled, spill
from surefit.data.stream import ArrowStream, Block, MatrixStream

if TYPE_CHECKING:
    import pyarrow as pa


class IteratorReader(Reader):
    """Batches that come once; they are spilled to disk, one at a time."""

    name = "iterator"
    opens = "iterators of arrays, frames or tables, alone or as (X, y) or (X, y, weight)"

    @classmethod
    def takes(cls, what: Any) -> bool:
        """What can be asked for the next batch."""
        return hasattr(what, "__next__") and not hasattr(what, "__arrow_c_stream__")

    @classmethod
    def open(cls, what: Any) -> ArrowStream | MatrixStream:
        """Take all batches in."""
        opened = (_opened(index, item) for index, item in enumerate(what))
        first = next(opened, None)
        if first is None:
            raise DataError("the iterator gave no batch: was it read before? Pass a new one.")
        spilled = spill(_record_batches(first, opened))
        return SpilledMatrix(spilled, first.width) if isinstance(first, ArrayStream) else spilled


def _opened(index: int, item: Any) -> ArrayStream | ArrowTable:
    """One item, with its target and weights joined."""
    X, y, weight = (
        (*item, None, None)[:3] if isinstance(item, tuple) and 1 <= len(item) <= 3 else (item, None, None)
    )
    reader = find_reader(X)
    stream: Any = None if reader is None else reader.open(X)
    if not isinstance(stream, ArrayStream | ArrowTable):
        raise DataError(
            f"batch {index} of the iterator is a {type(X).__name__}: give arrays, frames or tables, "
            "or tuples (X, y) or (X, y, weight) of them."
        )
    try:
        joined: ArrayStream | ArrowTable = stream if y is None else stream.beside("target", y)
        return joined if weight is None else joined.beside("weight", weight)
    except DataError as error:
        raise DataError(f"batch {index} of the iterator: {error}") from error


def _record_batches(
    first: ArrayStream | ArrowTable, rest: Iterable[ArrayStream | ArrowTable]
) -> Iterator[pa.RecordBatch]:
    for index, stream in enumerate(chain([first], rest)):
        if isinstance(stream, ArrayStream) and isinstance(first, ArrayStream):
            if _layout(stream) != _layout(first):
                raise DataError(
                    f"batch {index} of the iterator has {_described(stream)}, "
                    f"but the first has {_described(first)}."
                )
            yield _encode(stream)
        elif isinstance(stream, ArrowTable) and isinstance(first, ArrowTable):
            yield from stream.batches()
        else:
            raise DataError(
                f"batch {index} of the iterator is of another form than the first: give one form."
            )


def _layout(stream: ArrayStream) -> tuple[Any, ...]:
    return isinstance(stream.X, np.ndarray), stream.width, stream.outputs, stream.weight is None


def _described(stream: ArrayStream) -> str:
    form = "dense" if isinstance(stream.X, np.ndarray) else "sparse"
    target = "no y" if stream.outputs is None else f"y of shape {stream.outputs or '(n,)'}"
    return f"{stream.width} {form} columns, {target} and {'no' if stream.weight is None else 'a'} weight"


def _encode(stream: ArrayStream) -> pa.RecordBatch:
    """A block of rows as columns of lists: what stands beside them keeps its type."""
    import pyarrow as pa

    X = matrix(stream.X)
    if isinstance(X, np.ndarray):
        columns: dict[str, Any] = {"X": _lists(X.astype(np.float64, copy=False))}
    else:
        offsets = pa.array(X.indptr.astype(np.int64))
        columns = {
            "indices": pa.LargeListArray.from_arrays(offsets, pa.array(X.indices.astype(np.int64))),
            "values": pa.LargeListArray.from_arrays(offsets, pa.array(X.data.astype(np.float64))),
        }
    for name, side in (("y", stream.y), ("weight", stream.weight)):
        if side is not None:
            columns[name] = pa.array(side) if side.ndim == 1 else _lists(side)
    return pa.RecordBatch.from_pydict(columns)


def _lists(rows: NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(rows).reshape(-1)), rows.shape[1])


@dataclass(frozen=True)
class SpilledMatrix(MatrixStream):
    """Blocks of plain numbers, read back from disk."""

    spilled: Spilled
    columns: int

    @property
    def width(self) -> int:
        """How many columns."""
        return self.columns

    @property
    def rows(self) -> int:
        """Counted when they were written."""
        return self.spilled.rows

    @property
    def outputs(self) -> tuple[int, ...] | None:
        """The shape of one row's target."""
        names = self.spilled.arrow_schema.names
        if "y" not in names:
            return None
        kind = self.spilled.arrow_schema.field("y").type
        return (kind.list_size,) if hasattr(kind, "list_size") else ()

    def blocks(self) -> Iterator[Block]:
        """Decode batch by batch."""
        for batch in self.spilled.batches():
            sides = [_rows_of(batch, name) for name in ("y", "weight")]
            yield Block(self._matrix(batch), *sides)

    def _matrix(self, batch: pa.RecordBatch) -> Any:
        if "X" in batch.schema.names:
            return _rows_of(batch, "X")
        from scipy.sparse import csr_array

        indices, values = batch.column("indices"), batch.column("values")
        offsets = indices.offsets.to_numpy()
        small = np.int32 if max(self.columns, offsets[-1] - offsets[0]) < 2**31 else np.int64
        parts = (values.flatten().to_numpy(), indices.flatten().to_numpy().astype(small))
        return csr_array((*parts, (offsets - offsets[0]).astype(small)), shape=(batch.num_rows, self.columns))

    def distinct_targets(self) -> Iterable[NDArray[Any]]:
        """Read the target alone."""
        return (distinct_labels(_rows_of(batch, "y")) for batch in self.spilled.batches(["y"]))

    def parts(self) -> Sequence[MatrixStream]:
        """The files."""
        return [replace(self, spilled=part) for part in self.spilled.parts()]


def _rows_of(batch: pa.RecordBatch, name: str) -> Any:
    if name not in batch.schema.names:
        return None
    column = batch.column(name)
    if not hasattr(column.type, "list_size"):
        return column.to_numpy(zero_copy_only=False)
    return column.flatten().to_numpy(zero_copy_only=False).reshape(batch.num_rows, column.type.list_size)
