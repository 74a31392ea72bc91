"""Depth, leaves and paths of a tree are read from its splits alone, and are those of all its facts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefit import DecisionTreeClassifier, DecisionTreeRegressor
from surefit.models.tree.nodes.compact_tree import CompactTree
from surefit.models.tree.nodes.node_arrays import decision_path

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
X[RNG.random(X.shape) < 0.1] = np.nan
Y = np.nan_to_num(X[:, 0] * X[:, 1]) + RNG.normal(size=200) / 5

TREES: dict[str, Any] = {
    "numbers": DecisionTreeRegressor(),
    "classes": DecisionTreeClassifier(max_leaf_nodes=9),
    "medians": DecisionTreeRegressor(criterion="absolute_error", max_depth=4),
    "pruned": DecisionTreeRegressor(ccp_alpha=0.01),
    "surrogates": DecisionTreeRegressor(max_depth=4, missing="surrogate"),
    "fractional rows": DecisionTreeClassifier(max_depth=3, missing="fractional"),
    "one leaf": DecisionTreeRegressor(min_samples_leaf=150),
}


@pytest.mark.parametrize("name", TREES)
def test_they_are_those_of_a_walk_by_hand(name: str) -> None:
    model = TREES[name].fit(X, Y > 0 if isinstance(TREES[name], DecisionTreeClassifier) else Y)
    view = model.tree_
    depths, above = {0: 0}, {0: [0]}
    for at in range(view.node_count):
        for child in (view.children_left[at], view.children_right[at]):
            if child >= 0:
                depths[int(child)], above[int(child)] = depths[at] + 1, [*above[at], int(child)]
    leaves = [at for at in range(view.node_count) if view.children_left[at] < 0]
    assert model.get_depth() == view.max_depth == max(depths.values())
    assert model.get_n_leaves() == view.n_leaves == len(leaves)
    np.testing.assert_array_equal(model._nodes().depths, [depths[at] for at in range(view.node_count)])
    path = model.decision_path(X)
    assert path.shape == (len(X), view.node_count)
    for row, leaf in enumerate(model.apply(X)):
        assert sorted(path[[row]].indices.tolist()) == above[int(leaf)]
    np.testing.assert_array_equal(path.toarray(), decision_path(model._nodes(), model.apply(X)).toarray())


@pytest.mark.parametrize("name", ["numbers", "classes", "medians", "pruned"])
def test_no_fact_of_a_node_is_looked_at(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = TREES[name].fit(X, Y > 0 if isinstance(TREES[name], DecisionTreeClassifier) else Y)

    def refuse(*given: Any) -> None:
        raise AssertionError("all facts of all nodes were added up")

    monkeypatch.setattr(CompactTree, "nodes", refuse)
    assert model.get_depth() >= 1
    assert model.get_n_leaves() >= 2
    assert model.decision_path(X).shape[0] == len(X)
    with pytest.raises(AssertionError, match="added up"):
        model.tree_  # noqa: B018
