"""What boosting needs of rows: codes of bins, targets, weights, and which rows are held out.

Rows in memory are cut into bins at once. A source is read in passes: one for a sketch of each column, which
adds up over batches, threads and machines, and one for the codes, a byte a cell, which alone are kept. Where
even they are too many, trees grow from sums that passes add up: the same trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.bin_columns import Codes
from surefit.core.native.trees.boost_grow import BoostTable
from surefit.data.batches.batch import Batch
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.models.tree.boosting.losses import BoostLoss
from surefit.models.tree.boosting.rounds import Part, Rounds, Setup
from surefit.models.tree.boosting.stream import Answering, StreamedRows, streamed_losses, streamed_rows
from surefit.models.tree.boosting.trees import BoostedTrees
from surefit.models.tree.rows.bin_codes import Coding
from surefit.models.tree.rows.bins import Bins, edges_from_sketch, find_bins, refuse_levels
from surefit.models.tree.rows.column_levels import SketchOf, levels_of
from surefit.models.tree.rows.matrix import Levels, level_counts, matrix_of
from surefit.models.tree.rows.row_draws import HeldOutRows
from surefit.models.tree.targets.facts import class_factors_of, row_count, target_facts

Draw = Callable[[int, Callable[[], Vector]], HeldOutRows]  # of so many rows, with these targets
MOST_BYTES = 2**30  # of codes, and of what rounds need of each row, that are kept in memory
ROW_BYTES = 72
MOST_DRAWN = 2**20  # rows up to which those held out are drawn as scikit-learn draws them


@dataclass(frozen=True, slots=True)
class BoostRows:
    """All rows of positive weight; codes: in Fortran order."""

    y: Vector
    weight: Vector | None
    held_out: NDArray[np.bool_]
    levels: Levels
    bins: Bins
    codes: Codes

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.y)

    def ends(self) -> Vector:
        """The least and the greatest target, and what decides whether a loss suits them."""
        return self.y

    def rounds(self, setup: Setup, scores: Callable[[], Matrix]) -> Rounds:
        """Return the rounds, begun from where the trees so far leave the scores."""
        kept = ~self.held_out
        if setup.baseline is None:
            weight = None if self.weight is None else self.weight[kept]
            setup.baseline = setup.loss.start(self.y[kept], weight)
        standing = scores() if setup.tree_blocks else np.repeat(setup.baseline[:, None], len(self.y), axis=1)
        train = self.part(kept, standing)
        held_out = self.part(self.held_out, standing) if self.held_out.any() else None
        table = BoostTable.of(train.codes, self.bins.counts, self.bins.levels > 0)
        return Rounds(
            setup.loss,
            setup.rules,
            self.bins,
            setup.learning_rate,
            setup.seed,
            table,
            train,
            held_out,
            setup.tree_blocks,
        )

    def part(self, rows: NDArray[np.bool_], scores: Matrix) -> Part:
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
    y: Vector
    weight: Vector | None
    kept: NDArray[np.bool_] | None = None  # of the rows of the batch; None for all


@dataclass(frozen=True, slots=True)
class _Blocks:
    levels: Levels

    def __call__(self, batch: Batch) -> _Block:
        X, y, weight = matrix_of(batch.X, self.levels), batch.y, batch.weight
        y = np.ascontiguousarray(np.asarray(y, dtype=np.float64).reshape(len(batch)))
        if weight is not None and (weight == 0).any():
            kept = weight > 0
            return _Block(X[kept], y[kept], weight[kept], kept)
        return _Block(X, y, weight)


@dataclass(frozen=True, slots=True)
class _Coded:
    blocks: _Blocks
    bins: Bins

    def __call__(self, batch: Batch) -> _Block:
        block = self.blocks(batch)
        return _Block(self.bins.codes(block.X), block.y, block.weight, block.kept)


@dataclass(frozen=True, slots=True)
class _Answered:
    blocks: _Blocks
    tree_block: BoostedTrees
    baseline: Vector

    def __call__(self, batch: Batch) -> _Block:
        block = self.blocks(batch)
        score = np.repeat(self.baseline[:, None], len(block.y), axis=1)
        self.tree_block.add_to(score, block.X)
        return _Block(score, block.y, block.weight, block.kept)


@dataclass(frozen=True, slots=True)
class BoostData:
    """A source with what boosting asks of it: the weights of classes, and which rows are held out.

    class_weight: as the estimator has it, None for none. weigh: makes weights of all rows from their targets
    and weights, those of classes included.
    """

    source: Source
    engine: Engine
    class_weight: Any
    weigh: Callable[[Vector, Vector | None], Vector | None]
    draw: Draw


def prepared(
    data: BoostData, categories: NDArray[np.bool_] | None, max_bins: int
) -> BoostRows | StreamedRows:
    """Find levels and bins, and return the rows as codes, or how to read them so."""
    source, engine, draw = data.source, data.engine, data.draw
    levels = levels_of(source, engine, categories)
    blocks, counts = _Blocks(levels), level_counts(levels, source.schema.width)
    refuse_levels(counts, max_bins, source.schema.names)
    batch = in_memory(source)
    if batch is None:
        bins = edges_from_sketch(engine.accumulate(SketchOf(levels), source), max_bins, counts)
        if row_count(source, engine) * (ROW_BYTES + 2 * source.schema.width) > MOST_BYTES:
            return streamed_rows(data.class_weight, source, engine, Coding(levels, bins), draw)
        codes, y, weight, kept = _gathered(engine.map(_Coded(blocks, bins), source))
        weight = data.weigh(y, weight)
        return BoostRows(y, weight, _apart(draw, y, kept), levels, bins, codes)
    block = blocks(batch)
    weight = data.weigh(block.y, block.weight)
    apart = _apart(draw, block.y, block.kept)
    counted = weight
    if apart.any():
        counted = np.where(apart, 0.0, 1.0 if weight is None else weight)
    bins = find_bins(block.X, counted, max_bins, counts)
    return BoostRows(block.y, weight, apart, levels, bins, bins.codes(block.X))


def _apart(draw: Draw, y: Vector, kept: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Which of the rows of positive weight are held out; those drawn by their number count all rows."""
    found = draw(len(y), lambda: y)
    if found.mask is not None or kept is None:
        return found.among(0, len(y))
    return found.among(0, len(kept))[kept]


