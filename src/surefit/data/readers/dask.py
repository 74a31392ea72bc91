"""Dask arrays and data frames: partitions that stay where they are until one is read.

A part holds its partition as a Delayed. Handed to a task, Dask computes the partition where the task runs
and puts it in the Delayed's place; iterated here, a part computes its own partition and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, EngineError
from surefit.data.arrow import kind_of
from surefit.data.files import files_in_place
from surefit.data.levels import SeenValues, seen_levels
from surefit.data.matrix import distinct_labels
from surefit.data.read import Reader
from surefit.data.readers.arrays import to_csr
from surefit.data.readers.arrow_table import ArrowTable
from surefit.data.readers.frames import frame_to_arrow
from surefit.data.stream import JOINED, ArrowStream, Block, MatrixStream, Role

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def plain_errors() -> Iterator[None]:
    """Say in a sentence that a file is gone, or that a task killed every worker that tried it."""
    try:
        with files_in_place():
            yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # of distributed, which need not be there
            raise
        task, worker = error.args[0], error.args[1]
        raise EngineError(
            f"every worker that worked on the task {task!r} died, {worker.address} at last: "
            "give the workers more memory, or make the partitions smaller."
        ) from error


def _computed(value: Any) -> Any:
    return value.compute() if hasattr(value, "__dask_graph__") else value


@dataclass(frozen=True, slots=True)
class FramePart:
    """One partition of a data frame: a Delayed, or the frame that Dask put in its place."""

    partition: Any
    arrow_schema: pa.Schema
    rows: int
    number: int

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Compute the partition, hold it to what the frame declares, and cut it."""
        table = frame_to_arrow(_computed(self.partition))
        for field in self.arrow_schema:
            if columns is None or field.name in columns:
                _hold(field, table.schema, self.number)
        return ArrowTable(table).batches(columns)

    def parts(self) -> Sequence[ArrowStream]:
        """A partition is one piece."""
        return (self,)


def _hold(declared: pa.Field, schema: pa.Schema, number: int) -> None:
    """Refuse a partition that lacks a column, or holds something else than the numbers or dates declared."""
    import pyarrow as pa

    if declared.name not in schema.names:
        raise DataError(
            f"partition {number} has no column {declared.name!r}, which the frame declares: "
            "make all partitions alike."
        )
    found, wanted = schema.field(declared.name), kind_of(declared)
    plain = ("number", "boolean")
    if wanted == "category" or pa.types.is_null(found.type) or kind_of(found) == wanted:
        return
    if not (wanted in plain and kind_of(found) in plain):
        raise DataError(
            f"partition {number} holds {found.type} in column {declared.name!r}, which the frame declares as "
            f"{declared.type}: make all partitions alike."
        )


