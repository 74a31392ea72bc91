"""The laws of one decision tree: leaves, costs, brute force, corruption, weights, kinds of columns."""

from __future__ import annotations

import json
import sqlite3
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefit
from surefit import DecisionTreeClassifier, DecisionTreeRegressor
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.models.tree.export.formats import in_short
from surefit.models.tree.nodes.criteria import (
    CLASS_CRITERIA,
    NUMBER_CRITERIA,
    absolute_gains,
    gain,
    impurity,
    terms,
)
from surefit.models.tree.nodes.leaf_slots import is_digit

CRITERIA = [*CLASS_CRITERIA, *NUMBER_CRITERIA]
each_criterion = pytest.mark.parametrize("criterion", CRITERIA)


def tree(criterion, **settings):
    make = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    return make(criterion=criterion, **settings)


def table(criterion, rows=80, seed=0, missing=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    X[:, 1] = np.round(X[:, 1], 1)
    score = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=rows) / 2
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, np.digitize(score, [-0.7, 0.6]) if criterion in CLASS_CRITERIA else np.exp(score / 2)


def mixed_frame(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=rows),
            "kind": pd.Categorical(rng.choice(list("pqrst"), rows)),
            "shop": rng.choice(["x", "y", "it's"], rows),
        }
    )
    score = frame["size"] + frame["kind"].isin(["p", "s"]) + (frame["shop"] == "x")
    frame.loc[rng.random(rows) < 0.1, "size"] = np.nan
    frame.loc[rng.random(rows) < 0.1, "shop"] = None
    return frame, score.to_numpy()


@each_criterion
def test_every_row_is_in_one_leaf_and_no_split_raises_the_cost(criterion):
    X, y = table(criterion, missing=True)
    model = tree(criterion).fit(X, y)
    leaves = model.apply(X)
    view = model.tree_
    assert (view.children_left[leaves] == -1).all()
    path = model.decision_path(X).toarray()
    assert (path[:, view.children_left == -1].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(path.sum(axis=0), view.n_node_samples)
    inner = np.flatnonzero(view.children_left >= 0)
    cost = view.impurity * view.weighted_n_node_samples
    after = cost[view.children_left[inner]] + cost[view.children_right[inner]]
    assert (after <= cost[inner] + 1e-9).all()


def every_split(x, criterion, y):
    """The gain of each cut of one column, by the definition, and where it is cut."""
    Y = y[:, None]
    classes = (3,) if criterion in CLASS_CRITERIA else ()
    kind = (CLASS_CRITERIA | NUMBER_CRITERIA)[criterion]
    for value in np.unique(x)[:-1]:
        left = x <= value
        if kind == "absolute":
            yield float(absolute_gains(Y, np.ones(len(x)), left[None])[0]), left
            continue
        each = terms(Y, np.ones(len(x)), kind, classes)
        sums, whole = each[left].sum(axis=0)[None], each.sum(axis=0)[None]
        rows = np.array([float(left.sum())]), np.array([float(len(x))])
        yield float(gain(sums, rows[0], whole, rows[1], kind, classes)[0]), left


@each_criterion
@pytest.mark.parametrize("seed", range(4))
def test_the_root_is_the_best_of_all_splits(criterion, seed):
    X, y = table(criterion, rows=25, seed=seed)
    model = tree(criterion, max_depth=1).fit(X, y)
    found = [pair for j in range(3) for pair in every_split(X[:, j], criterion, y)]
    best = max(value for value, _ in found)
    root = model.tree_
    goes_left = X[:, root.feature[0]] <= root.threshold[0]
    mine = next(v for j in range(3) for v, left in every_split(X[:, j], criterion, y)
                if j == root.feature[0] and np.array_equal(left, goes_left))  # fmt: skip
    assert mine == pytest.approx(best, rel=1e-9)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(data=st.data())
def test_the_order_of_levels_holds_the_best_subset(data):
    levels = data.draw(st.integers(2, 6))
    codes = np.array(data.draw(st.lists(st.integers(0, levels - 1), min_size=levels + 2, max_size=30)))
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(codes), max_size=len(codes))))
    present = np.unique(codes)
    if len(present) < 2 or len(np.unique(y)) < 2:
        return
    for criterion, target in (("gini", y), ("entropy", y), ("squared_error", y * 2.5 - 1)):
        model = tree(criterion, max_depth=1, categorical_features=[0]).fit(codes[:, None], target)
        kind = (CLASS_CRITERIA | NUMBER_CRITERIA)[criterion]
        classes = (2,) if criterion in CLASS_CRITERIA else ()
        each = terms(np.asarray(target, dtype=float)[:, None], np.ones(len(y)), kind, classes)
        whole, n = each.sum(axis=0)[None], np.array([float(len(y))])
        best = 0.0
        for size in range(1, len(present)):
            for subset in combinations(present, size):
                left = np.isin(codes, subset)
                value = gain(
                    each[left].sum(axis=0)[None], np.array([float(left.sum())]), whole, n, kind, classes
                )
                best = max(best, float(value[0]))
        view = model.tree_
        if view.node_count == 1:
            assert best < 1e-12
            continue
        cost = view.impurity * view.weighted_n_node_samples / len(y)
        assert cost[0] - cost[1] - cost[2] == pytest.approx(best, abs=1e-12)