def answered(
    data: BoostData, tree_block: BoostedTrees, levels: Levels, baseline: Vector
) -> tuple[Vector, Vector, Vector | None, NDArray[np.bool_] | None]:
    """Return what fitted trees say of all rows of positive weight, their targets and weights, and which."""
    blocks = list(_mapped(_Answered(_Blocks(levels), tree_block, baseline), data.source, data.engine))
    y = np.concatenate([block.y for block in blocks])
    score = np.concatenate([block.X for block in blocks], axis=1)
    return score, y, data.weigh(y, _weights(blocks)), _kept(blocks)


def losses_again(
    data: BoostData, loss: BoostLoss, tree_block: BoostedTrees, levels: Levels, baseline: Vector
) -> tuple[float, float | None]:
    """Return the mean losses of the training rows and of those held out, by fitted trees."""
    source, engine, draw = data.source, data.engine, data.draw
    if in_memory(source) is None and row_count(source, engine) > MOST_DRAWN:
        facts = target_facts(source, engine)
        factors = class_factors_of(data.class_weight, facts, source.schema)
        answering = Answering(levels, tree_block, baseline, factors)
        return streamed_losses(loss, answering, source, engine, draw(facts.counted, lambda: np.empty(0)))
    scores, y, weight, kept = answered(data, tree_block, levels, baseline)
    held_out = _apart(draw, y, kept)
    no_codes = np.empty((len(y), 0), np.uint8)
    rows = BoostRows(y, weight, held_out, (), Bins((), np.empty(0, np.int64)), no_codes)
    apart = rows.part(held_out, scores).mean_loss(loss) if held_out.any() else None
    return rows.part(~held_out, scores).mean_loss(loss), apart


def _mapped(f: Callable[[Batch], Any], source: Source, engine: Engine) -> Iterator[Any]:
    batch = in_memory(source)
    return engine.map(f, source) if batch is None else iter([f(batch)])


def _weights(blocks: list[_Block]) -> Vector | None:
    if all(block.weight is None for block in blocks):
        return None
    return np.concatenate([np.ones(len(b.y)) if b.weight is None else b.weight for b in blocks])


def _kept(blocks: list[_Block]) -> NDArray[np.bool_] | None:
    if all(block.kept is None for block in blocks):
        return None
    return np.concatenate([np.ones(len(b.y), dtype=bool) if b.kept is None else b.kept for b in blocks])


def _gathered(
    blocks: Iterator[_Block],
) -> tuple[Codes, Vector, Vector | None, NDArray[np.bool_] | None]:
    """Put codes together."""
    kept = list(blocks)
    codes: Codes = np.empty((sum(len(block.y) for block in kept), kept[0].X.shape[1]), np.uint8, order="F")
    at = 0
    for block in kept:
        codes[at : at + len(block.y)] = block.X
        at += len(block.y)
    return codes, np.concatenate([block.y for block in kept]), _weights(kept), _kept(kept)


def drawn_apart(count: int, targets: Callable[[], Vector], share: Any, stratified: bool, seed: int) -> Any:
    """Draw the rows to hold out: as scikit-learn does, or by their numbers where they are many."""
    if count <= MOST_DRAWN:
        return HeldOutRows(mask=held_out_rows(targets(), share, stratified, seed))
    return HeldOutRows(seed, float(share) if share < 1 else int(share) / count)


def held_out_rows(y: Vector, share: Any, stratified: bool, seed: int) -> NDArray[np.bool_]:
    """Draw the rows to hold out, as scikit-learn does for the same seed."""
    from sklearn.model_selection import train_test_split

    places = np.arange(len(y))
    _, held = train_test_split(places, test_size=share, stratify=y if stratified else None, random_state=seed)
    mask = np.zeros(len(y), dtype=bool)
    mask[held] = True
    return mask
