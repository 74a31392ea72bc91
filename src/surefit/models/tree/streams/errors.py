"""What trees say of the rows of a stream: losses of those that they have not seen, and the sums of leaves."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.forest_grow import packed
from surefit.core.native.trees.forest_walk import forest_apply, forest_sums
from surefit.core.native.trees.tree_grow import Grown
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.tree.growing.forest_errors import ForestErrors, with_squares
from surefit.models.tree.nodes.compact_forest import CompactForest, compact_forest
from surefit.models.tree.nodes.forest_arrays import in_target_units, some_trees
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.rows.bin_codes import plain_engine
from surefit.models.tree.rows.matrix import Levels, level_counts, matrix_of
from surefit.models.tree.streams.setup import StreamFacts
from surefit.models.tree.streams.tree_stream import RowSampling, sample_targets
from surefit.models.tree.targets.node_sums import LevelTarget


@dataclass(frozen=True, slots=True)
class StreamedErrors:
    """Sums that say of a stream what ``ForestErrors`` says of rows in memory.

    blocks: after each block of trees the sums of w, wl, w^2 l^2, w^2 l and w^2 over rows with an answer, for
    weights w and losses l. pairs: of rows with two answers or more, the sums of w, of the squared errors of
    one tree and of the products of two; alone: of all with an answer, the first two. truth: the sums of w, of
    the truth and of its squares. leaves: (leaves, 1 + width), the weights and sums of all leaves.
    """

    blocks: Matrix
    pairs: Vector
    alone: Vector
    truth: Matrix
    rows: int
    leaves: Matrix
    classes: int = 0

    def __add__(self, other: StreamedErrors) -> StreamedErrors:
        names = [entry.name for entry in fields(self) if entry.name != "classes"]
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def curve(self) -> list[float]:
        """The mean loss after each block of trees; NaN without a row."""
        with np.errstate(invalid="ignore"):
            return [float(value) for value in self.blocks[:, 1] / self.blocks[:, 0]]

    @property
    def seen(self) -> NDArray[np.int64]:
        """How many rows have an answer."""
        return np.array([self.rows])

    def loss(self) -> tuple[float, float]:
        """The mean loss and its standard error; NaN without a row."""
        weight, total, second, first, squares = self.blocks[-1].tolist()
        if weight == 0:
            return float("nan"), float("nan")
        mean = total / weight
        spread = second - 2 * mean * first + mean * mean * squares
        return mean, float(np.sqrt(max(spread, 0.0))) / weight

    def decomposition(self) -> tuple[float, float]:
        """The mean squared error of one tree, and the correlation of the errors of two; NaN if unknown."""
        weight, squares, products = self.pairs.tolist()
        if weight == 0:
            weight, squares = self.alone.tolist()
            return (squares / weight if weight > 0 else float("nan")), float("nan")
        alone = squares / weight
        if alone == 0:
            return 0.0, 0.0
        return alone, min(products / weight / alone, 1.0)

    def constant_loss(self) -> float:
        """The loss of the best constant answer."""
        means = self.truth[1:] / self.truth[0]
        if self.classes:
            return float(1.0 - means[:-1].max())
        return float(max(means[-1] - means[0] ** 2, 0.0))


@dataclass(frozen=True, slots=True)
class Judging:
    """Ask all trees of a forest for the rows of a batch that they have not seen, or for all of it.

    targets: of each tree, whose factors are those of its sample.
    """

    forest: CompactForest
    seeds: tuple[int, ...]
    counted: tuple[int, ...]
    levels: Levels
    targets: tuple[LevelTarget, ...]
    sampling: RowSampling
    with_leaves: bool = False

    def __call__(self, batch: Batch) -> StreamedErrors:
        """Judge a batch."""
        X = np.ascontiguousarray(matrix_of(batch.X, self.levels))
        y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch))
        target = self.targets[0].target(y)
        counts = level_counts(self.levels, X.shape[1])
        truth = np.eye(target.classes[0])[target.Y[:, 0]] if target.classes else target.Y
        weight = np.ones(len(y)) if batch.weight is None else batch.weight
        drawn = [self.sampling.weights(seed, batch.start, y, batch.weight) for seed in self.seeds]
        errors = ForestErrors(truth, weight, target.classes)
        blocks = []
        for one, two in pairwise((0, *self.counted)):
            block = some_trees(self.forest, one, two)
            left_out = None
            if self.sampling.rate > 0:
                left_out = np.array([own > 0 for own in drawn[one:two]], dtype=np.uint8)
            so_far = errors.totals, errors.counts
            forest_sums(block, X, with_squares(block.value, target), counts, left_out, more_than=so_far)
            rows = errors.seen
            losses, w = errors.row_losses(rows), weight[rows]
            parts = (w, w * losses, (w * losses) ** 2, w * w * losses, w * w)
            blocks.append([part.sum() for part in parts])
        leaves = self._leaves(X, y, target, counts, drawn) if self.with_leaves else np.zeros((0, 0))
        whole = [weight.sum(), *(weight @ truth), weight @ (truth**2).sum(axis=1)]
        pairs, alone = _alike(errors)
        seen = int(errors.seen.sum())
        classes = target.classes[0] if target.classes else 0
        return StreamedErrors(np.array(blocks), pairs, alone, np.array(whole), seen, leaves, classes)

    def _leaves(self, X: Any, y: Vector, target: Target, counts: Any, drawn: list[Vector]) -> Matrix:
        """The weights of leaves, and of their classes or numbers times weights."""
        width = target.classes[0] if target.classes else 1
        found = np.zeros((int(self.forest.leaf_start[-1]), 1 + width))
        leaf = forest_apply(self.forest, X, counts)
        for t, (own, weight) in enumerate(zip(self.targets, drawn, strict=True)):
            if own.factors is not None:
                weight = weight * own.factors[y.astype(np.intp)]
            start, end = self.forest.leaf_start[t], self.forest.leaf_start[t + 1]
            found[start:end, 0] = np.bincount(leaf[:, t], weight, end - start)
            if target.classes:
                at = leaf[:, t] * width + target.Y[:, 0]
                found[start:end, 1:] = np.bincount(at, weight, (end - start) * width).reshape(-1, width)
            else:
                found[start:end, 1] = np.bincount(leaf[:, t], weight * target.Y[:, 0], end - start)
        return found


def _alike(errors: ForestErrors) -> tuple[Vector, Vector]:
    """The sums that tell how alike trees err."""
    counts, seen, truth = errors.counts, errors.seen, errors.truth
    cross = (errors.sums * truth).sum(axis=1)
    squares = np.maximum(errors.squares - 2.0 * cross + counts * (truth**2).sum(axis=1), 0.0)
    gaps = errors.sums - counts[:, None] * truth
    products = (gaps**2).sum(axis=1) - squares
    several = seen & (counts > 1)
    w, c = errors.weight[several], counts[several]
    pairs = [w.sum(), w @ (squares[several] / c), w @ (products[several] / (c * (c - 1)))]
    w, c = errors.weight[seen], counts[seen]
    return np.array(pairs), np.array([w.sum(), w @ (squares[seen] / c)])


def judged(
    forest: CompactForest,
    seeds: NDArray[np.uint64],
    counted: list[int],
    levels: Levels,
    known: StreamFacts,
    source: Source,
    engine: Engine,
) -> StreamedErrors:
    """What the trees of a forest say of rows that they have not seen; counted: where each block ends."""
    own = tuple(seeds[: forest.trees].tolist())
    judging = Judging(forest, own, tuple(counted), levels, (known.target,) * len(own), known.sampling)
    return plain_engine(engine).accumulate(judging, source)


def judged_with_leaves(
    forest: CompactForest,
    seeds: NDArray[np.uint64],
    counted: list[int],
    levels: Levels,
    known: StreamFacts,
    source: Source,
    engine: Engine,
    balanced: bool = False,
) -> tuple[StreamedErrors, float]:
    """The same, with the samples drawn again, and by how much leaves differ from what their rows say."""
    plain, own = plain_engine(engine), tuple(seeds[: forest.trees].tolist())
    targets = (known.target,) * len(own)
    if balanced:
        targets = sample_targets(known.target, known.sampling, own, source, plain)
    judging = Judging(forest, own, tuple(counted), levels, targets, known.sampling, with_leaves=True)
    found = plain.accumulate(judging, source)
    return found, leaf_gap(forest, found.leaves, known.target)


def tree_leaf_gap(tree: Grown, levels: Levels, known: StreamFacts, source: Source, engine: Engine) -> float:
    """By how much the leaves of one tree, grown from all rows, differ from what their rows say."""
    target = known.target.target(np.empty(0))
    grown = packed(tree, 1, known.target.kind)
    forest = compact_forest(in_target_units(grown, target) if target.classes else grown, target.classes)
    seeds = np.zeros(1, dtype=np.uint64)
    return judged_with_leaves(forest, seeds, [1], levels, known, source, engine)[1]


def leaf_gap(forest: CompactForest, leaves: Matrix, target: LevelTarget) -> float:
    """By how much leaves differ from what their rows say: their weights and their values."""
    worst, weights = 0.0, forest.weight
    for t in range(forest.trees):
        own = slice(forest.leaf_start[t], forest.leaf_start[t + 1])
        held, weight = leaves[own, 0], weights[own]
        worst = max(worst, float(np.abs(held - weight).max() / max(weight.max(), held.max())))
    if worst > 1e-6:
        return worst
    found = leaves[:, 1:] / weights[:, None]
    if target.classes:
        return max(worst, float(np.abs(found - forest.value).max()))
    # In units of the target's reach: far from zero, a share of the target itself would hide a changed leaf.
    gap = np.abs(found - (forest.value - target.centre) * target.factor)
    return max(worst, float((gap - target.target(np.empty(0)).grain).max()))
