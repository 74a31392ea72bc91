"""Trees grown from rows that do not fit in memory: passes add up whole sums, a level of all trees at a time.

Large nodes are split by bins; the rows of small ones are brought here, as many at a time
as ``MOST_BYTES`` hold, and their trees look at every value, as those of rows in memory do.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native.trees.bin_columns import MISSING
from surefit.core.native.trees.forest_columns import forest_columns
from surefit.core.native.trees.forest_grow import Sample, forest_grow
from surefit.core.native.trees.level_sums import LevelTree, code_offsets, level_route, level_sums
from surefit.core.native.trees.node_random import unmixed
from surefit.core.native.trees.tree_grow import Grown, Rules
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.engine.thread_map import in_turn
from surefit.models.tree.nodes.forest_arrays import tree_nodes
from surefit.models.tree.rows.bin_codes import Coding, coded_rows, row_weights
from surefit.models.tree.rows.matrix import matrix_of
from surefit.models.tree.rows.row_draws import row_counts
from surefit.models.tree.streams import tree_growth as tree_levels
from surefit.models.tree.streams.boosted_growth import Plan
from surefit.models.tree.streams.level_search import LevelColumns
from surefit.models.tree.streams.tree_growth import TreeGrowth
from surefit.models.tree.targets.exact_sums import WholeSums
from surefit.models.tree.targets.node_sums import LevelTarget

Whole = NDArray[np.int64]
MOST_BYTES = 2**28  # of the rows of small nodes that are brought here at a time


@dataclass(frozen=True, slots=True)
class RowSampling:
    """How much each row counts in the sample of a tree.

    rate: how often a row of weight 1 is drawn, on average; 0 takes every row with its weight. factors: by how
    much the class of a row multiplies the rate.
    """

    rate: float = 0.0
    factors: Vector | None = None

    def weights(self, seed: int, start: int, y: Vector, weight: Vector | None) -> Vector:
        """Return the weights of rows; they depend on the seed and their numbers alone."""
        if self.rate == 0:
            return np.ones(len(y)) if weight is None else weight
        if weight is None and self.factors is None:
            return row_counts(seed, start, len(y), self.rate).astype(np.float64)
        heavy = row_weights(y, weight, self.factors)
        assert heavy is not None
        return row_counts(seed, start, len(y), self.rate * heavy).astype(np.float64)


@dataclass(frozen=True, slots=True)
class BinEnds:
    """The least and the greatest value of each bin of each column, one after the other."""

    lowest: Vector
    highest: Vector

    @classmethod
    def of(cls, batch: Batch, *, coding: Coding) -> BinEnds:
        """Look at the rows of a batch that count."""
        X = matrix_of(batch.X, coding.levels)
        if batch.weight is not None and (batch.weight == 0).any():
            X = X[batch.weight > 0]
        codes, offset = coding.bins.codes(X), code_offsets(coding.bins.counts)
        lowest, highest = np.full(offset[-1], np.inf), np.full(offset[-1], -np.inf)
        for j in np.flatnonzero(coding.bins.levels == 0).tolist():
            known = codes[:, j] != MISSING
            place, x = offset[j] + codes[known, j].astype(np.int64), X[known, j].astype(np.float64)
            np.minimum.at(lowest, place, x)
            np.maximum.at(highest, place, x)
        return cls(lowest, highest)

    def __add__(self, other: BinEnds) -> BinEnds:
        return BinEnds(np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest))


@dataclass(frozen=True, slots=True)
class _Levels:
    seeds: tuple[int, ...]
    targets: tuple[LevelTarget, ...]
    plans: tuple[Plan | None, ...]
    sampling: RowSampling
    counts: Whole

    def __call__(self, batch: Batch) -> WholeSums:
        codes, y, found = np.asarray(batch.X), np.asarray(batch.y), []
        for seed, target, plan in zip(self.seeds, self.targets, self.plans, strict=True):
            if plan is None:
                continue
            weight = self.sampling.weights(seed, batch.start, y, batch.weight)
            slot = plan.slot[level_route(plan.tree, codes)]
            slot[weight == 0] = -1
            terms, part = target.terms(y, weight), target.part(y)
            found.append(level_sums(codes, self.counts, slot, terms, plan.slots, part, target.parts))
        return WholeSums(tuple(found))


@dataclass(frozen=True, slots=True)
class Gathered:
    """Rows of some nodes of some trees, in the order of the table: (tree, nodes, X, y, weights) a batch."""

    blocks: tuple[Any, ...]

    def __add__(self, other: Gathered) -> Gathered:
        return Gathered(self.blocks + other.blocks)


@dataclass(frozen=True, slots=True)
class _SmallRows:
    seeds: tuple[int, ...]
    trees: tuple[LevelTree, ...]
    wanted: tuple[NDArray[np.bool_], ...]  # of each tree, by node
    sampling: RowSampling
    coding: Coding

    def __call__(self, batch: Batch) -> Gathered:
        X, blocks = matrix_of(batch.X, self.coding.levels), []
        codes = self.coding.bins.codes(X)
        y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch))
        for t, (seed, tree, wanted) in enumerate(zip(self.seeds, self.trees, self.wanted, strict=True)):
            if not wanted.any():
                continue
            weight = self.sampling.weights(seed, batch.start, y, batch.weight)
            node = level_route(tree, codes)
            rows = np.flatnonzero(wanted[node] & (weight > 0))
            if len(rows):
                blocks.append((t, node[rows], np.ascontiguousarray(X[rows]), y[rows], weight[rows]))
        return Gathered(tuple(blocks))


@dataclass(slots=True)
class TreeStream:
    """A source, ready to grow trees from."""

    source: Source
    engine: Engine
    coding: Coding
    columns: LevelColumns
    target: LevelTarget
    sampling: RowSampling
    rules: Rules
    jobs: int = 1
    balanced: bool = False
    _coded: Source | None = field(default=None, init=False)

    @property
    def coded(self) -> Source:
        """The rows as codes, made when the first tree is grown."""
        if self._coded is None:
            self._coded = coded_rows(self.source, self.engine, self.coding)
        return self._coded

    def grow(self, seeds: tuple[int, ...]) -> list[Grown]:
        """Grow a tree for each seed."""
        targets = (self.target,) * len(seeds)
        if self.balanced:
            targets = sample_targets(self.target, self.sampling, seeds, self.coded, self.engine)
        growing = [
            TreeGrowth(self.columns, target, self.rules, seed)
            for seed, target in zip(seeds, targets, strict=True)
        ]
        room = tree_levels.MOST_BYTES // growing[0].node_bytes // len(seeds)
        while any(plans := [growth.plan(room) for growth in growing]):
            passing = _Levels(seeds, targets, tuple(plans), self.sampling, self.columns.counts)
            sums = iter(self.engine.accumulate(passing, self.coded).sums)
            for growth, plan in zip(growing, plans, strict=True):
                if plan is not None:
                    growth.take(next(sums))
        self._grow_small(seeds, growing)
        return [growth.grown() for growth in growing]

    def _grow_small(self, seeds: tuple[int, ...], growing: list[TreeGrowth]) -> None:
        width = len(self.columns.counts)
        while pending := [(t, at) for t, growth in enumerate(growing) for at in growth.small()]:
            wanted = [np.zeros(len(growth.nodes), dtype=bool) for growth in growing]
            size = 0
            for t, at in pending:
                size += growing[t].nodes[at].facts.rows * (8 * width + 28)
                if size > MOST_BYTES and any(own.any() for own in wanted):
                    break
                wanted[t][at] = True
            trees = tuple(growth.route() for growth in growing)
            passing = _SmallRows(seeds, trees, tuple(wanted), self.sampling, self.coding)
            blocks = self.engine.accumulate(passing, self.source).blocks
            for t, growth in enumerate(growing):
                own = [block[1:] for block in blocks if block[0] == t]
                if own:
                    self._grow_nodes(growth, *(np.concatenate(part) for part in zip(*own, strict=True)))

    def _grow_nodes(
        self, growth: TreeGrowth, node: NDArray[np.int32], X: NDArray[Any], y: Vector, weight: Vector
    ) -> None:
        order = np.argsort(node, kind="stable")
        places, starts = np.unique(node[order], return_index=True)
        pieces = np.split(order, starts[1:])

        def grow(item: tuple[int, NDArray[np.int64]]) -> Grown:
            at, rows = item
            return self._small_tree(growth, at, X[rows], y[rows], weight[rows])

        items = list(zip(places.tolist(), pieces, strict=True))
        for (at, _), found in zip(items, in_turn(grow, items, self.jobs), strict=True):
            growth.nodes[at].below = found

    def _small_tree(self, growth: TreeGrowth, at: int, X: NDArray[Any], y: Vector, weight: Vector) -> Grown:
        target, levels = growth.target, self.columns.levels
        own = weight if target.factors is None else weight * target.factors[y.astype(np.intp)]
        quick = not levels.any()
        classes = (target.classes,) if target.classes else ()
        rules = growth.small_rules(at)
        found = forest_grow(
            X,
            target.target(y).Y,
            np.array([unmixed(growth.nodes[at].seed)], dtype=np.uint64),
            Sample(weight=own),
            criterion=target.kind,
            classes=classes,
            levels=levels,
            rules=rules,
            columns=forest_columns(X, rules.max_columns, _threads=1)
            if quick and not self.rules.random_threshold
            else None,
            quick=quick,
            small=True,
            _threads=1,
        )
        if classes:
            found = replace(found, value=found.value / found.weight[:, None])
        return tree_nodes(found, 0, target.kind, classes, levels).grown


@dataclass(frozen=True, slots=True)
class _ClassCounts:
    seeds: tuple[int, ...]
    sampling: RowSampling
    classes: int

    def __call__(self, batch: Batch) -> WholeSums:
        y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch))
        found = np.zeros((len(self.seeds), self.classes), dtype=np.int64)
        for own, seed in zip(found, self.seeds, strict=True):
            weight = self.sampling.weights(seed, batch.start, y, batch.weight)
            own += np.bincount(y.astype(np.intp), weight, self.classes).astype(np.int64)
        return WholeSums((found,))


def sample_targets(
    target: LevelTarget, sampling: RowSampling, seeds: tuple[int, ...], source: Source, engine: Engine
) -> tuple[LevelTarget, ...]:
    """The target of each tree where classes count alike in each sample: its factors are its own."""
    found = []
    for own in engine.accumulate(_ClassCounts(seeds, sampling, target.classes), source).sums[0]:
        each = own.sum() / np.count_nonzero(own)
        factors = np.divide(each, own, out=np.zeros(len(own)), where=own > 0)
        found.append(replace(target, factors=factors))
    return tuple(found)
