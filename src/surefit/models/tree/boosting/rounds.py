"""Rounds of boosting: slopes of the loss, a tree for them, and a look at rows held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.native.trees.bin_columns import Codes
from surefit.core.native.trees.boost_grow import BoostRules, BoostWork, boost_grow, boost_update
from surefit.models.tree.boosting.losses import BoostLoss
from surefit.models.tree.boosting.trees import BoostedTrees, boosted_trees_of
from surefit.models.tree.rows.bins import Bins
from surefit.models.tree.targets.exact_sums import exact_sum, power_of


@dataclass(slots=True)
class Part:
    """Some rows: their codes, targets and weights, and the scores that the trees so far give them."""

    codes: Codes
    y: Vector
    weight: Vector | None
    score: Matrix

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(len(self.y)) if self.weight is None else float(self.weight.sum())

    def mean_loss(self, loss: BoostLoss) -> float:
        """The weighted mean of the loss."""
        return loss.at(self.y, self.score, self.weight, only_loss=True).loss / self.total


@dataclass(slots=True)
class Stopping:
    """When to stop: once no score of the last rounds is better than the one before them.

    score: of a part, the greater the better. The scores before the first round are the first entries.
    """

    patience: int
    tolerance: float
    on_held_out: bool
    score: Callable[[Part], float]
    train: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)

    def sees(self, train: Part, held_out: Part | None, train_score: float | None) -> bool:
        """Note how the parts stand; True to stop."""
        self.train.append(self.score(train) if train_score is None else train_score)
        if held_out is not None:
            self.held_out.append(self.score(held_out))
        seen = self.held_out if self.on_held_out else self.train
        if len(seen) < self.patience + 1:
            return False
        reference = seen[-self.patience - 1] + self.tolerance
        return not any(score > reference for score in seen[-self.patience :])


@dataclass(slots=True)
class Setup:
    """What rounds begin with; baseline: None for the best constant. tree_blocks: the trees that there are.

    scored: whether a scorer looks at rows after each round.
    """

    loss: BoostLoss
    rules: BoostRules
    learning_rate: float
    seed: int
    baseline: Vector | None
    tree_blocks: list[BoostedTrees]
    scored: bool = False


@dataclass(slots=True)
class Rounds:
    """What the rounds work on, and the trees that they have made."""

    loss: BoostLoss
    rules: BoostRules
    bins: Bins
    learning_rate: float
    seed: int
    table: Any  # a BoostTable, where the rows are in memory
    train: Any
    held_out: Any
    tree_blocks: list[BoostedTrees]
    trees: int = 0

    def run(
        self,
        trace: Any,
        limit: int,
        stopping: Stopping | None,
        by_loss: bool,
        learned: Callable[[], Any],
    ) -> float:
        """Make rounds until told to stop; return the mean loss of the training rows."""
        work = self._work()
        slopes = self._slopes()
        loss = slopes.loss / self.train.total
        if stopping is not None and not stopping.train:
            stopping.sees(self.train, self.held_out, -loss if by_loss else None)
        for _ in trace.iterations(limit):
            self._round(slopes, work)
            slopes = self._slopes()
            loss = slopes.loss / self.train.total
            stops = stopping is not None and stopping.sees(
                self.train, self.held_out, -loss if by_loss else None
            )
            beside = {} if stopping is None or not stopping.held_out else {"held_out": stopping.held_out[-1]}
            trace.record(objective=loss, learned=learned, **beside)
            if stops:
                break
        return float(loss)

    def _work(self) -> Any:
        return BoostWork(len(self.train.y))

    def _slopes(self) -> Any:
        found = self.loss.at(self.train.y, self.train.score, self.train.weight)
        refuse_runaway(found)
        return found

    def _tree_seed(self, ahead: int = 0) -> int:
        return (self.seed + 0x9E3779B97F4A7C15 * (self.trees + ahead + 1)) % 2**64

    def _round(self, slopes: Any, work: Any) -> None:
        # A sum that rounding could move across a power of two would change the units of a stream's sums.
        total = power_of(slopes.total_curvature, lambda: exact_sum(slopes.curvature.ravel()))
        bounds = slopes.largest_gradient, slopes.largest_curvature, total
        for k in range(self.loss.outputs):
            gradient = slopes.gradient if self.loss.outputs == 1 else slopes.gradient[k]
            curvature = slopes.curvature if self.loss.outputs == 1 else slopes.curvature[k]
            tree = boost_grow(self.table, gradient, curvature, bounds, self.rules, work, self._tree_seed())
            train = self.train
            value = self.loss.leaf_values(tree, work, train.y, train.score[k], train.weight)
            value = self.learning_rate * value
            boost_update(tree, value, work, train.score[k])
            self.tree_blocks.append(boosted_trees_of(tree, value, self.bins))
            self.trees += 1
            if self.held_out is not None:
                by_code = boosted_trees_of(tree, value, self.bins, by_code=True)
                by_code.add_to(self.held_out.score[k : k + 1], self.held_out.codes)


def refuse_runaway(slopes: Any) -> None:
    """Refuse to go on once scores are too large for their loss."""
    if not (np.isfinite(slopes.largest_gradient) and np.isfinite(slopes.total_curvature)):
        raise DataError(
            "the raw predictions have diverged, and the loss is no longer finite: "
            "lower learning_rate, or scale the target."
        )
