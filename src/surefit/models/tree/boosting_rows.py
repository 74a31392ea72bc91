"""What boosting needs of rows: codes of bins, targets, weights, and which rows are held out.

Rows in memory are cut into bins at once. A source is read in passes: one for a sketch of each column, which
adds up over batches, threads and machines, and one for the codes, a byte a cell, which alone are kept; where
they are many, they lie in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.bin_columns import Codes
from surefit.data.batch import Batch
from surefit.data.source import Source, in_memory
from surefit.data.spill import SpillFolder
from surefit.engine.base import Engine
from surefit.models.tree.bins import Bins, edges_from_sketch, find_bins
from surefit.models.tree.boosting_rounds import Part
from surefit.models.tree.boosting_trees import Grove
from surefit.models.tree.rows import Levels, category_mask, find_levels, level_counts, matrix_of
from surefit.stats.sketch import Sketch

Floats = NDArray[np.float64]
HeldOut = Callable[[int, Floats], NDArray[np.bool_]]
MOST_BYTES = 2**30  # of codes that are kept in memory rather than in a file


@dataclass(frozen=True, slots=True)
class BoostRows:
    """All rows of positive weight; codes: in Fortran order."""

    y: Floats
    weight: Floats | None
    held_out: NDArray[np.bool_]
    levels: Levels
    bins: Bins
    codes: Codes

    def part(self, rows: NDArray[np.bool_], scores: Floats) -> Part:
        """Return some of the rows, with their scores; those of all are not copied."""
        if rows.all():
            return Part(self.codes, self.y, self.weight, scores)
        weight = None if self.weight is None else self.weight[rows]
        codes = np.asfortranarray(self.codes[rows])
        return Part(codes, self.y[rows], weight, np.ascontiguousarray(scores[:, rows]))


@dataclass(frozen=True, slots=True)
class _Block:
    """The rows of positive weight of a batch."""

    X: Any
    y: Floats
    weight: Floats | None


@dataclass(frozen=True, slots=True)
class _Blocks:
    levels: Levels

    def __call__(self, batch: Batch) -> _Block:
        X, y, weight = matrix_of(batch.X, self.levels), batch.y, batch.weight
        y = np.ascontiguousarray(np.asarray(y, dtype=np.float64).reshape(len(batch)))
        if weight is not None and (weight == 0).any():
            kept = weight > 0
            X, y, weight = X[kept], y[kept], weight[kept]
        return _Block(X, y, weight)


@dataclass(frozen=True, slots=True)
class _Sketches:
    blocks: _Blocks

    def __call__(self, batch: Batch) -> Sketch:
        block = self.blocks(batch)
        return Sketch.of(Batch(block.X, None, block.weight))


@dataclass(frozen=True, slots=True)
class _Coded:
    blocks: _Blocks
    bins: Bins

    def __call__(self, batch: Batch) -> _Block:
        block = self.blocks(batch)
        return _Block(self.bins.codes(block.X), block.y, block.weight)


@dataclass(frozen=True, slots=True)
class _Answered:
    blocks: _Blocks
    grove: Grove
    baseline: Floats

    def __call__(self, batch: Batch) -> _Block:
        block = self.blocks(batch)
        score = np.repeat(self.baseline[:, None], len(block.y), axis=1)
        self.grove.add_to(score, block.X)
        return _Block(score, block.y, block.weight)


@dataclass(frozen=True, slots=True)
class _LevelsOf:
    mask: NDArray[np.bool_]
    names: Any

    def __call__(self, batch: Batch) -> Levels:
        return find_levels(batch.X, self.mask, self.names, own_level=False)


def levels_of(model: Any, source: Source, engine: Engine) -> Levels:
    """Return the levels of each column that is split by them; of a source, from one pass over it."""
    schema, who = source.schema, type(model).__name__
    mask = category_mask(model.categorical_features, schema, model.__dict__.pop("_by_type", None), who)
    if mask is None:
        return ()
    found = list(_mapped(_LevelsOf(mask, schema.names), source, engine))
    if len(found) == 1:
        return found[0]
    return tuple(np.unique(np.concatenate(own)) for own in zip(*found, strict=True))


def prepared(model: Any, source: Source, engine: Engine, held_out: HeldOut) -> BoostRows:
    """Find levels and bins, and return the rows as codes."""
    levels = levels_of(model, source, engine)
    blocks, counts = _Blocks(levels), level_counts(levels, source.schema.width)
    batch = in_memory(source)
    if batch is None:
        bins = edges_from_sketch(engine.accumulate(_Sketches(blocks), source), model.max_bins, counts)
        codes, y, weight = _gathered(engine.map(_Coded(blocks, bins), source))
        weight = model._weighted(y, weight, source.schema)
        return BoostRows(y, weight, held_out(len(y), y), levels, bins, codes)
    block = blocks(batch)
    weight = model._weighted(block.y, block.weight, source.schema)
    apart = held_out(len(block.y), block.y)
    counted = weight
    if apart.any():
        counted = np.where(apart, 0.0, 1.0 if weight is None else weight)
    bins = find_bins(block.X, counted, model.max_bins, counts)
    return BoostRows(block.y, weight, apart, levels, bins, bins.codes(block.X))


def answered(
    model: Any, source: Source, engine: Engine, grove: Grove
) -> tuple[Floats, Floats, Floats | None]:
    """Return what fitted trees say of all rows of positive weight, their targets and their weights."""
    blocks = list(_mapped(_Answered(_Blocks(model.levels_), grove, model.baseline_), source, engine))
    y = np.concatenate([block.y for block in blocks])
    score = np.concatenate([block.X for block in blocks], axis=1)
    return score, y, model._weighted(y, _weights(blocks), source.schema)


def _mapped(f: Callable[[Batch], Any], source: Source, engine: Engine) -> Iterator[Any]:
    batch = in_memory(source)
    return engine.map(f, source) if batch is None else iter([f(batch)])


def _weights(blocks: list[_Block]) -> Floats | None:
    if all(block.weight is None for block in blocks):
        return None
    return np.concatenate([np.ones(len(b.y)) if b.weight is None else b.weight for b in blocks])


def _gathered(blocks: Iterator[_Block]) -> tuple[Codes, Floats, Floats | None]:
    """Put codes together, in memory or, where they are many, in a file."""
    folder: SpillFolder | None = None
    kept: list[_Block] = []
    held = 0
    for number, block in enumerate(blocks):
        held += block.X.nbytes
        if held > MOST_BYTES:
            folder = SpillFolder() if folder is None else folder
            room = np.memmap(folder.file(number), np.uint8, "w+", shape=block.X.shape, order="F")
            room[:] = block.X
            block = _Block(room, block.y, block.weight)
        kept.append(block)
    rows, width = sum(len(block.y) for block in kept), kept[0].X.shape[1]
    codes: Codes
    if folder is None:
        codes = np.empty((rows, width), np.uint8, order="F")
    else:
        codes = SpilledCodes.of(folder, (rows, width), len(kept))
    at = 0
    for block in kept:
        codes[at : at + len(block.y)] = block.X
        at += len(block.y)
    return codes, np.concatenate([block.y for block in kept]), _weights(kept)


class SpilledCodes(np.memmap):
    """Codes in a file that goes when they do."""

    folder: SpillFolder | None = None

    @classmethod
    def of(cls, folder: SpillFolder, shape: tuple[int, int], number: int) -> SpilledCodes:
        """Return room for codes in a new file of the folder."""
        found = cls(folder.file(number), np.uint8, "w+", shape=shape, order="F")
        found.folder = folder
        return found


def held_out_rows(y: Floats, share: Any, stratified: bool, seed: int) -> NDArray[np.bool_]:
    """Draw the rows to hold out, as scikit-learn does for the same seed."""
    from sklearn.model_selection import train_test_split

    places = np.arange(len(y))
    _, held = train_test_split(places, test_size=share, stratify=y if stratified else None, random_state=seed)
    mask = np.zeros(len(y), dtype=bool)
    mask[held] = True
    return mask
