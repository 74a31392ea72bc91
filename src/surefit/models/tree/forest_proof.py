"""The splits of a forest's trees, scored again from the samples that the trees drew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.forest_grow import GrownForest
from surefit.models.tree.arrays import scaled_by
from surefit.models.tree.forest_arrays import tree_nodes
from surefit.models.tree.forest_growing import Grower
from surefit.models.tree.forest_samples import weights_drawn
from surefit.models.tree.proof import Problem, best_splits

TREES = 3  # looked at again, unless they have more
CELLS = 1e8  # than these, so that a proof takes seconds: rows times columns times depths
LOCAL_ROWS = 1024  # up to which a node of a tree that was begun by bins is searched value by value


def split_drift(forest: GrownForest, grower: Grower, seeds: NDArray[np.uint64], by_bins: bool) -> float:
    """By how much splits of some trees fall short of the best of their nodes: rounding, where they hold.

    by_bins: large nodes were searched by bins, and are left out.
    """
    X, target = grower.X, grower.target
    worst, cells = 0.0, 0.0
    for t in np.linspace(0, forest.trees - 1, min(TREES, forest.trees)).astype(int).tolist():
        nodes = scaled_by(tree_nodes(forest, t, grower.kind, target.classes, grower.levels), target)
        cells += float(X.size) * float(nodes.depths.max() + 1)
        if cells > CELLS:
            break
        seed = int(seeds[t])
        weight = weights_drawn(grower.sample, len(X), seed, target)
        rules, exact = replace(grower.rules, seed=seed), LOCAL_ROWS if by_bins else None
        problem = Problem(X, target.Y, weight, grower.kind, target.classes, rules, exact)
        worst = max(worst, *best_splits(nodes, problem).values())
    return worst
