"""Trees and forests of rows that do not fit in memory: those of the rows in memory, given the same bins."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import surefit
from surefit import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from surefit.core.errors import DataError, RefusalError
from surefit.core.native.trees.forest_columns import forest_columns
from surefit.core.native.trees.forest_grow import NODE, Sample, forest_grow
from surefit.core.native.trees.tree_grow import Grown, Rules
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.engine.serial import Serial
from surefit.models.tree.nodes.forest_arrays import tree_nodes
from surefit.models.tree.rows.bin_codes import Coding
from surefit.models.tree.rows.bins import find_bins
from surefit.models.tree.rows.row_draws import row_counts
from surefit.models.tree.streams.level_search import LevelColumns
from surefit.models.tree.streams.tree_stream import BinEnds, RowSampling, TreeStream
from surefit.models.tree.targets.node_sums import LevelTarget

ROWS = 3500
RNG = np.random.default_rng(0)
X = np.clip(np.round(RNG.normal(size=(ROWS, 4)), 1), -3, 3)
X[RNG.random(X.shape) < 0.03] = np.nan
FINE = RNG.normal(size=(ROWS, 4))
KIND = RNG.integers(0, 12, ROWS).astype(float)
Z = np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2]) + (KIND % 3 == 1) + RNG.normal(size=ROWS)
WEIGHT = RNG.integers(0, 3, ROWS).astype(float)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=pd.Categorical(KIND.astype(int).astype(str)))


class Cut:
    """Rows that come in pieces."""

    def __init__(self, table: Any, y: Any, weight: Any, cuts: list[int]) -> None:
        self.table, self.y, self.weight, self.cuts = table, y, weight, cuts
        self.schema = Schema(table.shape[1])

    def __iter__(self) -> Any:
        for a, b in zip([0, *self.cuts], [*self.cuts, len(self.y)], strict=True):
            yield Batch(self.table[a:b], self.y[a:b], None if self.weight is None else self.weight[a:b], a)

    def parts(self) -> Any:
        return (self,)


def grown(
    table: Any, y: Any, kind: str, classes: int, rules: Rules, cuts: list[int], levels: Any, **more: Any
) -> tuple[Grown, Coding]:
    """Grow a tree from pieces."""
    weight, sampling = more.get("weight"), more.get("sampling", RowSampling())
    bins = find_bins(table, weight, levels=levels)
    own = tuple(np.arange(count) for count in levels) if levels.any() else ()
    coding, source = Coding(own, bins), Cut(table, y, weight, cuts)
    ends = Serial().accumulate(partial(BinEnds.of, coding=coding), source)
    columns = LevelColumns(bins.counts, levels, ends.lowest, ends.highest)
    largest = 20.0 if weight is None else float(weight.max()) + 20
    whole = weight is None or bool((weight == np.rint(weight)).all())
    target = LevelTarget.of_classes(kind, classes, len(y), largest, whole)
    if not classes:
        target = LevelTarget.of_numbers(kind, float(y.min()), float(y.max()), len(y), largest, whole)
    return TreeStream(source, Serial(), coding, columns, target, sampling, rules).grow((5,))[0], coding


def in_memory(
    table: Any, y: Any, kind: str, classes: int, rules: Rules, columns: Any, levels: Any, weight: Any = None
) -> Grown:
    """Grow the same from all rows at once, by the kernel."""
    target = LevelTarget(kind, classes)
    if not classes:
        target = LevelTarget.of_numbers(kind, float(y.min()), float(y.max()), len(y))
    found = forest_grow(
        table,
        target.target(y).Y,
        np.array([5], dtype=np.uint64),
        Sample(weight=weight),
        criterion=kind,
        classes=(classes,) if classes else (),
        levels=levels,
        rules=rules,
        columns=columns,
        quick=not levels.any(),
    )
    if classes:
        found = replace(found, value=found.value / found.weight[:, None])
    return tree_nodes(found, 0, kind, (classes,) if classes else (), levels).grown


def same_tree(one: Grown, two: Grown, close: bool) -> None:
    for entry in fields(Grown):
        a, b = getattr(one, entry.name), getattr(two, entry.name)
        if close and entry.name in ("impurity", "sums", "weight"):
            scale = one.weight[:, None] if entry.name == "sums" else 1.0
            np.testing.assert_allclose(a / scale, b / scale, rtol=1e-10, atol=1e-10, err_msg=entry.name)
        else:
            np.testing.assert_array_equal(a, b, err_msg=entry.name)


TARGETS = {
    "gini": ("gini", 2, (Z > 0).astype(float)),
    "three": ("gini", 3, np.digitize(Z, [-1, 1]).astype(float)),
    "entropy": ("entropy", 3, np.digitize(Z, [-1, 1]).astype(float)),
    "gain ratio": ("gain_ratio", 2, (Z > 0).astype(float)),
    "chi squared": ("chi_squared", 3, np.digitize(Z, [-1, 1]).astype(float)),
    "wrong": ("misclassification", 3, np.digitize(Z, [-1, 1]).astype(float)),
    "squares": ("squared", 0, Z),
    "far": ("squared", 0, 1e6 + 1e-3 * Z),
}
RULES = {
    "plain": Rules(min_rows_leaf=3),
    "stops": Rules(max_depth=5, min_rows_split=40, min_decrease=1e-3, min_weight_leaf=20.0, min_gain=1e-3),
    "columns": Rules(max_columns=2, min_rows_leaf=5),
    "drawn": Rules(random_threshold=True, max_columns=2, min_rows_leaf=5),
}
NONE = np.zeros(4, dtype=np.int64)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
@pytest.mark.parametrize("name", TARGETS)
def test_passes_grow_the_tree_of_the_kernel(name: str, rules: Rules) -> None:
    kind, classes, y = TARGETS[name]
    if name == "gain ratio" and rules is RULES["plain"]:
        rules = replace(rules, max_depth=12)  # one row at a time is cut off, pass after pass
    one, _ = grown(X, y, kind, classes, rules, [], NONE)
    two, _ = grown(X, y, kind, classes, rules, [1, 2000, 3499], NONE)
    same_tree(one, two, close=False)
    assert len(one.feature) > 1 or rules.min_gain > 0
    columns = None if rules.random_threshold else forest_columns(X, rules.max_columns)
    same_tree(one, in_memory(X, y, kind, classes, rules, columns, NONE), close=True)


@pytest.mark.parametrize("name", ["gini", "three", "squares"])
def test_levels_are_parted_as_in_memory(name: str) -> None:
    kind, classes, y = TARGETS[name]
    table, levels = np.column_stack([X, KIND, KIND // 3]), np.array([0, 0, 0, 0, 12, 4])
    table[RNG.random(ROWS) < 0.1, 4] = np.nan
    rules = Rules(min_rows_leaf=5, max_columns=3)
    one, _ = grown(table, y, kind, classes, rules, [3000], levels)
    same_tree(one, in_memory(table, y, kind, classes, rules, None, levels), close=True)
    assert len(one.left_levels) > 0


@pytest.mark.parametrize("name", ["gini", "squares"])
def test_columns_of_many_values_grow_the_tree_of_the_same_bins(name: str) -> None:
    kind, classes, y = TARGETS[name]
    rules = Rules(min_rows_leaf=3)
    one, coding = grown(FINE, y + FINE[:, 0] if not classes else y, kind, classes, rules, [100], NONE)
    y = y + FINE[:, 0] if not classes else y
    found, codes = forest_columns(FINE), coding.bins.codes(FINE)
    lowest, highest = np.zeros((4, 255)), np.zeros((4, 255))
    for j in range(4):
        for code in range(int(coding.bins.counts[j])):
            lowest[j, code] = FINE[codes[:, j] == code, j].min()
            highest[j, code] = FINE[codes[:, j] == code, j].max()
    columns = replace(found, bins=np.ascontiguousarray(codes), lowest=lowest, highest=highest)
    same_tree(one, in_memory(FINE, y, kind, classes, rules, columns, NONE), close=True)


@pytest.mark.parametrize("name", ["gini", "squares"])
def test_a_weight_is_a_repetition(name: str) -> None:
    kind, classes, y = TARGETS[name]
    rules, many = Rules(max_depth=4), WEIGHT.astype(int)
    one, _ = grown(X, y, kind, classes, rules, [700], NONE, weight=WEIGHT)
    two, _ = grown(np.repeat(X, many, 0), np.repeat(y, many), kind, classes, rules, [700], NONE)
    for name in ("feature", "threshold"):  # later missing values follow the side of more rows, not weight
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_allclose(one.sums, two.sums, rtol=1e-9, atol=1e-9)
    three, _ = grown(X, y, kind, classes, rules, [700], NONE, weight=WEIGHT * 0.3)
    np.testing.assert_array_equal(one.feature, three.feature)
    np.testing.assert_allclose(one.sums / one.weight[:, None], three.sums / three.weight[:, None], atol=1e-9)


def test_little_room_costs_passes_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = grown(X, Z, "squared", 0, Rules(), [], NONE)
    monkeypatch.setattr("surefit.models.tree.streams.tree_growth.MOST_BYTES", 0)
    monkeypatch.setattr("surefit.models.tree.streams.tree_stream.MOST_BYTES", 100_000)
    same_tree(whole, grown(X, Z, "squared", 0, Rules(), [1000], NONE)[0], close=False)


def test_rows_are_drawn_by_their_numbers() -> None:
    counts = row_counts(3, 0, 100_000, 1.0)
    np.testing.assert_array_equal(counts[70_000:], row_counts(3, 70_000, 30_000, 1.0))
    for k, share in enumerate([0.3679, 0.3679, 0.1839, 0.0613]):
        assert abs((counts == k).mean() - share) < 5 * np.sqrt(share / 100_000)
    rates = np.repeat([0.0, 0.5, 2.0, 40.0, 900.0], 20_000)
    own = row_counts(3, 0, 100_000, rates).reshape(5, -1)
    assert (own[0] == 0).all()
    np.testing.assert_allclose(own.mean(axis=1), rates[::20_000], atol=5 * np.sqrt(900 / 20_000))
    np.testing.assert_allclose(own.var(axis=1), rates[::20_000], rtol=0.08)
    np.testing.assert_array_equal(row_counts(3, 0, 50, np.full(50, 1.0)), counts[:50])


def test_an_empty_sample_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one = pd.DataFrame({"x": [1.0], "y": [2.0]})
    asked = RandomForestRegressor(40, random_state=0, bootstrap="poisson")
    with pytest.raises(DataError, match="bootstrap sample of a tree is empty"):
        clone(asked).fit(one[["x"]], one["y"])
    monkeypatch.setattr("surefit.models.tree.streams.setup.MOST_BYTES", 0)
    with pytest.raises(DataError, match="bootstrap sample of a tree is empty"):
        clone(asked).fit(written(tmp_path / "t", one), "y")
    alone = DecisionTreeRegressor().fit(f"{tmp_path}/t/*.parquet", "y")
    assert alone.predict(pd.DataFrame({"x": [5.0]})).tolist() == [2.0]


MODELS: dict[str, tuple[Any, Any]] = {
    "tree of classes": (DecisionTreeClassifier(split_search="histogram"), Z > 0),
    "tree of numbers": (DecisionTreeRegressor(split_search="histogram", max_depth=6, ccp_alpha=1e-3), Z),
    "forest of classes": (RandomForestClassifier(4, random_state=1, class_weight="balanced"), Z > 0),
    "balanced samples": (
        RandomForestClassifier(3, random_state=1, class_weight="balanced_subsample", max_depth=5),
        np.digitize(Z, [-1, 1]),
    ),
    "forest of numbers": (RandomForestRegressor(3, random_state=1, min_samples_leaf=5, max_samples=0.5), Z),
    "drawn thresholds": (ExtraTreesClassifier(3, random_state=1, min_samples_leaf=5), Z > 0),
    "drawn numbers": (ExtraTreesRegressor(3, random_state=1, bootstrap=True, max_features=2, max_depth=6), Z),
}


def written(folder: Any, table: pd.DataFrame, *cuts: int) -> str:
    folder.mkdir(exist_ok=True)
    for number, part in enumerate(np.split(np.arange(len(table)), cuts)):
        table.iloc[part].to_parquet(f"{folder}/{number}.parquet")
    return f"{folder}/*.parquet"


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefit.models.tree.streams.setup.MOST_BYTES", 0)


def change_a_leaf(model: Any) -> None:
    if len(model.leaf_value_):
        model.leaf_value_[-1] += 0.01
        return
    said = model.nodes_.view(NODE)["threshold"] if hasattr(model, "nodes_") else model.node_threshold_
    said.reshape(-1)[-1] += 0.01  # the last node is a leaf


def arrays_of(model: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("name", MODELS)
def test_a_stream_grows_the_trees_of_the_rows_in_memory(name: str, tmp_path: Any) -> None:
    asked, y = MODELS[name]
    table = FRAME.drop(columns="kind")
    folder = written(tmp_path / "cut", table.assign(y=y), 1000, 1001)
    streamed = clone(asked).fit(folder, "y")
    if getattr(asked, "bootstrap", False):
        asked = clone(asked).set_params(bootstrap="poisson")
    whole = clone(asked).fit(table, y)
    trees = (streamed, whole) if not hasattr(whole, "estimators_") else (streamed[1], whole[1])
    one, two = (tree.tree_ for tree in trees)
    np.testing.assert_array_equal(one.feature, two.feature)
    np.testing.assert_array_equal(one.threshold, two.threshold)
    np.testing.assert_array_equal(one.n_node_samples, two.n_node_samples)
    np.testing.assert_allclose(streamed.predict(table).astype(float), whole.predict(table).astype(float))
    if hasattr(whole, "loss_curve_"):
        np.testing.assert_allclose(streamed.loss_curve_, whole.loss_curve_, rtol=1e-9)
        np.testing.assert_allclose(streamed.member_correlation_, whole.member_correlation_, rtol=1e-9)
        for part, value in whole.certificate_.parts.items():
            np.testing.assert_allclose(streamed.certificate_.parts[part], value, rtol=1e-9, err_msg=part)


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("name", MODELS)
def test_no_cut_changes_a_bit_and_verify_sees_a_changed_leaf(name: str, tmp_path: Any) -> None:
    asked, y = MODELS[name]
    table = FRAME.assign(y=y, w=WEIGHT * 0.7)[:2000]
    one = clone(asked).fit(written(tmp_path / "one", table), "y", sample_weight="w")
    folder = written(tmp_path / "several", table, 7, 1500)
    with surefit.config(engine="threads", n_threads=2):
        two = clone(asked).fit(folder, "y", sample_weight="w")
    for entry, value in arrays_of(one).items():
        if entry in ("loss_curve_", "tree_importance_"):  # sums of row losses are rounded
            np.testing.assert_allclose(value, getattr(two, entry), rtol=1e-12, err_msg=entry)
        else:
            np.testing.assert_array_equal(value, getattr(two, entry), err_msg=entry)
    assert surefit.verify(two, folder, "y", sample_weight="w").holds
    surefit.save(two, tmp_path / "model.safetensors")
    loaded = surefit.load(tmp_path / "model.safetensors")
    assert surefit.verify(loaded, table.drop(columns=["y", "w"]), table["y"], sample_weight=table["w"]).holds
    change_a_leaf(two)
    assert not surefit.verify(two, folder, "y", sample_weight="w").holds


@pytest.mark.usefixtures("nothing_fits")
def test_dask_and_generators_grow_the_same_trees() -> None:
    arrays = pytest.importorskip("dask.array")
    rows, y = X[:3000], Z[:3000]
    asked = RandomForestRegressor(2, random_state=0, max_depth=3)
    one = clone(asked).fit((rows[i : i + 999], y[i : i + 999]) for i in range(0, 3000, 999))
    two = clone(asked).fit(arrays.from_array(rows, chunks=(1200, 4)), arrays.from_array(y, chunks=1200))
    for entry in ("nodes_", "leaf_weight_", "leaf_impurity_"):
        np.testing.assert_array_equal(getattr(one, entry), getattr(two, entry))


@pytest.mark.usefixtures("nothing_fits")
def test_more_trees_leave_the_first_as_they_are(tmp_path: Any) -> None:
    folder = written(tmp_path / "t", FRAME.assign(y=Z)[:2500], 1000)
    asked = RandomForestRegressor(12, random_state=0, max_depth=3)
    warm = clone(asked).set_params(warm_start=True, n_estimators=10).fit(folder, "y")
    warm.set_params(n_estimators=12).fit(folder, "y")
    whole = clone(asked).fit(folder, "y")
    np.testing.assert_array_equal(warm.nodes_, whole.nodes_)
    np.testing.assert_allclose(warm.loss_curve_, whole.loss_curve_, rtol=1e-12)
    counts = np.bincount(whole.estimators_samples_[0], minlength=2500)
    np.testing.assert_array_equal(counts, row_counts(int(whole.tree_seeds_[0]), 0, 2500, 1.0))
    heavy = written(tmp_path / "w", FRAME.assign(y=Z, w=WEIGHT)[:2500], 1000)
    with pytest.raises(RefusalError, match="keeps no row weights"):
        clone(asked).fit(heavy, "y", sample_weight="w").estimators_samples_  # noqa: B018


def test_what_needs_all_rows_is_refused_in_a_sentence(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "t", FRAME.assign(y=Z)[:200])
    monkeypatch.setattr("surefit.models.tree.streams.setup.MOST_BYTES", 0)
    assert DecisionTreeRegressor(criterion="absolute_error").fit(folder, "y").certificate_.holds
    monkeypatch.setattr("surefit.models.tree.rows.matrix.MOST_BYTES", 0)
    for asked, reason in (
        (DecisionTreeRegressor(criterion="absolute_error"), "criterion='absolute_error'"),
        (DecisionTreeRegressor(missing="surrogate"), "missing='surrogate'"),
        (DecisionTreeRegressor(split_search="exact"), "split_search='exact'"),
        (DecisionTreeRegressor(max_leaf_nodes=5), "max_leaf_nodes"),
        (RandomForestRegressor(oob_score=True), "oob_score"),
        (RandomForestRegressor(keep_members=True), "keep_members"),
    ):
        with pytest.raises(RefusalError, match=f"{reason} needs all rows in memory"):
            asked.fit(folder, "y")
