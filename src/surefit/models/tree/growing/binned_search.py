"""One tree by the search of forests: bins in large nodes, every value in small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native.trees.forest_columns import FEW_OF, forest_columns
from surefit.core.native.trees.forest_grow import Sample, forest_grow
from surefit.core.native.trees.tree_grow import Rules
from surefit.models.tree.nodes.forest_arrays import in_target_units, tree_nodes
from surefit.models.tree.nodes.node_arrays import Nodes
from surefit.models.tree.nodes.parameters import Target

# Rows of a node up to which every value is looked at: where nodes look at few columns, and at many of them.
ALL_VALUES, ALL_VALUES_IN_ORDER = 1024, 8192
EXACT_CELLS = 100_000_000  # up to which "auto" sorts every column: see docs/trees.md


def supports_bins(target: Target, kind: str, levels: NDArray[np.int64], rules: Rules) -> bool:
    """Whether the search by bins knows all that is asked: one output, numbers, and plain rules."""
    return bool(
        (target.classes or kind == "squared")
        and target.Y.shape[1] == 1
        and not levels.any()
        and not rules.monotone
        and not rules.max_leaves
    )


def exact_search_rows(root: int, width: int, rules: Rules) -> int:
    """Return up to how many rows a node of a tree of ``root`` rows is searched value by value.

    Bins of a small table are fine enough for more of its nodes.

    >>> [exact_search_rows(rows, 28, Rules()) for rows in (100, 20_000, 100_000)]
    [1024, 2500, 8192]
    >>> exact_search_rows(100_000, 28, Rules(max_columns=5))
    1024
    """
    if rules.random_threshold or 0 < FEW_OF * rules.max_columns <= width:
        return ALL_VALUES
    return min(max(root // 8, ALL_VALUES), ALL_VALUES_IN_ORDER)


def grow_by_bins(
    X: NDArray[Any], target: Target, weight: Vector | None, kind: str, levels: NDArray[np.int64], rules: Rules
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
