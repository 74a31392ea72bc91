"""The rows of a forest's fit, ready to grow trees from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native.trees.forest_columns import ForestColumns, forest_columns
from surefit.core.native.trees.forest_grow import GrownForest, Sample, grown_trees
from surefit.core.native.trees.node_random import MASK, mixed
from surefit.core.native.trees.tree_grow import Rules
from surefit.engine.thread_map import in_turn
from surefit.models.tree.growing.binned_search import supports_bins
from surefit.models.tree.growing.forest_samples import drawn_counts, pruned_forest
from surefit.models.tree.nodes.forest_arrays import in_target_units
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.rows.row_draws import refuse_empty
from surefit.models.tree.targets.exact_sums import as_float, exact_sum


def tree_seeds(seed: int, trees: int) -> NDArray[np.uint64]:
    """The seeds of trees; more trees leave the first ones as they are.

    >>> tree_seeds(7, 3)[:2].tolist() == tree_seeds(7, 2).tolist()
    True
    """
    base = mixed(seed & MASK)
    return np.array([mixed((base + t) & MASK) >> 33 for t in range(trees)], dtype=np.uint64)


def draws_of(max_samples: Any, rows: int, total: float) -> int:
    """How many rows the sample of a tree has; total: the weight of all."""
    if max_samples is None:
        return rows
    whole = isinstance(max_samples, int | np.integer)
    return int(max_samples) if whole else max(1, int(max_samples * total))


def bootstrap_sample(
    rows: int, weight: Vector | None, max_samples: Any, by_number: bool, balanced: bool
) -> Sample:
    """How the bootstrap sample of each tree is drawn; by_number: each row by its number, as in a stream."""
    total = float(rows)
    if weight is not None:
        total = as_float(exact_sum(weight)) if by_number else float(weight.sum())
    draws = draws_of(max_samples, rows, total)
    if by_number:
        return Sample(-draws, weight, None, balanced)
    return Sample(draws, None if weight is None else np.cumsum(weight), None, balanced)


@dataclass(slots=True, eq=False)
class Grower:
    """What the trees of a forest are grown from, and by which rules.

    kind: the kernel's name of the criterion. looked_at: how many columns each split is chosen among.
    """

    X: NDArray[Any]
    target: Target
    levels: NDArray[np.int64]
    sample: Sample
    rules: Rules
    kind: str
    looked_at: int
    seed: int
    ccp_alpha: float = 0.0
    jobs: int = 1
    _columns: ForestColumns | None = field(default=None, init=False)

    @property
    def quick(self) -> bool:
        """Whether the quick search knows all that is asked."""
        return supports_bins(self.target, self.kind, self.levels, self.rules)

    @property
    def columns(self) -> ForestColumns | None:
        """The ranked columns, made when the first tree is grown."""
        if self._columns is None and self.quick and not self.rules.random_threshold:
            self._columns = forest_columns(self.X, self.rules.max_columns, _threads=self.jobs)
        return self._columns

    def grow(self, seeds: NDArray[np.uint64]) -> Iterator[GrownForest]:
        """Grow a tree for each seed, with values in the units of the target."""
        if self.sample.draws >= 0:
            found = self._grow(seeds, self.sample, self.jobs)
        else:
            self.columns  # noqa: B018 (made once, by all threads)
            found = list(in_turn(self._drawn_by_number, seeds.tolist(), self.jobs))
        target = self.target
        while found:  # what is handed over is not kept here
            tree = in_target_units(found.pop(0), target)
            if self.ccp_alpha > 0:
                tree = pruned_forest(tree, self.kind, target, self.levels, self.ccp_alpha)
            yield tree

    def _drawn_by_number(self, seed: int) -> GrownForest:
        counts = drawn_counts(seed, self.sample.draws, len(self.X), self.sample.cumulative)
        refuse_empty(int(np.count_nonzero(counts)))
        sample = Sample(weight=counts.astype(np.float64), balanced=self.sample.balanced)
        return self._grow(np.array([seed], dtype=np.uint64), sample, 1)[0]

    def _grow(self, seeds: NDArray[np.uint64], sample: Sample, jobs: int) -> list[GrownForest]:
        return grown_trees(
            self.X,
            self.target.Y,
            seeds,
            sample,
            criterion=self.kind,
            classes=self.target.classes,
            levels=self.levels,
            rules=self.rules,
            columns=self.columns,
            quick=self.quick,
            _threads=jobs,
        )
