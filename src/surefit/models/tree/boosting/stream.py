"""Rounds of boosting over rows that do not fit in memory, nor their codes: passes add up whole sums.

A round is one pass for the loss and the size of its slopes, and one for each level of its trees; four more
where leaves say medians or quantiles. Scores are kept in the files of the codes, or added up again from the
trees so far where codes are made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.bin_columns import Codes
from surefit.core.native.trees.boost_grow import BoostTree
from surefit.core.native.trees.level_sums import level_route, level_sums
from surefit.data.batches.batch import Batch
from surefit.data.source import MappedSource, Source
from surefit.engine.base import Engine
from surefit.models.tree.boosting.exact_quantiles import (
    RankSums,
    Window,
    leaf_quantiles,
    weight_unit,
    whole_weights,
)
from surefit.models.tree.boosting.losses import BoostLoss
from surefit.models.tree.boosting.rounds import Part, Rounds, Setup, refuse_runaway
from surefit.models.tree.boosting.scoring import looked_at
from surefit.models.tree.boosting.trees import BoostedTrees, boosted_trees_of, empty_grove, joined
from surefit.models.tree.rows.bin_codes import Coding, KeptRows, coded_rows, plain_engine, row_weights
from surefit.models.tree.rows.bins import Bins
from surefit.models.tree.rows.matrix import Levels, matrix_of
from surefit.models.tree.rows.row_draws import HeldOutRows
from surefit.models.tree.streams.boosted_growth import BoostGrowth, FixedPoint, Plan
from surefit.models.tree.targets.exact_sums import ExactSums, WholeSums, exact_sum, power_of
from surefit.models.tree.targets.facts import TargetFacts, class_factors_of, target_facts

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Where a batch begins, and how many of its rows are trained on and held out."""

    standing: Any

    def __call__(self, batch: Batch) -> Whole:
        return np.array([batch.start, *map(np.count_nonzero, self.standing.parts(batch))], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Those rows of a batch that stand at the numbers asked for within the part that they belong to.

    begins: where batches begin. before: how many rows of each part come before each batch.
    """

    standing: Any
    begins: Whole
    before: Whole
    numbers: tuple[Whole, ...]

    def __call__(self, batch: Batch) -> list[Part]:
        # An empty batch begins where the next one does, with as many rows before it.
        before = self.before[np.searchsorted(self.begins, batch.start)]
        parts = zip(self.standing.parts(batch), self.numbers, before, strict=True)
        return [self._part(batch, np.flatnonzero(rows), numbers - first) for rows, numbers, first in parts]

    def _part(self, batch: Batch, rows: Whole, places: Whole) -> Part:
        own = rows[places[(places >= 0) & (places < len(rows))]]
        standing, weight = self.standing, batch.weight
        if standing.begun and batch.offset is not None:
            score = np.array(batch.offset[:, own])
        else:
            score = np.repeat(standing.baseline[:, None], len(own), axis=1)
        # What a file holds is copied, so that no map of it stays open.
        codes: Codes = np.array(np.asarray(batch.X)[own])
        return Part(codes, np.asarray(batch.y)[own], None if weight is None else weight[own], score)


def scored_rows(standing: Any, source: Source, engine: Engine) -> tuple[Part, Part]:
    """Return the rows trained on and those held out at which a scorer looks, from two passes.

    They are the rows at which it looks in memory: evenly spaced ones of each part. standing: as rounds begin.
    """
    sizes = np.array(list(engine.map(_Sizes(standing), source)), dtype=np.int64).reshape(-1, 3)
    numbers = tuple(looked_at(int(count)) for count in sizes[:, 1:].sum(axis=0))
    before = np.cumsum(sizes[:, 1:], axis=0) - sizes[:, 1:]
    found = list(engine.map(_Chosen(standing, sizes[:, 0], before, numbers), source))
    train, held_out = zip(*found, strict=True)
    return _joined(train), _joined(held_out)


def _joined(parts: Sequence[Part]) -> Part:
    weight = None
    if any(part.weight is not None for part in parts):
        weight = np.concatenate([np.ones(len(p.y)) if p.weight is None else p.weight for p in parts])
    return Part(
        np.asfortranarray(np.concatenate([part.codes for part in parts])),
        np.concatenate([part.y for part in parts]),
        weight,
        np.ascontiguousarray(np.concatenate([part.score for part in parts], axis=1)),
    )


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """The loss of training rows and of those held out, and the size of the slopes."""

    loss: float
    held_out: float
    rows: int
    weight: float
    weight_held_out: float
    largest_gradient: float
    largest_curvature: float
    total_curvature: float

    def __add__(self, other: RoundFacts) -> RoundFacts:
        return RoundFacts(
            self.loss + other.loss,
            self.held_out + other.held_out,
            self.rows + other.rows,
            self.weight + other.weight,
            self.weight_held_out + other.weight_held_out,
            max(self.largest_gradient, other.largest_gradient),
            max(self.largest_curvature, other.largest_curvature),
            self.total_curvature + other.total_curvature,
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the scores of rows stand: ``trees`` of codes on top of a baseline, or of a batch's offset.

    kept: the offset of a batch is its score, but for the trees that are ``fresh``; begun: it was written.
    """

    loss: BoostLoss
    baseline: Vector
    trees: BoostedTrees
    fresh: BoostedTrees
    held_out: HeldOutRows
    kept: bool
    begun: bool

    def scores(self, batch: Batch, update: bool = False) -> Matrix:
        """Return the scores of a batch, (outputs, rows), and put those that are kept up to date."""
        if self.kept and batch.offset is not None:
            score = np.asarray(batch.offset)
            if update and not self.begun:
                score[:] = self.baseline[:, None]
            if update:
                self.fresh.add_to(score, np.asarray(batch.X))
            return score
        if batch.offset is not None:
            score = np.array(batch.offset)
        else:
            score = np.repeat(self.baseline[:, None], len(batch), axis=1)
        self.trees.add_to(score, np.asarray(batch.X))
        return score

    def parts(self, batch: Batch) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows of a batch are trained on, and which are held out; rows without weight are neither."""
        counts = np.ones(len(batch), dtype=bool) if batch.weight is None else batch.weight > 0
        held_out = self.held_out.among(batch.start, len(batch)) & counts
        return counts & ~held_out, held_out


@dataclass(frozen=True, slots=True)
class _Facts:
    standing: Standing

    def __call__(self, batch: Batch) -> RoundFacts:
        score = self.standing.scores(batch, update=True)
        train, held_out = self.standing.parts(batch)
        loss, rows, apart = self.standing.loss, _rows(batch, score, train), _rows(batch, score, held_out)
        found = loss.at(*rows)
        return RoundFacts(
            found.loss,
            loss.at(*apart, only_loss=True).loss if len(apart[0]) else 0.0,
            len(rows[0]),
            _weight(rows),
            _weight(apart),
            found.largest_gradient,
            found.largest_curvature,
            found.total_curvature,
        )


@dataclass(frozen=True, slots=True)
class _Start:
    standing: Standing

    def __call__(self, batch: Batch) -> ExactSums:
        train, _ = self.standing.parts(batch)
        weight = None if batch.weight is None else batch.weight[train]
        outputs = self.standing.loss.outputs
        return ExactSums.of_rows(np.asarray(batch.y)[train], weight, outputs if outputs > 1 else 0)


@dataclass(frozen=True, slots=True)
class _Curvature:
    standing: Standing

    def __call__(self, batch: Batch) -> ExactSums:
        score = self.standing.scores(batch)
        train, _ = self.standing.parts(batch)
        found = self.standing.loss.at(*_rows(batch, score, train))
        return ExactSums(0, (exact_sum(found.curvature.ravel()),))


@dataclass(frozen=True, slots=True)
class _Levels:
    standing: Standing
    unit: FixedPoint
    counts: NDArray[np.int64]
    plans: tuple[Plan | None, ...]

    def __call__(self, batch: Batch) -> WholeSums:
        codes = np.asarray(batch.X)
        score = self.standing.scores(batch)
        train, _ = self.standing.parts(batch)
        slopes = self.standing.loss.at(np.asarray(batch.y), score, batch.weight)
        gradient, curvature = np.atleast_2d(slopes.gradient), np.atleast_2d(slopes.curvature)
        found = []
        for k, plan in enumerate(self.plans):
            if plan is None:
                continue
            slot = plan.slot[level_route(plan.tree, codes)]
            slot[~train] = -1
            terms = self.unit.terms(gradient[k], curvature[k])
            found.append(level_sums(codes, self.counts, slot, terms, plan.slots)[:, :, 0])
        return WholeSums(tuple(found))


@dataclass(frozen=True, slots=True)
class _Weights:
    """How many rows are trained on, and the largest of their weights; 0 where rows have none."""

    standing: Standing

    def __call__(self, batch: Batch) -> RowWeights:
        train, _ = self.standing.parts(batch)
        largest = 0.0 if batch.weight is None else float(batch.weight[train].max(initial=0.0))
        return RowWeights(int(np.count_nonzero(train)), largest)


@dataclass(frozen=True, slots=True)
class RowWeights:
    """A number of rows, and the largest of their weights."""

    rows: int
    largest: float

    def __add__(self, other: RowWeights) -> RowWeights:
        return RowWeights(self.rows + other.rows, max(self.largest, other.largest))


@dataclass(frozen=True, slots=True)
class _Ranks:
    """The errors of rows by leaf; leaves say their numbers. Without leaves, the targets of all rows."""

    standing: Standing
    leaves: BoostedTrees | None
    unit: float
    window: Window

    def __call__(self, batch: Batch) -> RankSums:
        train, _ = self.standing.parts(batch)
        value, leaf = np.asarray(batch.y), np.zeros((1, len(batch)))
        if self.leaves is not None:
            value = value - self.standing.scores(batch)[0]
            self.leaves.add_to(leaf, np.asarray(batch.X))
        weight = np.ones(len(train)) if batch.weight is None else batch.weight
        whole = whole_weights(weight[train], self.unit)
        return RankSums.of_rows(leaf[0, train].astype(np.intp), value[train], whole, self.window)


def _rows(batch: Batch, score: Matrix, rows: NDArray[np.bool_]) -> tuple[Vector, Vector, Vector | None]:
    y, weight = np.asarray(batch.y), batch.weight
    if rows.all():
        return y, score, weight
    return y[rows], np.ascontiguousarray(score[:, rows]), None if weight is None else weight[rows]


def _weight(rows: tuple[Vector, Vector, Vector | None]) -> float:
    return float(len(rows[0])) if rows[2] is None else float(rows[2].sum())


@dataclass(slots=True)
class Measured:
    """Rows that are not here: their number, their weight and their loss when it was last added up.

    scored: those of them that a scorer looks at, where one does.
    """

    rows: int = 0
    total: float = 1.0
    loss: float = float("nan")
    scored: Part | None = None

    def mean_loss(self, loss: BoostLoss) -> float:
        """The weighted mean of the loss."""
        return self.loss / self.total


@dataclass(slots=True, kw_only=True)
class StreamedRounds(Rounds):
    """Rounds whose rows are read in every pass."""

    source: Source
    engine: Engine
    baseline: Vector
    drawn: HeldOutRows
    by_code: list[BoostedTrees] = field(default_factory=list)
    fresh: list[BoostedTrees] = field(default_factory=list)
    begun: bool = False
    unit: float = 0.0

    def _standing(self) -> Standing:
        trees, fresh = joined(self.by_code), joined(self.fresh)
        kept = isinstance(self.source, KeptRows)
        return Standing(self.loss, self.baseline, trees, fresh, self.drawn, kept, self.begun)

    def start(self) -> Vector:
        """Return the best constant score of each output."""
        standing = self._standing()
        if self.loss.by_rank:
            return self._middles(standing, None, 1)
        return self.loss.start_of(self.engine.accumulate(_Start(standing), self.source))

    def gather_scored(self) -> None:
        """Gather the rows that a scorer looks at, as the rounds begin."""
        train, held_out = scored_rows(self._standing(), self.source, self.engine)
        self.train.scored = train
        if isinstance(self.held_out, Measured):
            self.held_out.scored = held_out

    def _middles(self, standing: Standing, numbered: BoostedTrees | None, leaves: int) -> Vector:
        """The medians or quantiles of the errors in leaves."""
        if self.unit == 0.0:
            facts = self.engine.accumulate(_Weights(standing), self.source)
            self.unit = weight_unit(facts.rows, facts.largest) if facts.largest > 0 else 1.0

        def add_up(window: Window) -> RankSums:
            return self.engine.accumulate(_Ranks(standing, numbered, self.unit, window), self.source)

        return leaf_quantiles(add_up, leaves, self.unit, self.loss.quantile)

    def _leaf_values(self, standing: Standing, tree: BoostTree) -> Vector:
        if not self.loss.by_rank:
            return tree.value
        found, leaves = tree.value.copy(), np.flatnonzero(tree.column < 0)
        number = np.zeros(len(found))
        number[leaves] = np.arange(len(leaves))
        numbered = boosted_trees_of(tree, number, self.bins, by_code=True)
        found[leaves] = self._middles(standing, numbered, len(leaves))
        return found

    def _work(self) -> Any:
        return None

    def _slopes(self) -> Any:
        facts = self.engine.accumulate(_Facts(self._standing()), self.source)
        self.fresh, self.begun = [], True
        refuse_runaway(facts)
        self.train.rows, self.train.total, self.train.loss = facts.rows, facts.weight, facts.loss
        if isinstance(self.held_out, Measured):
            self.held_out.total, self.held_out.loss = facts.weight_held_out, facts.held_out
        return facts

    def _round(self, slopes: Any, work: Any) -> None:
        standing = self._standing()

        def exact() -> int:
            return self.engine.accumulate(_Curvature(standing), self.source).sums[0]

        total = power_of(slopes.total_curvature, exact)
        unit = FixedPoint.of(self.train.rows, slopes.largest_gradient, slopes.largest_curvature, total)
        is_level = (self.bins.levels > 0).astype(np.uint8)
        growing = [
            BoostGrowth(self.rules, self.bins.counts, is_level, unit, self._tree_seed(k))
            for k in range(self.loss.outputs)
        ]
        while any(plans := [growth.plan() for growth in growing]):
            passing = _Levels(standing, unit, self.bins.counts, tuple(plans))
            sums = iter(self.engine.accumulate(passing, self.source).sums)
            for growth, plan in zip(growing, plans, strict=True):
                if plan is not None:
                    growth.take(next(sums))
        for k, growth in enumerate(growing):
            tree = growth.tree()
            value = self.learning_rate * self._leaf_values(standing, tree)
            by_code = boosted_trees_of(tree, value, self.bins, by_code=True)
            self.tree_blocks.append(boosted_trees_of(tree, value, self.bins))
            self.by_code.append(by_code)
            self.fresh.append(by_code)
            self.trees += 1
            for part in self._parts_here():
                by_code.add_to(part.score[k : k + 1], part.codes)

    def _parts_here(self) -> list[Part]:
        """The rows whose scores are kept in memory: those given apart, and those that are scored."""
        parts = (part.scored if isinstance(part, Measured) else part for part in (self.train, self.held_out))
        return [part for part in parts if part is not None]


def losses(
    loss: BoostLoss, source: Source, engine: Engine, held_out: HeldOutRows
) -> tuple[float, float | None]:
    """Return the mean losses of training rows and of those held out; offsets of batches are their scores."""
    none = empty_grove()
    facts = engine.accumulate(
        _Facts(Standing(loss, np.zeros(loss.outputs), none, none, held_out, True, True)), source
    )
    apart = facts.held_out / facts.weight_held_out if facts.weight_held_out > 0 else None
    return facts.loss / facts.weight, apart


@dataclass(frozen=True, slots=True)
class _Standing:
    """The scores that trees of numbers give to rows."""

    tree_block: BoostedTrees
    baseline: Vector

    def __call__(self, X: NDArray[Any]) -> Matrix:
        score = np.repeat(self.baseline[:, None], len(X), axis=1)
        self.tree_block.add_to(score, X)
        return score


@dataclass(slots=True)
class StreamedRows:
    """Rows that are read in every pass."""

    source: Source
    engine: Engine
    coding: Coding
    facts: TargetFacts
    held_out: HeldOutRows

    @property
    def count(self) -> int:
        """How many rows count."""
        return self.facts.counted

    @property
    def levels(self) -> Levels:
        """The levels of each column."""
        return self.coding.levels

    @property
    def bins(self) -> Bins:
        """The bins of each column."""
        return self.coding.bins

    def ends(self) -> Vector:
        """The least and the greatest target."""
        return np.array([self.facts.low, self.facts.high])

    def rounds(self, setup: Setup, scores: Callable[[], Matrix]) -> Rounds:
        """Return the rounds; codes are made now, where they are kept."""
        coding = self.coding
        if setup.tree_blocks and setup.baseline is not None:
            coding = replace(coding, standing=_Standing(setup.tree_blocks[0], setup.baseline))
        found = StreamedRounds(
            setup.loss,
            setup.rules,
            self.bins,
            setup.learning_rate,
            setup.seed,
            None,
            Measured(),
            Measured() if self.held_out.any else None,
            setup.tree_blocks,
            source=coded_rows(self.source, self.engine, coding, setup.loss.outputs),
            engine=plain_engine(self.engine),
            baseline=np.empty(0),
            drawn=self.held_out,
            begun=bool(setup.tree_blocks),
        )
        if setup.baseline is None:
            setup.baseline = found.start()
        found.baseline = setup.baseline
        if setup.scored:
            found.gather_scored()
        return found


def streamed_rows(
    class_weight: Any, source: Source, engine: Engine, coding: Coding, draw: Any
) -> StreamedRows:
    """Look at the targets, and draw what is held out."""
    facts = target_facts(source, engine)
    coding = replace(coding, factors=class_factors_of(class_weight, facts, source.schema))
    kept: list[NDArray[np.bool_]] = []

    def targets() -> Vector:
        blocks = list(plain_engine(engine).map(_targets, source))
        kept.append(np.concatenate([own for _, own in blocks]))
        return np.concatenate([y for y, _ in blocks])

    drawn = draw(facts.counted, targets)
    if drawn.mask is not None and kept:
        mask = np.zeros(facts.rows, dtype=bool)
        mask[kept[0]] = drawn.mask
        drawn = replace(drawn, mask=mask)
    return StreamedRows(source, engine, coding, facts, drawn)


def _targets(batch: Batch) -> tuple[Vector, NDArray[np.bool_]]:
    y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch))
    kept = np.ones(len(y), dtype=bool) if batch.weight is None else batch.weight > 0
    return y[kept], kept


@dataclass(frozen=True, slots=True)
class Answering:
    """Makes of a batch one of the scores of fitted trees, which are its offset.

    factors: what the weight of a row is multiplied by, for each class; None for nothing.
    """

    levels: Levels
    tree_block: BoostedTrees
    baseline: Vector
    factors: Vector | None

    def __call__(self, batch: Batch) -> Batch:
        """Return the targets and weights of a batch, with the scores."""
        y = np.ascontiguousarray(np.asarray(batch.y, dtype=np.float64).reshape(len(batch)))
        score = _Standing(self.tree_block, self.baseline)(matrix_of(batch.X, self.levels))
        return Batch(np.empty((len(y), 0)), y, row_weights(y, batch.weight, self.factors), batch.start, score)


def streamed_losses(
    loss: BoostLoss, answering: Answering, source: Source, engine: Engine, held_out: HeldOutRows
) -> tuple[float, float | None]:
    """Return the mean losses of training rows and of those held out, added up in one pass."""
    mapped = MappedSource(source, source.schema, answering)
    return losses(loss, mapped, plain_engine(engine), held_out)
