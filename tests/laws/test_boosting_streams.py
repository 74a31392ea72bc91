"""Boosting rows that do not fit in memory: the trees of the rows in memory, bit for bit."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import surefit
from surefit import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from surefit.core.native.trees.boost_grow import BoostRules, BoostTable, BoostWork, boost_grow
from surefit.core.native.trees.level_sums import level_route, level_sums
from surefit.models.tree.boosting.exact_quantiles import (
    RankSums,
    Window,
    leaf_quantiles,
    quantile_of,
    weight_unit,
    whole_weights,
)
from surefit.models.tree.rows.bins import find_bins
from surefit.models.tree.streams.boosted_growth import BoostGrowth, FixedPoint
from surefit.models.tree.targets.exact_sums import as_float, exact_sum

ROWS = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS, 4))
X[RNG.random(X.shape) < 0.05] = np.nan
KIND = RNG.choice(list("uvwxyz"), ROWS)
Z = np.nan_to_num(X[:, 0] ** 2 + X[:, 1]) + (KIND < "w") + 0.2 * RNG.normal(size=ROWS)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=pd.Categorical(KIND))
TARGETS = {"numbers": Z, "positive": np.exp(0.3 * Z), "two": Z > 0.5, "three": np.digitize(Z, [0, 1])}
TARGETS["few"] = np.round(Z)  # many errors are equal
WEIGHT = RNG.integers(0, 3, ROWS) * 0.7

ARRAYS = ("node_number_", "node_column_", "node_missing_left_", "node_level_bits_", "baseline_", "tree_root_")
STOPS = {"early_stopping": True, "random_state": 1, "max_iter": 5}
NUMBERS, CLASSES = HistGradientBoostingRegressor, HistGradientBoostingClassifier
CASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "squares": (NUMBERS, "numbers", {}),
    "poisson": (NUMBERS, "positive", {"loss": "poisson", "max_leaf_nodes": None, "max_depth": 4}),
    "gamma": (NUMBERS, "positive", {"loss": "gamma", "l2_regularization": 1.0, "max_depth": 1}),
    "two classes": (CLASSES, "two", {"class_weight": "balanced", "max_features": 0.5, "random_state": 3}),
    "three classes": (CLASSES, "three", {"class_weight": {0: 2.0, 1: 1.0, 2: 0.5}}),
    "signs": (NUMBERS, "numbers", {"monotonic_cst": [0, 1, 0, 0, 0]}),
    "no meetings": (NUMBERS, "numbers", {"interaction_cst": "no_interactions"}),
    "medians": (NUMBERS, "numbers", {"loss": "absolute_error", "learning_rate": 1.0}),
    "quantiles": (NUMBERS, "few", {"loss": "quantile", "quantile": 0.9, **STOPS}),
    "stopping": (NUMBERS, "numbers", {**STOPS, "learning_rate": 0.6}),
    "stopping classes": (CLASSES, "three", STOPS),
}


def model(name: str) -> Any:
    make, _, more = CASES[name]
    return make(**{"max_iter": 3, "min_samples_leaf": 5, "max_leaf_nodes": 12, **more})


def table(name: str) -> pd.DataFrame:
    return FRAME.assign(y=TARGETS[CASES[name][1]], w=WEIGHT)


def written(folder: Any, name: str, *cuts: int) -> str:
    for number, part in enumerate(np.split(np.arange(ROWS), cuts)):
        table(name).iloc[part].to_parquet(f"{folder}/{number}.parquet")
    return f"{folder}/*.parquet"


def same(one: Any, two: Any) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    np.testing.assert_allclose(one.training_loss_, two.training_loss_, rtol=1e-12)
    np.testing.assert_allclose(one.validation_score_, two.validation_score_, rtol=1e-12)


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefit.models.tree.boosting.rows.MOST_BYTES", 0)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", CASES)
def test_passes_grow_the_trees_of_codes_in_memory(
    name: str, weighted: bool, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"sample_weight": "w"} if weighted else {}
    drop = [] if weighted else ["w"]
    for number, part in enumerate(np.split(np.arange(ROWS), [150, 151])):
        table(name).drop(columns=drop).iloc[part].to_parquet(f"{tmp_path}/{number}.parquet")
    gathered = model(name).fit(f"{tmp_path}/*.parquet", "y", **asked)
    monkeypatch.setattr("surefit.models.tree.boosting.rows.MOST_BYTES", 0)
    streamed = model(name).fit(f"{tmp_path}/*.parquet", "y", **asked)
    same(streamed, gathered)
    assert surefit.verify(streamed, f"{tmp_path}/*.parquet", "y", **asked).holds


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("name", ["three classes", "medians"])
def test_no_cut_and_no_engine_changes_a_bit(name: str, tmp_path: Any) -> None:
    places = [tmp_path / "a", tmp_path / "b"]
    for place in places:
        place.mkdir()
    asked = model(name).set_params(max_iter=2, max_leaf_nodes=8)
    one = clone(asked).fit(written(places[0], name), "y", sample_weight="w")
    several = written(places[1], name, 10, 11, 250)
    for engine in ("serial", "threads", "dask"):
        if engine == "dask":
            pytest.importorskip("dask")
        with surefit.config(engine=engine, n_threads=2):
            same(clone(asked).fit(several, "y", sample_weight="w"), one)


@pytest.mark.usefixtures("nothing_fits")
def test_dask_grows_the_trees_of_the_rows_in_memory() -> None:
    arrays = pytest.importorskip("dask.array")
    found = NUMBERS(max_iter=2).fit(arrays.from_array(X, chunks=(150, 4)), arrays.from_array(Z, chunks=150))
    np.testing.assert_array_equal(found.predict(X), NUMBERS(max_iter=2).fit(X, Z).predict(X))
    assert surefit.verify(found, X, Z).holds


@pytest.mark.usefixtures("nothing_fits")
def test_batches_of_a_generator_grow_the_same_trees() -> None:
    made = NUMBERS(max_iter=3)
    batches = ((X[i : i + 130], Z[i : i + 130]) for i in range(0, ROWS, 130))
    np.testing.assert_array_equal(made.fit(batches).predict(X), NUMBERS(max_iter=3).fit(X, Z).predict(X))


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("engine", ["threads", "dask"])
def test_more_rounds_go_on_from_the_last(engine: str, tmp_path: Any) -> None:
    if engine == "dask":
        pytest.importorskip("dask")
    folder = written(tmp_path, "squares", 100)
    with surefit.config(engine=engine):
        warm = model("squares").set_params(warm_start=True, max_iter=1).fit(folder, "y", sample_weight="w")
        warm.set_params(max_iter=3).fit(folder, "y", sample_weight="w")
    same(warm, model("squares").set_params(max_iter=3).fit(folder, "y", sample_weight="w"))


@pytest.mark.usefixtures("nothing_fits")
def test_rows_given_apart_stop_the_rounds(tmp_path: Any) -> None:
    FRAME.assign(y=Z).iloc[:300].to_parquet(tmp_path / "0.parquet")
    apart = {"X_val": FRAME[300:], "y_val": Z[300:]}
    asked = NUMBERS(max_iter=60, learning_rate=0.9, early_stopping=True)
    streamed = asked.fit(str(tmp_path / "*.parquet"), "y", **apart)
    assert streamed.n_iter_ < 60
    whole = NUMBERS(max_iter=60, learning_rate=0.9, early_stopping=True).fit(FRAME[:300], Z[:300], **apart)
    same(streamed, whole)


@pytest.mark.usefixtures("nothing_fits")
def test_rows_held_out_of_many_are_drawn_by_their_numbers(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surefit.models.tree.boosting.rows.MOST_DRAWN", 50)
    folder = written(tmp_path, "stopping", 77)
    streamed = model("stopping").fit(folder, "y", sample_weight="w")
    monkeypatch.setattr("surefit.models.tree.boosting.rows.MOST_BYTES", 2**30)
    same(streamed, model("stopping").fit(folder, "y", sample_weight="w"))
    assert np.isfinite(streamed.held_out_loss_)
    assert surefit.verify(streamed, folder, "y", sample_weight="w").holds
    assert surefit.verify(streamed, FRAME, Z, sample_weight=WEIGHT).holds
    assert not surefit.verify(streamed, FRAME, Z + (np.arange(ROWS) == 7), sample_weight=WEIGHT).holds


SCORED: dict[str, tuple[str, dict[str, Any]]] = {
    "r2": ("squares", {"learning_rate": 0.9}),
    "neg_median_absolute_error": ("medians", {}),
    "roc_auc": ("two classes", {"learning_rate": 0.9}),
    "neg_log_loss": ("three classes", {"learning_rate": 0.9}),
    "on training rows": ("three classes", {"scoring": "accuracy", "validation_fraction": None}),
    "own score": ("poisson", {"scoring": None, "validation_fraction": 0.3}),
}


def scored(name: str) -> Any:
    case, more = SCORED[name]
    stops = {"early_stopping": True, "random_state": 1, "max_iter": 12, "n_iter_no_change": 2}
    return model(case).set_params(**{"scoring": name, **stops, **more})


def scored_alike(one: Any, two: Any) -> None:
    same(one, two)
    np.testing.assert_array_equal(one.train_score_, two.train_score_)
    np.testing.assert_array_equal(one.validation_score_, two.validation_score_)
    assert one.n_iter_ == two.n_iter_ == len(two.train_score_) - 1 > 0


@pytest.mark.parametrize("most", [10_000, 37], ids=["all rows", "some rows"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", SCORED)
def test_a_scorer_looks_at_the_rows_that_it_looks_at_in_memory(
    name: str, weighted: bool, most: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surefit.models.tree.boosting.scoring.MOST_ROWS", most)
    asked = {"sample_weight": "w"} if weighted else {}
    for number, part in enumerate(np.split(np.arange(ROWS), [150, 151])):
        columns = table(SCORED[name][0]).drop(columns=[] if weighted else ["w"])
        columns.iloc[part].to_parquet(f"{tmp_path}/{number}.parquet")
    gathered = scored(name).fit(f"{tmp_path}/*.parquet", "y", **asked)
    monkeypatch.setattr("surefit.models.tree.boosting.rows.MOST_BYTES", 0)
    streamed = scored(name).fit(f"{tmp_path}/*.parquet", "y", **asked)
    scored_alike(streamed, gathered)
    assert surefit.verify(streamed, f"{tmp_path}/*.parquet", "y", **asked).holds


def test_a_score_that_no_longer_rises_stops_a_stream(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path, "squares", 100)
    asked = scored("r2").set_params(max_iter=60)
    gathered = clone(asked).fit(folder, "y", sample_weight="w")
    monkeypatch.setattr("surefit.models.tree.boosting.rows.MOST_BYTES", 0)
    streamed = clone(asked).fit(folder, "y", sample_weight="w")
    assert streamed.n_iter_ < 60
    scored_alike(streamed, gathered)


@pytest.mark.parametrize("drawn", [2**20, 50], ids=["by a mask", "by numbers"])
@pytest.mark.parametrize("engine", ["serial", "threads", "dask"])
def test_no_cut_and_no_engine_changes_a_score(
    engine: str, drawn: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "dask":
        pytest.importorskip("dask")
    monkeypatch.setattr("surefit.models.tree.boosting.scoring.MOST_ROWS", 23)
    monkeypatch.setattr("surefit.models.tree.boosting.rows.MOST_DRAWN", drawn)
    asked = scored("neg_log_loss").set_params(max_iter=2, max_leaf_nodes=8)
    folder = written(tmp_path, "three classes", 10, 11, 250)
    gathered = clone(asked).fit(folder, "y", sample_weight="w")
    monkeypatch.setattr("surefit.models.tree.boosting.rows.MOST_BYTES", 0)
    with surefit.config(engine=engine, n_threads=2):
        scored_alike(clone(asked).fit(folder, "y", sample_weight="w"), gathered)


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("engine", ["threads", "dask"])
def test_scores_go_on_from_the_last_round(
    engine: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "dask":
        pytest.importorskip("dask")
    monkeypatch.setattr("surefit.models.tree.boosting.scoring.MOST_ROWS", 23)
    folder = written(tmp_path, "squares", 100)
    asked = scored("r2").set_params(n_iter_no_change=10)
    with surefit.config(engine=engine):
        warm = clone(asked).set_params(warm_start=True, max_iter=1).fit(folder, "y", sample_weight="w")
        warm.set_params(max_iter=3).fit(folder, "y", sample_weight="w")
    whole = clone(asked).set_params(max_iter=3).fit(folder, "y", sample_weight="w")
    scored_alike(warm, whole)


@pytest.mark.usefixtures("nothing_fits")
def test_a_scorer_looks_at_rows_given_apart(tmp_path: Any) -> None:
    FRAME.assign(y=Z).iloc[:300].to_parquet(tmp_path / "0.parquet")
    apart = {"X_val": FRAME[300:], "y_val": Z[300:]}
    asked = NUMBERS(max_iter=4, early_stopping=True, scoring="r2")
    streamed = clone(asked).fit(str(tmp_path / "*.parquet"), "y", **apart)
    scored_alike(streamed, clone(asked).fit(FRAME[:300], Z[:300], **apart))


RULES = {
    "plain": BoostRules(min_rows_leaf=5),
    "stumps": BoostRules(max_depth=1, min_rows_leaf=1),
    "many leaves": BoostRules(max_leaves=0, min_rows_leaf=10, l2=4.0),
    "monotone": BoostRules(min_rows_leaf=5, monotone=(1, 0, -1, 0, 0)),
    "groups": BoostRules(
        min_rows_leaf=5, groups=np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]], dtype=np.uint8)
    ),
    "some columns": BoostRules(min_rows_leaf=5, column_share=0.4),
}


@pytest.mark.parametrize("room", [2**28, 0], ids=["", "without room"])
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
def test_the_best_leaf_is_split_first(rules: BoostRules, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefit.models.tree.streams.boosted_growth.MOST_BYTES", room)
    table = np.column_stack([X, np.unique(KIND, return_inverse=True)[1]])
    bins = find_bins(table, max_bins=40, levels=np.array([0, 0, 0, 0, 6]))
    codes, is_level = bins.codes(table), bins.levels > 0
    g, h = np.nan_to_num(Z), RNG.uniform(0.2, 1.0, ROWS)
    bounds = float(np.abs(g).max()), float(h.max()), float(h.sum())
    unit = FixedPoint.of(ROWS, *bounds)
    growth, passes = BoostGrowth(rules, bins.counts, is_level.astype(np.uint8), unit, 5), 0
    while (plan := growth.plan()) is not None:
        slot = plan.slot[level_route(plan.tree, codes)]
        growth.take(level_sums(codes, bins.counts, slot, unit.terms(g, h), plan.slots)[:, :, 0])
        passes += 1
    found = growth.tree()
    expected = boost_grow(
        BoostTable.of(codes, bins.counts, is_level), g, h, bounds, rules, BoostWork(ROWS), 5
    )
    assert len(found.column) > 2
    assert room == 0 or passes < len(found.column) / 2  # a pass for each level, not for each split
    for name in ("column", "bin", "left", "right", "missing_left", "value", "gain", "curvature", "levels"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def test_exact_sums_do_not_round() -> None:
    values = np.concatenate([RNG.normal(size=500) * 10.0 ** RNG.integers(-300, 300, 500), [5e-324, 0.0]])
    total = exact_sum(values)
    assert total == exact_sum(values[::-1].copy()) == exact_sum(values[:100]) + exact_sum(values[100:])
    assert as_float(total) == fsum(values)


@given(
    st.lists(
        st.tuples(st.sampled_from([-2.0, -0.0, 0.0, 1e-300, 0.5, 0.7, 3e8]), st.integers(1, 4)), min_size=1
    ),
    st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    st.sampled_from([1.0, 0.3, 2.5]),
)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_quantiles_by_bits_are_those_of_repetitions(
    rows: list[tuple[float, int]], rank: float, size: float
) -> None:
    y, times = (np.array(own, dtype=np.float64) for own in zip(*rows, strict=True))
    unit = weight_unit(len(y), size * float(times.max()))
    whole = whole_weights(size * times, unit)

    def add_up(window: Window) -> RankSums:
        cut = len(y) // 3
        parts = (slice(0, cut), slice(cut, None))
        one, two = (RankSums.of_rows(np.zeros(len(y), int)[p], y[p], whole[p], window) for p in parts)
        return one + two

    found = float(leaf_quantiles(add_up, 1, unit, rank)[0])
    assert found == quantile_of(y, whole, unit, rank)
    if size == 1.0:
        assert found == pytest.approx(np.quantile(np.repeat(y, times.astype(int)), rank), rel=1e-12)