@each_criterion
def test_verify_catches_a_threshold_a_label_a_weight_and_a_value(criterion):
    X, y = table(criterion, missing=True)
    weight = 1.0 + np.arange(len(y)) % 2
    model = tree(criterion, max_depth=4).fit(X, y, weight)
    assert surefit.verify(model, X, y, weight).holds
    leaf = int(np.flatnonzero(model.node_feature_ < 0)[0])
    kept_apart = len(model.leaf_value_) > 0
    parts = [("node_threshold_", 0), ("leaf_value_", 1) if kept_apart else ("node_threshold_", leaf)]
    parts += [("leaf_weight_", 2), ("node_feature_", leaf)]
    parts += [(name, 1) for name in ("leaf_impurity_", "inner_value_") if len(getattr(model, name))]
    for name, at in parts:
        array = getattr(model, name)
        kept = array.copy()
        counts = array.dtype.kind in "iu"
        # Where the last bits of a leaf's slot are those of a float32, one of them is a rounding.
        step = 2**12 if name == "node_feature_" and is_digit(model.leaf_impurity_) else 1
        array.flat[at] = array.flat[at] + step if counts else array.flat[at] * 1.001 + 1e-3
        assert not surefit.verify(model, X, y, weight).holds, name
        array[:] = kept
    other = y.copy()
    other[0] = y[y != y[0]][0]
    assert not surefit.verify(model, X, other, weight).holds
    assert surefit.verify(model, X, y, weight).holds


@pytest.mark.parametrize(
    "given_rules",
    [
        {"min_samples_leaf": 6},
        {"min_weight_fraction_leaf": 0.1},
        {"max_leaf_nodes": 6},
        {"max_features": 2, "random_state": 1},
        {"splitter": "random", "random_state": 1},
        {"min_impurity_decrease": 0.01},
        {"min_gain": 0.02},
        {"min_impurity": 0.2},
        {"ccp_alpha": 0.01},
        {"max_depth": 3, "min_samples_split": 0.2, "min_samples_leaf": 0.05, "min_gain": 0.01},
    ],
    ids=str,
)
def test_verify_holds_under_every_rule(given_rules):
    for criterion in ("gini", "entropy", "squared_error", "absolute_error"):
        X, y = table(criterion, missing=True)
        weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
        model = tree(criterion, **given_rules).fit(X, y, weight)
        verdict = surefit.verify(model, X, y, weight)
        assert verdict.holds, (criterion, verdict.parts)
        view = model.tree_
        leaf = view.children_left < 0
        assert view.node_count > 1
        if "min_samples_leaf" in given_rules and given_rules["min_samples_leaf"] == 6:
            assert view.n_node_samples[leaf].min() >= 6
        if "min_impurity" in given_rules:
            assert view.impurity[~leaf].min() > 0.2
        if "max_leaf_nodes" in given_rules:
            assert leaf.sum() <= 6


