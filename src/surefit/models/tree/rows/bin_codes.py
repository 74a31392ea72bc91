"""Rows as codes of bins, batch by batch: what a tree is grown from where not even its codes fit in memory.

Where this machine reads, codes are made once and kept in files, a byte a cell: Parquet is not read again in
every pass. On a cluster they are made anew in each pass, so that any worker can take any part and nothing
is lost with one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.data.batches.batch import Batch
from surefit.data.readers.spill import SpillFolder, room_in
from surefit.data.schema import Schema
from surefit.data.source import MappedSource, Source, in_memory
from surefit.engine.base import Checkpointed, Engine
from surefit.models.tree.rows.bins import Bins
from surefit.models.tree.rows.matrix import Levels, matrix_of


@dataclass(frozen=True, slots=True)
class Coding:
    """A batch as one of codes, of targets as numbers, and of weights that classes multiply."""

    levels: Levels
    bins: Bins
    factors: Vector | None = None  # of each class
    standing: Callable[[NDArray[Any]], Matrix] | None = None  # the scores that rows begin with

    def __call__(self, batch: Batch) -> Batch:
        """Make the codes."""
        X = matrix_of(batch.X, self.levels)
        codes: Any = self.bins.codes(X)
        y = np.ascontiguousarray(np.asarray(batch.y, dtype=np.float64).reshape(len(batch)))
        score = None if self.standing is None else self.standing(X)
        return Batch(codes, y, row_weights(y, batch.weight, self.factors), batch.start, score)


def row_weights(y: Vector, weight: Vector | None, factors: Vector | None) -> Vector | None:
    """Return the weights of rows, those of their classes included."""
    if factors is None:
        return weight
    own = factors[y.astype(np.intp)]
    return np.asarray(own if weight is None else weight * own)


@dataclass(frozen=True, slots=True)
class KeptBatch:
    """A batch in a file: codes column by column, then targets, weights and, where there are any, scores."""

    schema: Schema
    file: str
    rows: int
    width: int
    start: int
    weighted: bool
    outputs: int
    folder: Any  # which stays as long as the batch does

    def __iter__(self) -> Iterator[Batch]:
        n, at = self.rows, 0

        def room(kind: Any, shape: tuple[int, ...], order: Any = "C") -> Any:
            nonlocal at
            found = np.memmap(self.file, kind, "r+", at, shape, order)
            at += found.nbytes
            return found

        score = room(np.float64, (self.outputs, n)) if self.outputs else None
        y = np.array(room(np.float64, (n,)))
        weight = np.array(room(np.float64, (n,))) if self.weighted else None
        codes: Any = np.asarray(room(np.uint8, (n, self.width), "F"))
        yield Batch(codes, y, weight, self.start, score)

    def parts(self) -> Sequence[Source]:
        """A batch is one piece."""
        return (self,)


@dataclass(frozen=True, slots=True)
class KeptRows:
    """The batches in files, as a source; the score of a batch is its offset, and can be written."""

    schema: Schema
    batches: tuple[KeptBatch, ...]

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.batches:
            yield from batch

    def parts(self) -> Sequence[Source]:
        """The batches."""
        return self.batches


def coded_rows(source: Source, engine: Engine, coding: Coding, outputs: int = 0) -> Source:
    """Return a source of codes; outputs: how many scores are kept with each row, where codes are kept."""
    mapped = MappedSource(source, source.schema, coding)
    if plain_engine(engine).name == "dask" or in_memory(source) is not None:
        return mapped
    folder, kept = SpillFolder(), list[KeptBatch]()
    with room_in(folder):
        for batch in engine.map(coding, source):
            kept.append(_written(folder, len(kept), source.schema, batch, outputs))
    return KeptRows(source.schema, tuple(kept))


def _written(folder: SpillFolder, number: int, schema: Schema, batch: Batch, outputs: int) -> KeptBatch:
    rows, width = batch.X.shape
    name, score = folder.file(number), np.zeros(outputs * rows) if batch.offset is None else batch.offset
    weighted = batch.weight is not None
    with open(name, "wb") as file:
        for part in (score, np.asarray(batch.y), batch.weight, np.asarray(batch.X).T):
            if part is not None:
                np.ascontiguousarray(part).tofile(file)
    return KeptBatch(schema, name, rows, width, batch.start, weighted, outputs, folder)


def plain_engine(engine: Engine) -> Engine:
    """Return the engine itself: what the many passes of a tree add up is not worth a checkpoint each."""
    return engine.engine if isinstance(engine, Checkpointed) else engine
