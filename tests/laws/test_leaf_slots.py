"""What stands beside the rows of leaves comes back as it was, and trees that keep it so are proved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

import surefit
from surefit.models.tree.nodes.compact_forest import without_digits
from surefit.models.tree.nodes.leaf_slots import (
    ROOM,
    WIDE,
    as_digits,
    fact_in,
    halves,
    is_digit,
    rows_in,
    whole_of,
)

ROWS = 300
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS, 3))
Y = X[:, 0] * X[:, 1] + RNG.normal(size=ROWS)
WEIGHTS: dict[str, NDArray[np.float64] | None] = {
    "counted": None,
    "whole": RNG.integers(1, 4, ROWS).astype(np.float64),
    "quarters": RNG.integers(1, 9, ROWS) / 4.0,
    "fractions": RNG.random(ROWS) + 0.1,
}


def facts_of(rows: int) -> Any:
    whole = arrays.arrays(np.uint32, rows, elements=st.integers(0, 2**32 - 1) | st.integers(0, 9))
    floats = arrays.arrays(np.float32, rows, elements=st.floats(0, 2, width=32))
    apart = arrays.arrays(np.float64, rows, elements=st.floats(0, 1))
    return st.lists(whole | floats | apart | st.just(np.empty(0)), max_size=3)


@given(st.data())
@settings(derandomize=True, max_examples=200, deadline=None)
def test_digits_come_back_as_they_were(data: Any) -> None:
    count = data.draw(st.integers(1, 6))
    size = st.integers(1, 20) | st.integers(1, ROOM - 1)
    rows = np.array(data.draw(st.lists(size, min_size=count, max_size=count)))
    facts = data.draw(facts_of(count))
    room = data.draw(st.sampled_from([ROOM, WIDE]))
    number, kept = as_digits(rows, facts, room)
    assert number.min() >= 0
    assert number.max() < room
    column, right = halves(number)
    np.testing.assert_array_equal(whole_of(column, right), number)
    assert (column < 0).all()
    np.testing.assert_array_equal(rows_in(number, kept), rows)
    for which, fact in enumerate(facts):
        found = fact_in(number, kept, which)
        assert found.dtype == fact.dtype
        np.testing.assert_array_equal(found, fact)


def test_a_fact_joins_the_rows_as_long_as_there_is_room() -> None:
    deviations = np.array([0.0, 1.0, 2.0 - 2.0**-23], dtype=np.float32)  # 2 ** 23 numbers, and 0
    few, many = np.array([1, 2, 254]), np.array([1, 2, 255])
    assert is_digit(as_digits(few, [deviations])[1][0])
    assert not is_digit(as_digits(many, [deviations])[1][0])


def places(model: Any) -> dict[str, str]:
    """Where the facts of absolute errors stand: told by others, beside the rows, or apart."""
    names = ("leaf_weight_", "leaf_impurity_", "inner_decrease_", "inner_impurity_")
    facts = {name: getattr(model, name) for name in names if hasattr(model, name)}
    return {
        name.rstrip("_"): "told" if len(fact) == 0 else "beside" if is_digit(fact) else fact.dtype.name
        for name, fact in facts.items()
    }


TREES: dict[tuple[str, str], dict[str, str]] = {
    ("even leaves", "counted"): {"leaf_weight": "told", "leaf_impurity": "beside"},
    ("even leaves", "whole"): {"leaf_weight": "beside", "leaf_impurity": "beside"},
    ("even leaves", "quarters"): {"leaf_weight": "beside", "leaf_impurity": "float32"},
    ("even leaves", "fractions"): {"leaf_weight": "float64", "leaf_impurity": "beside"},
    ("pure leaves", "fractions"): {"leaf_weight": "float64", "leaf_impurity": "told"},
    ("uneven leaves", "fractions"): {"leaf_weight": "float64", "leaf_impurity": "beside"},
}
SHAPES: dict[str, dict[str, Any]] = {
    "even leaves": {"min_samples_leaf": 5},
    "pure leaves": {},
    "uneven leaves": {"max_leaf_nodes": 4},
}


@pytest.mark.parametrize(("shape", "weight"), TREES, ids=str)
def test_a_tree_of_absolute_errors_tells_the_facts_of_its_nodes(shape: str, weight: str) -> None:
    own = WEIGHTS[weight]
    model = surefit.DecisionTreeRegressor(criterion="absolute_error", **SHAPES[shape]).fit(X, Y, own)
    assert places(model) == {**TREES[shape, weight], "inner_decrease": "beside"}
    assert surefit.verify(model, X, Y, own).holds
    path = np.asarray(model.decision_path(X).todense()).astype(bool)
    weights = np.ones(ROWS) if own is None else own
    np.testing.assert_array_equal(model.tree_.n_node_samples, path.sum(axis=0))
    np.testing.assert_allclose(model.tree_.weighted_n_node_samples, weights @ path, rtol=1e-13)
    for node, came_by in enumerate(path.T):
        median = model.tree_.value[node, 0, 0]
        cost = np.average(np.abs(Y[came_by] - median), weights=weights[came_by])
        assert model.tree_.impurity[node] == pytest.approx(cost, rel=1e-6, abs=1e-12)  # a float32 a split


@pytest.mark.parametrize("missing", ["learned", "fractional"])
def test_rows_that_go_both_ways_are_counted_where_they_do_not_add_up(missing: Any) -> None:
    gaps = X.copy()
    gaps[RNG.random(gaps.shape) < 0.1] = np.nan
    asked: dict[str, Any] = {"criterion": "absolute_error", "min_samples_leaf": 5, "missing": missing}
    model = surefit.DecisionTreeRegressor(**asked).fit(gaps, Y)
    assert places(model)["inner_decrease"] == ("float32" if missing == "fractional" else "beside")
    rows, right = model.tree_.n_node_samples, model.tree_.children_right
    assert rows[0] == ROWS
    assert (rows[1] + rows[right[0]] > ROWS) == (missing == "fractional")


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("leaf", [1, 5])
@pytest.mark.parametrize("make", [surefit.RandomForestRegressor, surefit.ExtraTreesRegressor])
def test_a_forest_of_absolute_errors_is_proved(make: Any, leaf: int, weight: str, tmp_path: Any) -> None:
    """More than ten trees are grown in blocks, whose leaves need not have room for the same facts."""
    own = WEIGHTS[weight]
    model = make(12, criterion="absolute_error", min_samples_leaf=leaf, random_state=0).fit(X, Y, own)
    assert places(model)["inner_impurity"] == "beside"
    surefit.save(model, tmp_path / "model")
    again = surefit.load(tmp_path / "model")
    assert surefit.verify(again, X, Y, own).holds
    warm = make(5, criterion="absolute_error", min_samples_leaf=leaf, random_state=0, warm_start=True)
    warm.fit(X, Y, own).set_params(n_estimators=12).fit(X, Y, own)
    for one, two in zip(again.estimators_, warm.estimators_, strict=True):
        for name in ("impurity", "weighted_n_node_samples", "n_node_samples", "value"):
            np.testing.assert_array_equal(getattr(one.tree_, name), getattr(two.tree_, name), err_msg=name)


@pytest.mark.parametrize("outputs", [1, 2])
def test_leaves_have_their_numbers_when_they_are_asked_for(outputs: int) -> None:
    y = np.column_stack([Y, X[:, 0]])[:, :outputs]
    asked: dict[str, Any] = {"criterion": "absolute_error", "random_state": 0, "min_samples_leaf": 3}
    model = surefit.RandomForestRegressor(12, **asked, keep_members=True).fit(X, y)
    assert places(model)["inner_impurity"] == "beside"
    leaves = model.apply(X)
    said = [tree.tree_.value[leaves[:, t], :, 0] for t, tree in enumerate(model.estimators_)]
    for t, tree in enumerate(model.estimators_):
        np.testing.assert_array_equal(tree.apply(X), leaves[:, t])
    np.testing.assert_allclose(model.predict(X).reshape(ROWS, -1), np.mean(said, axis=0), rtol=1e-12)
    path, begin = model.decision_path(X)
    assert path.sum() == sum(tree.decision_path(X).sum() for tree in model.estimators_)
    assert begin[-1] == path.shape[1]
    if outputs == 1:
        one = surefit.RandomForestRegressor(1, **asked, keep_members=True, bootstrap=False).fit(X, Y)
        own = [np.median(Y[one.apply(X)[:, 0] == leaf]) for leaf in one.apply(X[:20])[:, 0]]
        middle = one.predict_quantiles(X[:20], (0.5,))[:, 0]
        low, high = one.predict_quantiles(X[:20], (0.3, 0.7)).T
        assert ((low <= own) & (own <= high)).all()
        assert np.isin(middle, Y).all()


def test_forests_that_kept_all_facts_apart_are_still_read() -> None:
    asked: dict[str, Any] = {"criterion": "absolute_error", "random_state": 0, "min_samples_leaf": 5}
    model = surefit.RandomForestRegressor(12, **asked).fit(X, Y)
    before, apart = model.apply(X), without_digits(model._grown())
    assert not any(map(is_digit, (*apart.facts, apart.inner_impurity)))
    for name in ("nodes", "leaf_weight", "leaf_impurity", "inner_impurity"):
        setattr(model, f"{name}_", getattr(apart, name))
    np.testing.assert_array_equal(model.apply(X), before)
    assert surefit.verify(model, X, Y).holds


def test_trees_that_kept_all_facts_apart_are_still_read() -> None:
    asked: dict[str, Any] = {"criterion": "absolute_error", "min_samples_leaf": 5}
    model = surefit.DecisionTreeRegressor(**asked).fit(X, Y, WEIGHTS["whole"])
    nodes, leaf = model.tree_, model.tree_.children_left < 0
    kept = {name: np.array(getattr(nodes, name)) for name in ("impurity", "n_node_samples", "value")}
    weight, cost = nodes.weighted_n_node_samples, nodes.impurity
    fall = cost * weight
    fall[~leaf] -= fall[nodes.children_left[~leaf]] + fall[nodes.children_right[~leaf]]
    model.node_feature_[leaf] = -1 - kept["n_node_samples"][leaf]
    model.node_right_[leaf] = np.append(kept["n_node_samples"][~leaf], 0)
    model.leaf_weight_, model.leaf_impurity_ = weight[leaf].astype(np.uint32), cost[leaf].astype(np.float32)
    model.inner_decrease_ = (fall / weight)[~leaf].astype(np.float32)
    for name, expected in kept.items():
        np.testing.assert_allclose(getattr(model.tree_, name), expected, rtol=1e-6, err_msg=name)
    assert surefit.verify(model, X, Y, WEIGHTS["whole"]).holds