@pytest.mark.parametrize("cls", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_frame_of_any_kind_is_split_by_levels(cls, tmp_path):
    frame, score = mixed_frame()
    y = score if cls is DecisionTreeRegressor else np.where(score > 1, "high", "low")
    model = cls(max_depth=5).fit(frame, y)
    assert surefit.verify(model, frame, y).holds
    assert [len(own) for own in model.levels_] == [0, 5, 3]
    surefit.save(model, tmp_path / "m.safetensors")
    np.testing.assert_array_equal(
        surefit.load(tmp_path / "m.safetensors").predict(frame), model.predict(frame)
    )
    frame.assign(y=y).to_parquet(tmp_path / "t.parquet")
    other = cls(max_depth=5).fit(tmp_path / "t.parquet", "y")
    np.testing.assert_array_equal(other.predict(frame), model.predict(frame))
    unseen = frame.assign(kind="never seen")
    gone = frame.assign(kind=pd.Series([None] * len(frame), dtype=object))
    np.testing.assert_array_equal(model.predict(unseen), model.predict(gone))


def test_missing_as_a_category_of_its_own():
    frame = pd.DataFrame({"shop": ["a", "a", None, None, "b", "b"] * 5})
    y = [0, 0, 1, 1, 0, 0] * 5
    model = DecisionTreeClassifier(missing="category").fit(frame, y)
    assert len(model.levels_[0]) == 3
    assert model.predict(frame).tolist() == y


def executed(model, frame):
    """What the tree says when its JSON, its SQL and its Python are run."""
    cells = [[None if pd.isna(cell) else cell for cell in row] for row in frame.itertuples(index=False)]
    scope: dict = {}
    exec(model.to_python(), scope)
    nodes = json.loads(model.to_json())["nodes"]

    def walk(row):
        at = nodes[0]
        while "column" in at:
            cell = row[at["column"]]
            if "levels" in at:
                known = model.levels_[at["column"]].tolist()
                left = cell in at["levels"] if cell in known else at["missing_left"]
            else:
                left = (
                    at["missing_left"] if cell is None else at["threshold"] is None or cell <= at["threshold"]
                )
            at = nodes[at["left"] if left else at["right"]]
        return at["answer"]

    base = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}"' for name in frame.columns)
    base.execute(f"CREATE TABLE t (number INTEGER, {columns})")
    marks = ", ".join("?" * (len(frame.columns) + 1))
    base.executemany(f"INSERT INTO t VALUES ({marks})", [[i, *row] for i, row in enumerate(cells)])
    by_sql = [answer for (answer,) in base.execute(f"SELECT {model.to_sql()} FROM t ORDER BY number")]
    return [scope["predict"](row) for row in cells], [walk(row) for row in cells], by_sql


@pytest.mark.parametrize("cls", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_rules_say_what_predict_says(cls):
    frame, score = mixed_frame()
    model = cls().fit(
        frame, score if cls is DecisionTreeRegressor else np.where(score > 1, "it's high", "low")
    )
    asked = pd.concat([frame, frame.assign(kind="never seen", shop="other")])
    for answers in executed(model, asked):
        assert answers == model.predict(asked).tolist()
    assert model.to_text().count("\n") + 1 == model.tree_.node_count
    words = model.explain(frame[:5])
    assert all(
        text.startswith(f"{in_short(answer)}, because")
        for text, answer in zip(words, model.predict(frame[:5]), strict=True)
    )


def test_boxes_are_disjoint_and_sum_to_the_prediction():
    frame, score = mixed_frame()
    model = DecisionTreeRegressor(max_depth=6).fit(frame, score)
    parts, rows = model.boxes(), model._matrix(frame)
    assert (parts.holds(rows).sum(axis=1) == 1).all()
    np.testing.assert_allclose(parts.evaluate(rows)[:, 0], model.predict(frame), rtol=1e-12)
    np.testing.assert_array_equal(parts.leaf[parts.holds(rows).argmax(axis=1)], model.apply(frame))


def test_several_outputs_of_classes_and_of_numbers(tmp_path):
    X, y = table("gini")
    Y = np.column_stack([np.array(["a", "b", "c"])[y], np.where(X[:, 1] > 0, "u", "v")])
    model = DecisionTreeClassifier(max_depth=4, class_weight=[{"a": 2, "b": 1, "c": 1}, "balanced"]).fit(X, Y)
    assert [labels.tolist() for labels in model.classes_] == [["a", "b", "c"], ["u", "v"]]
    assert surefit.verify(model, X, Y).holds
    surefit.save(model, tmp_path / "m.safetensors")
    assert (surefit.load(tmp_path / "m.safetensors").predict(X) == model.predict(X)).all()
    assert [p.shape for p in model.predict_proba(X)] == [(80, 3), (80, 2)]
    numbers = np.column_stack([X[:, 0], X[:, 0] - X[:, 1]])
    regressor = DecisionTreeRegressor(max_depth=3).fit(X, numbers)
    assert regressor.predict(X).shape == (80, 2)
    assert surefit.verify(regressor, X, numbers).holds


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_units_and_a_large_mean_change_no_split(scale, shift):
    X, y = table("squared_error", rows=200)
    plain = DecisionTreeRegressor(max_depth=5).fit(X, y)
    moved = DecisionTreeRegressor(max_depth=5).fit(X, (y + shift) * scale)
    np.testing.assert_array_equal(moved.tree_.feature, plain.tree_.feature)
    np.testing.assert_array_equal(moved.apply(X), plain.apply(X))
    assert surefit.verify(moved, X, (y + shift) * scale).holds


def test_one_outlier_does_not_blind_the_tree():
    X, y = table("squared_error", rows=300)
    y[0] = 1e9
    model = DecisionTreeRegressor().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-15, atol=1e-6)  # one rounding of 1e9 / 300


