"""The rows of a forest's fit, ready to grow trees from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native.trees.forest_columns import forest_columns
from surefit.core.native.trees.forest_grow import GrownForest, Sample, grown_trees
from surefit.core.native.trees.node_random import MASK, mixed
from surefit.core.native.trees.tree_grow import Rules
from surefit.engine.thread_map import in_turn
from surefit.models.ensemble import jobs_for
from surefit.models.tree.growing.binned_search import bins_know
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


class Grower:
    """What trees are grown from, and by which rules; ``model`` is the forest.

    by_number: each row is drawn by its number, as those of a stream are.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        target: Target,
        weight: Vector | None,
        levels: Any,
        seed: int,
        by_number: bool = False,
    ) -> None:
        self._by_number = by_number or model.bootstrap == "poisson"
        self.model, self.X, self.target, self.levels, self.seed = model, X, target, levels, seed
        self.looked_at = model._columns_looked_at(X.shape[1])
        self.sample = self._sample(weight)
        plain = replace(
            model._rules(X, None if self.sample.draws else weight, target, self.looked_at, 0), seed=0
        )
        if self.sample.draws:
            share = model.min_weight_fraction_leaf
            plain = replace(plain, min_weight_leaf=share * abs(self.sample.draws))
        self.rules: Rules = plain
        self.kind = model.kernel_criteria[model.criterion]
        self._columns: Any = None

    def _sample(self, weight: Vector | None) -> Sample:
        model, rows = self.model, len(self.X)
        if not model.bootstrap:
            return Sample(0, None, weight, model._balanced)
        total = float(rows)
        if weight is not None:
            total = as_float(exact_sum(weight)) if self._by_number else float(weight.sum())
        draws = draws_of(model, rows, total)
        if self._by_number:
            return Sample(-draws, weight, None, model._balanced)
        return Sample(draws, None if weight is None else np.cumsum(weight), None, model._balanced)

    @property
    def quick(self) -> bool:
        """Whether the quick search knows all that is asked."""
        return bins_know(self.target, self.kind, self.levels, self.rules)

    @property
    def columns(self) -> Any:
        """The ranked columns, made when the first tree is grown."""
        if self._columns is None and self.quick and not self.rules.random_threshold:
            self._columns = forest_columns(
                self.X, self.rules.max_columns, _threads=jobs_for(self.model.n_jobs)
            )
        return self._columns

    def grow(self, seeds: NDArray[np.uint64]) -> Iterator[GrownForest]:
        """Grow a tree for each seed, with values in the units of the target."""
        if self.sample.draws >= 0:
            found = self._grow(seeds, self.sample, jobs_for(self.model.n_jobs))
        else:
            self.columns  # noqa: B018 (made once, by all threads)
            found = list(in_turn(self._drawn_by_number, seeds.tolist(), jobs_for(self.model.n_jobs)))
        target = self.target
        while found:  # what is handed over is not kept here
            tree = in_target_units(found.pop(0), target)
            if self.model.ccp_alpha > 0:
                tree = pruned_forest(tree, self.kind, target, self.levels, self.model.ccp_alpha)
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


def draws_of(model: Any, rows: int, total: float) -> int:
    """How many rows the sample of a tree has; total: the weight of all."""
    asked = model.max_samples
    if asked is None:
        return rows
    return int(asked) if isinstance(asked, int | np.integer) else max(1, int(asked * total))
