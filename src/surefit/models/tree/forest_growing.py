"""The rows of a forest's fit, ready to grow trees from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.forest_columns import forest_columns
from surefit.core.native.forest_grow import GrownForest, Sample, forest_grow
from surefit.core.native.tree_grow import Rules
from surefit.core.native.tree_grow_twin import mixed
from surefit.models.tree.arrays import Target
from surefit.models.tree.binned_search import bins_know
from surefit.models.tree.forest_arrays import in_target_units
from surefit.models.tree.forest_samples import pruned_forest
from surefit.models.tree.members import jobs_for

Floats = NDArray[np.float64]


def tree_seeds(seed: int, trees: int) -> NDArray[np.uint64]:
    """The seeds of trees; more trees leave the first ones as they are.

    >>> tree_seeds(7, 3)[:2].tolist() == tree_seeds(7, 2).tolist()
    True
    """
    base = mixed(seed & ((1 << 64) - 1))
    return np.array([mixed((base + t) & ((1 << 64) - 1)) >> 33 for t in range(trees)], dtype=np.uint64)


class Grower:
    """What trees are grown from, and by which rules; ``model`` is the forest."""

    def __init__(
        self, model: Any, X: Any, target: Target, weight: Floats | None, levels: Any, seed: int
    ) -> None:
        self.model, self.X, self.target, self.levels, self.seed = model, X, target, levels, seed
        self.looked_at = model._columns_looked_at(X.shape[1])
        self.sample = self._sample(weight)
        plain = replace(
            model._rules(X, None if self.sample.draws else weight, target, self.looked_at, 0), seed=0
        )
        if self.sample.draws:
            share = model.min_weight_fraction_leaf
            plain = replace(plain, min_weight_leaf=share * self.sample.draws)
        self.rules: Rules = plain
        self.kind = model.kernel_criteria[model.criterion]
        self._columns: Any = None

    def _sample(self, weight: Floats | None) -> Sample:
        model, rows = self.model, len(self.X)
        if not model.bootstrap:
            return Sample(0, None, weight, model._balanced)
        asked = model.max_samples
        if asked is None:
            draws = rows
        elif isinstance(asked, int | np.integer):
            draws = int(asked)
        else:
            draws = max(1, int(asked * (rows if weight is None else float(weight.sum()))))
        return Sample(draws, None if weight is None else np.cumsum(weight), None, model._balanced)

    @property
    def quick(self) -> bool:
        """Whether the quick search knows all that is asked."""
        return bins_know(self.target, self.kind, self.levels, self.rules)

    @property
    def columns(self) -> Any:
        """The sorted columns, made when the first tree is grown."""
        if self._columns is None and self.quick and not self.rules.random_threshold:
            self._columns = forest_columns(self.X, _threads=jobs_for(self.model.n_jobs))
        return self._columns

    def grow(self, seeds: NDArray[np.uint64]) -> GrownForest:
        """Grow a tree for each seed, with values in the units of the target."""
        found = forest_grow(
            self.X,
            self.target.Y,
            seeds,
            self.sample,
            criterion=self.kind,
            classes=self.target.classes,
            levels=self.levels,
            rules=self.rules,
            columns=self.columns,
            quick=self.quick,
            _threads=jobs_for(self.model.n_jobs),
        )
        target = self.target
        found = in_target_units(found, target)
        if self.model.ccp_alpha > 0:
            return pruned_forest(found, self.kind, target, self.levels, self.model.ccp_alpha)
        return found