@pytest.mark.parametrize("form", ["float32", "Fortran", "strided", "read-only", "sparse"])
def test_rows_in_any_form(form):
    import scipy.sparse as sp

    X, y = table("gini")
    X = np.where(np.abs(X) < 0.3, 0.0, X).astype(np.float32).astype(np.float64)
    plain = DecisionTreeClassifier().fit(X, y)
    other = {
        "float32": lambda: X.astype(np.float32),
        "Fortran": lambda: np.asfortranarray(X),
        "strided": lambda: np.repeat(X, 2, axis=0)[::2],
        "read-only": lambda: np.frombuffer(X.tobytes()).reshape(X.shape),
        "sparse": lambda: sp.csr_array(X),
    }[form]()
    model = DecisionTreeClassifier().fit(other, y)
    np.testing.assert_array_equal(model.tree_.threshold, plain.tree_.threshold)
    np.testing.assert_array_equal(model.predict_proba(other), plain.predict_proba(X))


def test_one_row_constant_columns_and_more_columns_than_rows():
    one = DecisionTreeRegressor().fit([[1.0, 2.0]], [3.0])
    assert one.tree_.node_count == 1
    assert one.predict([[9.0, 9.0]]).tolist() == [3.0]
    X = np.column_stack([np.ones(6), np.arange(6.0), np.arange(6.0)])
    model = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    assert set(model.tree_.feature[model.tree_.feature >= 0]) == {1}  # of equal columns the first
    wide = np.random.default_rng(0).normal(size=(5, 40))
    assert DecisionTreeClassifier().fit(wide, [0, 1, 2, 3, 4]).score(wide, [0, 1, 2, 3, 4]) == 1.0


def test_what_cannot_be_grown_is_refused_in_a_sentence(monkeypatch, tmp_path):
    X, y = table("gini")
    with pytest.raises(DataError, match=r"infinite|infinity"):
        DecisionTreeClassifier().fit(np.where(X > 2, np.inf, X), y)
    with pytest.raises(DataError, match="negative"):
        DecisionTreeRegressor(criterion="poisson").fit(X, y - 1.0)
    with pytest.raises(ParameterError, match="without feature names"):
        DecisionTreeClassifier(categorical_features=["colour"]).fit(X, y)
    for asked, words in ([[0, 3]], "n_features - 1"), ([[True]], "shape"), ([[0.5]], "got: float64"):
        with pytest.raises(ParameterError, match=words):
            DecisionTreeClassifier(categorical_features=asked[0]).fit(X, y)
    with pytest.raises(ParameterError, match="multiclass"):
        DecisionTreeClassifier(monotonic_cst=[1, 0, 0]).fit(X, y)
    monkeypatch.setattr("surefit.models.tree.rows.matrix.MOST_BYTES", 1000)
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(RefusalError, match="needs all rows in memory to search every threshold"):
        DecisionTreeClassifier().fit(tmp_path / "t.parquet", "y")


def test_monotone_columns_are_obeyed_and_verified():
    X, y = table("squared_error", rows=200)
    for criterion in ("squared_error", "absolute_error"):
        model = tree(criterion, monotonic_cst=[1, 0, 0], max_depth=5).fit(X, y)
        assert surefit.verify(model, X, y).holds
        moved = np.repeat(X[:20], 50, axis=0)
        moved[:, 0] = np.tile(np.linspace(-3, 3, 50), 20)
        assert (np.diff(model.predict(moved).reshape(20, 50), axis=1) >= 0).all()


def test_impurities_by_their_definitions():
    counts, weight = np.array([[1.0, 3.0]]), np.array([4.0])
    assert impurity(counts, weight, "gini", (2,))[0] == pytest.approx(0.375)
    assert impurity(counts, weight, "entropy", (2,))[0] == pytest.approx(0.8112781245)
    assert impurity(counts, weight, "misclassification", (2,))[0] == pytest.approx(0.25)
