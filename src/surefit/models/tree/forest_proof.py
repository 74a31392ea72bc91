"""The splits of a forest's trees, scored again from the samples that the trees drew."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.models.tree.arrays import scaled_by
from surefit.models.tree.binned_search import rows_told_apart
from surefit.models.tree.forest_arrays import tree_nodes
from surefit.models.tree.forest_growing import Grower
from surefit.models.tree.forest_samples import weights_drawn
from surefit.models.tree.kept_forest import KeptForest
from surefit.models.tree.proof import Problem, best_splits

TREES = 3  # looked at again, unless they have more
CELLS = 1e8  # than these, so that a proof takes seconds: rows times columns times depths


@dataclass(frozen=True, slots=True)
class Rescored:
    """By how much splits fall short of the best of their nodes: rounding, where they hold.

    trees, splits: how many were scored again. why_none: a reason, in words.
    """

    worst: float = 0.0
    trees: int = 0
    splits: int = 0
    why_none: str = ""

    def said_with(self, found: Certificate) -> Certificate:
        """The certificate with what was scored; in words where that is nothing."""
        parts = {**found.parts, "trees scored again": self.trees, "splits scored again": self.splits}
        words = "" if self.splits else f" no split being scored again ({self.why_none}),"
        return replace(found, measure=found.measure + words, parts=parts)


def rescored(forest: KeptForest, grower: Grower, seeds: NDArray[np.uint64], by_bins: bool) -> Rescored:
    """Score the splits of some trees again.

    by_bins: large nodes were searched by bins, and are left out.
    """
    X, target = grower.X, grower.target
    worst, cells, trees, splits = 0.0, 0.0, 0, 0
    why_none = "large nodes were searched by bins" if by_bins else "trees have none"
    for t in np.linspace(0, forest.trees - 1, min(TREES, forest.trees)).astype(int).tolist():
        nodes = scaled_by(tree_nodes(forest, t, grower.kind, target.classes, grower.levels), target)
        cells += float(X.size) * float(nodes.depths.max() + 1)
        if cells > CELLS:
            why_none = why_none if trees else f"a tree takes more than {CELLS:.0e} cells to prove"
            break
        seed = int(seeds[t])
        weight = weights_drawn(grower.sample, len(X), seed, target)
        rules = replace(grower.rules, seed=seed)
        exact = rows_told_apart(int(nodes.grown.rows[0]), X.shape[1], rules) if by_bins else None
        problem = Problem(X, target.Y, weight, grower.kind, target.classes, rules, exact, target.grain)
        worst = max(worst, *best_splits(nodes, problem).values())
        looked_at = nodes.inner if exact is None else nodes.inner & (nodes.grown.rows <= exact)
        trees, splits = trees + 1, splits + int(np.count_nonzero(looked_at))
    return Rescored(worst, trees, splits, why_none)
