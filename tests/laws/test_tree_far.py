"""Targets far from zero: what rounding does to a leaf is no fault, and a changed leaf still is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefit
from surefit import DecisionTreeRegressor, RandomForestRegressor
from surefit.core.native.trees.forest_grow import NODE
from surefit.models.tree.growing.forest_samples import leaf_change

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
    from surefit.models.tree.forests import base as forest_base

    found = []

    def watched(*given: Any) -> float:
        found.append(leaf_change(*given))
        return found[-1]

    monkeypatch.setattr(forest_base, "leaf_change", watched)
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


def count_rows(mean: float, noise: str, seed: int = 0) -> tuple[Any, Any]:
    """Columns that tell nothing of counts of some mean, spread as counts are, or by one of them."""
    rng = np.random.default_rng(seed)
    spread = (
        rng.poisson(mean, 300) if noise == "counts" else mean + rng.uniform(-0.5, 0.5, 300) * min(mean, 1)
    )
    return rng.normal(size=(300, 3)).round(1), spread.astype(float)


COUNTS: dict[str, Any] = {
    "tree": DecisionTreeRegressor(criterion="poisson"),
    "shallow": DecisionTreeRegressor(criterion="poisson", max_depth=3, min_samples_leaf=5),
    "monotone": DecisionTreeRegressor(criterion="poisson", monotonic_cst=[1, 0, -1]),
    "surrogates": DecisionTreeRegressor(criterion="poisson", max_depth=3, missing="surrogate"),
    "random forest": RandomForestRegressor(3, criterion="poisson", max_depth=5),
    "extra trees": surefit.ExtraTreesRegressor(3, criterion="poisson", max_depth=5),
}


@pytest.mark.parametrize("noise", ["counts", "less"])
@pytest.mark.parametrize("mean", [1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("name", COUNTS)
def test_poisson_splits_of_pure_noise_are_proved_at_any_mean(name: str, mean: float, noise: str) -> None:
    rows, y = count_rows(mean, noise)
    for weight in (None, np.random.default_rng(1).integers(0, 4, 300).astype(float)):
        model = COUNTS[name].fit(rows, y, weight)
        verdict = surefit.verify(model, rows, y, weight)
        assert verdict.holds, verdict.parts
    y[0] += 0.1 * (y.max() - y.min())
    assert not surefit.verify(COUNTS[name].fit(rows, np.roll(y, 1)), rows, y).holds


@pytest.mark.parametrize("mean", [1.0, 1e3, 1e6, 1e9])
def test_the_poisson_impurity_is_that_of_exact_arithmetic(mean: float) -> None:
    from decimal import Decimal, localcontext

    rows, y = count_rows(mean, "less")
    found = DecisionTreeRegressor(criterion="poisson", max_depth=1).fit(rows, y).tree_
    with localcontext() as context:
        context.prec = 60
        exact = [Decimal(value) for value in y.tolist()]
        left = rows[:, found.feature[0]] <= found.threshold[0]

        def cost(which: Any) -> Decimal:
            mine = [value for value, used in zip(exact, which, strict=True) if used]
            c = sum(mine) / len(mine)
            return sum((value * (value / c).ln() for value in mine), Decimal(0)) / len(mine)

        wanted = [float(cost(which)) for which in (np.ones(300, bool), left, ~left)]
    # Distances are taken about a mean that 300 roundings may have moved, and they grow by its square. The
    # root adds those of its children's means, each of which has moved.
    moved = 300 * 1.2e-16 * mean
    gap = abs(found.value[1, 0, 0] - found.value[2, 0, 0])
    np.testing.assert_allclose(found.impurity[1:], wanted[1:], rtol=1e-13, atol=moved**2 / (2 * mean))
    np.testing.assert_allclose(found.impurity[0], wanted[0], rtol=1e-13, atol=moved * (gap + moved) / mean)


@pytest.mark.parametrize("mean", [0.3, 3.0, 300.0])
def test_poisson_splits_of_counts_are_scikit_learns(mean: float) -> None:
    from sklearn.tree import DecisionTreeRegressor as TheirTree

    rng = np.random.default_rng(3)
    rows = rng.normal(size=(400, 3))
    y = rng.poisson(mean * np.exp(rows[:, 0] + (rows[:, 1] > 0)))
    ours = DecisionTreeRegressor(criterion="poisson", max_depth=4, min_samples_leaf=5).fit(rows, y).tree_
    theirs = TheirTree(criterion="poisson", max_depth=4, min_samples_leaf=5).fit(rows, y).tree_
    np.testing.assert_array_equal(ours.feature, theirs.feature)
    np.testing.assert_allclose(ours.threshold, theirs.threshold)
    np.testing.assert_allclose(ours.impurity, theirs.impurity, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_side_of_zeros_is_told_from_a_rounded_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(4000, 3)).round(2)
    y, weight = 0.1 * rng.poisson(0.02, 4000), rng.uniform(0.1, 2.0, 4000)
    model = DecisionTreeRegressor(criterion="poisson").fit(rows, y, weight)
    assert (model.tree_.value > 0).all()  # a mean of nothing would make a count impossible
    verdict = surefit.verify(model, rows, y, weight)
    assert verdict.holds, verdict.parts
