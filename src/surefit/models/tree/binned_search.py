"""One tree by the search of forests: bins in large nodes, every value in small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.forest_columns import forest_columns
from surefit.core.native.forest_grow import Sample, forest_grow
from surefit.core.native.tree_grow import Rules
from surefit.models.tree.arrays import Target
from surefit.models.tree.forest_arrays import in_target_units, tree_nodes
from surefit.models.tree.nodes import Nodes

Floats = NDArray[np.float64]
ALL_VALUES = 1024  # rows of a node up to which every value is looked at
EXACT_CELLS = 100_000_000  # up to which "auto" sorts every column: see docs/trees.md


def bins_know(target: Target, kind: str, levels: NDArray[np.int64], rules: Rules) -> bool:
    """Whether the search by bins knows all that is asked: one output, numbers, and plain rules."""
    return bool(
        (target.classes or kind == "squared")
        and target.Y.shape[1] == 1
        and not levels.any()
        and not rules.monotone
        and not rules.max_leaves
    )


def grow_by_bins(
    X: NDArray[Any], target: Target, weight: Floats | None, kind: str, levels: NDArray[np.int64], rules: Rules
) -> Nodes:
    """Grow one tree from all rows."""
    drawn = rules.random_threshold
    found = forest_grow(
        X,
        target.Y,
        np.array([rules.seed], dtype=np.uint64),
        Sample(weight=weight),
        criterion=kind,
        classes=target.classes,
        levels=levels,
        rules=rules,
        columns=None if drawn else forest_columns(X, rules.max_columns),
        quick=True,
    )
    return tree_nodes(in_target_units(found, target), 0, kind, target.classes, levels)