class DaskFrame:
    """A Dask data frame; the frame itself stays with the client."""

    engine = "dask"

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Names and types, from the frame's empty model; columns of objects count as text."""
        import pyarrow as pa

        schema = frame_to_arrow(self.frame._meta).schema
        return pa.schema([f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in schema])

    @cached_property
    def _counts(self) -> list[int]:
        """The rows of each partition, counted where they are."""
        import dask

        first = self.frame[[self.frame.columns[0]]]
        with plain_errors():
            return list(dask.compute(*(dask.delayed(len)(part) for part in _partitions(first))))

    @property
    def rows(self) -> int:
        """The sum over the partitions."""
        return sum(self._counts)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Compute one partition after the other."""
        stream = self if columns is None else self.select(columns)
        return chain.from_iterable(part.batches(columns) for part in stream.parts())

    def parts(self) -> Sequence[ArrowStream]:
        """The partitions."""
        pairs = zip(_partitions(self.frame), self._counts, strict=True)
        return [FramePart(one, self.arrow_schema, rows, n) for n, (one, rows) in enumerate(pairs)]

    def select(self, columns: Sequence[str]) -> DaskFrame:
        """Let Dask read the columns that are needed, and no others."""
        narrower = DaskFrame(self.frame[list(columns)])
        if "_counts" in self.__dict__:
            narrower.__dict__["_counts"] = self._counts
        return narrower

    def seen_levels(self, names: Sequence[str]) -> Sequence[dict[str, SeenValues]]:
        """Look through every partition where it is; only the levels come back."""
        import dask

        parts = _partitions(self.frame[list(names)])
        with plain_errors():
            return list(dask.compute(*(dask.delayed(_seen)(part, list(names)) for part in parts)))

    def beside(self, role: Role, values: Any) -> DaskFrame:
        """Add a column named after its role, from a Dask series or array with the same partitions."""
        if not is_dask(values):
            raise DataError(
                f"the {role} of a Dask frame must name a column or be a Dask series, "
                f"not a {type(values).__name__}."
            )
        return DaskFrame(self.frame.assign(**{JOINED[role]: values}))


def _partitions(frame: Any) -> Sequence[Any]:
    """The partitions as the frame counts them, of the columns that are needed.

    By itself Dask would join those of Parquet files where few columns are read, and then no longer have as
    many as were counted.
    """
    return list(frame.simplify().to_delayed(optimize_graph=False))


def _seen(frame: Any, names: Sequence[str]) -> dict[str, SeenValues]:
    return seen_levels(ArrowTable(frame_to_arrow(frame)).batches(names), names)


@dataclass(frozen=True)
class BlockPart(MatrixStream):
    """The rows of one chunk: Delayed, or what Dask put in their place."""

    X: Any
    y: Any
    weight: Any
    shape: tuple[int, int]
    outputs: tuple[int, ...] | None = None

    @property
    def width(self) -> int:
        """How many columns."""
        return self.shape[1]

    @property
    def rows(self) -> int:
        """How many rows."""
        return self.shape[0]

    def blocks(self) -> Iterator[Block]:
        """Compute the chunk."""
        X, y, weight = (_computed(value) for value in (self.X, self.y, self.weight))
        yield Block(to_csr(X) if hasattr(X, "tocsr") else np.asarray(X), y, weight)

    def distinct_targets(self) -> Iterable[NDArray[Any]]:
        """The distinct targets of the chunk."""
        return [distinct_labels(_computed(self.y))]


@dataclass(frozen=True)
class DaskMatrix(MatrixStream):
    """A Dask array, cut into rows only, with target and weights cut alike."""

    X: Any
    y: Any = None
    weight: Any = None
    engine = "dask"

    @property
    def width(self) -> int:
        """How many columns."""
        return int(self.X.shape[1])

    @property
    def rows(self) -> int:
        """How many rows."""
        return int(self.X.shape[0])

    @property
    def outputs(self) -> tuple[int, ...] | None:
        """The shape of one row's target."""
        return None if self.y is None else tuple(self.y.shape[1:])

    def blocks(self) -> Iterator[Block]:
        """Compute one chunk after the other."""
        return chain.from_iterable(part.blocks() for part in self.parts())

    def parts(self) -> Sequence[MatrixStream]:
        """The chunks."""
        sides = [_chunks(side, len(self.X.chunks[0])) for side in (self.X, self.y, self.weight)]
        return [
            BlockPart(X, y, weight, (rows, self.width), self.outputs)
            for X, y, weight, rows in zip(*sides, self.X.chunks[0], strict=True)
        ]

    def distinct_targets(self) -> Iterable[NDArray[Any]]:
        """Find them chunk by chunk, where the chunks are."""
        import dask

        chunks = _chunks(self.y, len(self.X.chunks[0]))
        with plain_errors():
            return list(dask.compute(*(dask.delayed(distinct_labels)(chunk) for chunk in chunks)))

    def beside(self, role: Role, values: Any) -> DaskMatrix:
        """Cut a target or weights as X is cut."""
        import dask.array as da

        column = known_chunks(values) if is_dask(values) else da.from_array(np.asarray(values), chunks="auto")
        if column.ndim not in (1, 2) or column.shape[0] != self.rows:
            raise DataError(f"the {role} has shape {column.shape}, but X has {self.rows} rows.")
        column = column.rechunk({0: self.X.chunks[0], **({1: -1} if column.ndim == 2 else {})})
        return replace(self, **{"y" if role == "target" else "weight": column})


def _chunks(array: Any, count: int) -> list[Any]:
    return [None] * count if array is None else list(array.to_delayed().reshape(-1))


def known_chunks(array: Any) -> Any:
    """An array, or a series' values, whose chunks have known sizes; a pass counts those that have not."""
    with plain_errors():
        if hasattr(array, "to_dask_array"):
            array = array.to_dask_array(lengths=True)
        return array.copy().compute_chunk_sizes() if np.isnan(array.shape[0]) else array


def is_dask(what: Any) -> bool:
    """Look at where the type comes from, so that Dask need not be imported."""
    return type(what).__module__.partition(".")[0] in {"dask", "dask_expr"}


class DaskReader(Reader):
    """Dask arrays and data frames."""

    name = "dask"
    opens = "Dask arrays and data frames"

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Its arrays and frames."""
        return is_dask(what) and hasattr(what, "to_delayed") and hasattr(what, "ndim")

    @classmethod
    def open(cls, what: Any) -> DaskFrame | DaskMatrix:
        """Nothing is computed, but for chunks of unknown size."""
        if hasattr(what, "npartitions") and hasattr(what, "_meta") and hasattr(what, "columns"):
            return DaskFrame(what)
        if what.ndim != 2 or what.dtype.kind not in "fiub":
            raise DataError(
                f"the Dask array holds {what.dtype} in {what.ndim} dimensions: it must be numbers in two."
            )
        return DaskMatrix(known_chunks(what).rechunk({1: -1}))
