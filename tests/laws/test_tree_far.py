"""Targets far from zero: what rounding does to a leaf is no fault, and a changed leaf still is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefit
from surefit import DecisionTreeRegressor, RandomForestRegressor
from surefit.core.native.forest_grow import NODE
from surefit.models.tree.forest_samples import leaf_drift

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 3))
X[RNG.random(X.shape) < 0.1] = np.nan
Y = np.nan_to_num(X[:, 0] * X[:, 1]) + RNG.normal(size=1500) / 5
FEW = slice(0, 300)
FAR = pytest.mark.parametrize("centre", [1e9, -1e12])

MODELS: dict[str, Any] = {
    "squares": DecisionTreeRegressor(max_depth=3),
    "absolute errors": DecisionTreeRegressor(max_depth=3, criterion="absolute_error"),
    "surrogates": DecisionTreeRegressor(max_depth=3, missing="surrogate"),
    "fractional rows": DecisionTreeRegressor(max_depth=3, missing="fractional"),
    "random forest": RandomForestRegressor(3, max_depth=3),
    "extra trees": surefit.ExtraTreesRegressor(3, max_depth=3),
    "boosted by draws": surefit.AdaBoostRegressor(n_estimators=3),
    "bag": surefit.BaggingRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=3),
}


@FAR
@pytest.mark.parametrize("name", MODELS)
def test_a_leaf_that_rounding_moved_is_no_fault(name: str, centre: float) -> None:
    y = Y[FEW] + centre
    verdict = surefit.verify(MODELS[name].fit(X[FEW], y), X[FEW], y)
    assert verdict.holds, verdict.parts


@FAR
@pytest.mark.parametrize("missing", ["learned", "surrogate", "fractional"])
@pytest.mark.parametrize("search", ["exact", "histogram"])
def test_a_leaf_that_was_changed_is_found(search: str, missing: str, centre: float) -> None:
    rows = slice(0, 1500 if search == "histogram" else 300)
    y = Y[rows] + centre
    model = DecisionTreeRegressor(max_depth=3, split_search=search, missing=missing).fit(X[rows], y)
    assert surefit.verify(model, X[rows], y).holds
    leaf = int(np.flatnonzero(model.node_feature_ < 0)[1])
    model.node_threshold_[leaf] += 0.01  # a hundredth of the spread, and many last digits
    assert not surefit.verify(model, X[rows], y).holds


@FAR
def test_a_leaf_of_a_forest_that_was_changed_is_found_by_itself(
    centre: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surefit.models.tree import forest_base

    found = []

    def watched(*given: Any) -> float:
        found.append(leaf_drift(*given))
        return found[-1]

    monkeypatch.setattr(forest_base, "leaf_drift", watched)
    y = Y[FEW] + centre
    model = RandomForestRegressor(3, max_depth=3).fit(X[FEW], y)
    assert surefit.verify(model, X[FEW], y).holds
    nodes = model.nodes_.view(NODE).reshape(-1)
    nodes["threshold"][np.flatnonzero(nodes["feature"] < 0)[1]] += 0.01
    assert not surefit.verify(model, X[FEW], y).holds
    assert found[0] <= 1e-9 < 1e-3 < found[1]


@pytest.mark.parametrize("seed", [5, 21, 46, 50])  # where a second rounding shows
def test_absolute_errors_are_rounded_once_more_by_each_pruning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    model = DecisionTreeRegressor(criterion="absolute_error", min_samples_leaf=2, ccp_alpha=0.01).fit(rows, y)
    for alpha in (0.0, 0.02, 0.05):
        model = model.prune_at(alpha) if alpha else model
        verdict = surefit.verify(model, rows, y)
        assert verdict.holds, (alpha, verdict.parts)
