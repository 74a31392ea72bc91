"""Trees and forests of files that were written before leaves and thresholds shared a place."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.native.trees.forest_grow import GrownForest
from surefit.core.native.trees.tree_grow import Grown
from surefit.models.tree.nodes.compact_forest import compact_forest
from surefit.models.tree.nodes.compact_tree import compact_tree
from surefit.models.tree.nodes.node_arrays import Nodes
from surefit.models.tree.nodes.surrogate_arrays import Surrogates


def tree_of_older_file(state: dict[str, Any], kind: str) -> dict[str, Any]:
    """The fitted values of a tree as it keeps them now; kind: the kernel's name of its criterion."""
    if "node_left_" not in state:
        return state
    names = ("feature", "threshold", "left", "right", "missing_left", "impurity", "weight", "rows", "value")
    old = {name: state[f"node_{name}_"] for name in names}
    value = old.pop("value")
    levels = np.zeros(state["n_features_in_"], dtype=np.int64)
    grown = Grown(**old, sums=value, left_levels=state["node_level_bits_"], levels=levels)
    nodes = Nodes(grown, value, _counts(state))
    kept = compact_tree(nodes, kind)
    listed = ("column", "threshold", "turned", "agreement")
    others = Surrogates.of_table(*(state[f"surrogate_{name}_"] for name in listed))
    return {name: own for name, own in state.items() if name.removesuffix("_") not in _GONE} | {
        **{f"surrogate_{name}_": getattr(others, name) for name in ("node", *listed)},
        "node_threshold_": kept.threshold,
        "node_feature_": kept.feature,
        "node_right_": kept.right,
        "leaf_value_": kept.leaf_value,
        "leaf_weight_": kept.leaf_weight,
        "leaf_impurity_": kept.leaf_impurity,
        "inner_value_": kept.inner_value,
        "inner_decrease_": kept.inner_decrease,
        "importance_": nodes.importances() if len(kept.inner_value) else np.empty(0),
    }


def forest_of_older_file(state: dict[str, Any]) -> dict[str, Any]:
    """The fitted values of a forest as it keeps them now."""
    if "leaf_rows_" not in state:
        return state
    kept = compact_forest(
        GrownForest(
            state["nodes_"],
            state["node_start_"],
            state["leaf_start_"],
            state["tree_importance_"],
            state["level_bits_"],
            state["level_start_"],
            state["leaf_value_"],
            state["leaf_weight_"],
            state["leaf_impurity_"],
            state["leaf_rows_"],
            state["inner_"],
        ),
        _counts(state),
    )
    return {name: own for name, own in state.items() if name not in ("leaf_rows_", "inner_")} | {
        "nodes_": kept.nodes,
        "leaf_value_": kept.leaf_value,
        "leaf_weight_": kept.leaf_weight,
        "leaf_impurity_": kept.leaf_impurity,
        "inner_value_": kept.inner_value,
        "inner_impurity_": kept.inner_impurity,
    }


_GONE = {
    f"node_{name}" for name in ("left", "missing_left", "impurity", "weight", "rows", "value", "share_left")
}


def _counts(state: dict[str, Any]) -> tuple[int, ...]:
    classes = state.get("classes_")
    if classes is None:
        return ()
    return tuple(map(len, classes)) if isinstance(classes, list) else (len(classes),)
