"""``surefit.learn`` where there is nothing to learn, little to learn from, or something in the way."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pytest
from tests.e2e.studies import quick

import surefit
from surefit.core.errors import DataError, ParameterError, SurefitError
from surefit.core.threads import available_threads
from surefit.evaluate.cross_validation.fold_store import FoldStore
from surefit.study import learn as learning
from surefit.study.predictions import Predictions
from surefit.study.race.candidates import entrants
from surefit.study.race.leaderboard import entry_of
from surefit.study.race.metric_choice import metrics_for
from surefit.study.race.nested_fold import Work
from surefit.study.race.race import Standing, run_race
from surefit.study.table.prepared_rows import RowsInMemory

RNG = np.random.default_rng(0)


def numbers(rows: int, columns: int, seed: int = 0) -> dict[str, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(rows, columns))
    return {f"x{j}": X[:, j] for j in range(columns)}


@pytest.mark.parametrize("seed", range(3))
def test_of_pure_noise_no_skill_is_reported(seed: int) -> None:
    table = numbers(80, 6, seed)
    rng = np.random.default_rng(100 + seed)
    study = quick(
        pa.table({**table, "y": rng.normal(size=80)}),
        "y",
        models=["LinearRegression", "RidgeCV", "BayesianRidge"],
    )
    assert study.record.chosen.name == study.record.baseline == "MeanRegressor"
    assert study.record.answer[0].startswith("No skill was found")
    assert study.record.importance == ()


def test_of_noise_labels_no_skill_is_reported() -> None:
    rng = np.random.default_rng(7)
    table = pa.table({**numbers(90, 5), "y": rng.choice(["a", "b"], 90)})
    study = quick(table, "y", models=["GaussianNB", "DecisionTreeClassifier"])
    assert study.record.chosen.name == "MajorityClassifier"
    assert study.record.score is not None
    assert study.record.score.low <= 0.5 <= study.record.score.high


def test_one_class_all_missing_and_constant_targets_are_one_sentence() -> None:
    table = numbers(30, 2)
    cases = {
        "one class": pa.array(["a"] * 30),
        "nothing": pa.array([None] * 30, pa.string()),
        "constant": pa.array([2.5] * 30),
    }
    for target in cases.values():
        with pytest.raises(DataError) as caught:
            quick(pa.table({**table, "y": target}), "y")
        assert str(caught.value).count("\n") == 0
        assert str(caught.value).endswith(".")


def test_columns_without_a_value_leave_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="no column is left"):
        quick(pa.table({"x": pa.nulls(30), "k": [1] * 30, "y": np.arange(30.0) ** 2}), "y")


def test_a_target_that_does_not_exist_is_named_with_the_nearest() -> None:
    with pytest.raises(DataError, match="did you mean 'price'"):
        quick(pa.table({"price": [1.0, 2.0], "size": [1.0, 2.0]}), "prise")


def test_rows_without_a_target_are_left_out_and_rows_keep_their_numbers() -> None:
    y = np.round(np.arange(60.0) % 7 + RNG.normal(size=60), 3)
    there = np.arange(60) % 5 != 0
    table = pa.table({**numbers(60, 2), "y": pa.array(y, mask=~there)})
    study = quick(table, "y", models=["LinearRegression"])
    assert study.predictions is not None
    np.testing.assert_array_equal(study.predictions.row, np.flatnonzero(there))
    np.testing.assert_array_equal(study.predictions.truth, y[there])


def test_the_target_among_the_features_is_worried_about() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=120)
    table = pa.table({**numbers(120, 3), "copy": y * 2 + 1, "y": y})
    study = quick(table, "y", models=["LinearRegression"])
    assert study.record.answer[2].startswith("Worry about this")
    assert any("copy" in finding.columns for finding in study.record.audit)


@pytest.mark.parametrize("columns", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_more_columns_than_rows_end_with_an_answer(columns: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, columns))
    y = X[:, 0] * 3 + rng.normal(size=60) * 0.1
    study = quick(X, y, models=["MeanRegressor", "RidgeCV"], folds=3)
    assert len(study.record.columns) == columns + 1
    assert len(study.record.importance) in (0, 100)
    assert {entry.failed for entry in study.record.leaderboard} == {None}


def test_weights_count_as_repetitions_of_rows_for_the_final_fit() -> None:
    table = numbers(40, 2)
    y = table["x0"] * 2 + RNG.normal(size=40)
    weight = np.where(np.arange(40) % 2, 2.0, 0.0)
    weighted = quick(
        pa.table({**table, "n": weight, "y": y}), "y", weight="n", models=["LinearRegression"], folds=4
    )
    kept = np.repeat(np.flatnonzero(weight), 2)
    repeated = surefit.LinearRegression().fit(np.column_stack(list(table.values()))[kept], y[kept])
    slopes = {entry.column: entry.value for entry in weighted.record.chosen.coefficients}
    np.testing.assert_allclose([slopes["x0"], slopes["x1"]], repeated.coef_, rtol=1e-9)


def test_a_family_that_fails_is_told_of_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Work.__call__

    def broken(self: Work, entrant: object, *given: object) -> object:
        if getattr(entrant, "name", "") == "RidgeCV":
            raise ValueError("a wheel\ncame off")
        return whole(self, entrant, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Work, "__call__", broken)
    table = numbers(60, 2)
    study = quick(
        pa.table({**table, "y": table["x0"] + RNG.normal(size=60) * 0.1}),
        "y",
        models=["LinearRegression", "RidgeCV"],
    )
    failed = {entry.name: entry.failed for entry in study.record.leaderboard}
    assert failed["RidgeCV"] == "a wheel came off"
    assert study.record.chosen.name == "LinearRegression"
    assert "could not be compared" in study.record.answer[2]


def test_a_family_that_learns_from_fewer_rows_is_tested_on_all_by_the_same_correction() -> None:
    table = numbers(200, 2)
    y = table["x0"] + RNG.normal(size=200)
    held = RowsInMemory.of(
        surefit.typed(pa.table({**table, "y": y}), dict.fromkeys(table, "number"), "y"), "regression"
    )
    found = entrants("regression", held.y, ["LinearRegression"])
    metrics = metrics_for("regression", held.y, None, None, found[0].model())
    entered = [Standing(found[0]), Standing(found[1], rows=20)]
    race = run_race(Work(held, metrics), entered, folds=5, deadline=np.inf, jobs=1, repeats=1)
    assert entry_of(race, "LinearRegression").rows == 20
    assert race.result("LinearRegression").test_share == pytest.approx(0.25)
    tested = sum(len(fold.answers["predict"]) for fold in race.standings["LinearRegression"].folds)
    assert tested == 200


@pytest.mark.skipif(available_threads() < 2, reason="this process may use one core only")
def test_folds_are_worked_on_by_both_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, workers = Work.__call__, set()
    both = threading.Barrier(2, timeout=60)

    def seen(self: Work, *given: object) -> object:
        if threading.get_ident() not in workers:
            workers.add(threading.get_ident())
            both.wait()  # which breaks if there is one only
        return whole(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Work, "__call__", seen)
    table = numbers(60, 2)
    quick(pa.table({**table, "y": table["x0"] + RNG.normal(size=60)}), "y", models=["LinearRegression"])
    assert len(workers) == 2


def test_no_time_leaves_families_out_and_says_so() -> None:
    table = numbers(250, 3)
    study = surefit.learn(
        pa.table({**table, "y": table["x0"] + RNG.normal(size=250)}),
        "y",
        budget=1e-6,
        models=["LinearRegression", "RidgeCV", "DecisionTreeRegressor"],
    )
    failed = [entry for entry in study.record.leaderboard if entry.failed is not None]
    assert failed
    assert all("budget" in str(entry.failed) for entry in failed)
    assert study.record.resampling.count("Left out") == 1


def test_an_interrupted_study_goes_on_where_it_was(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = numbers(60, 2)
    table = pa.table({**table, "y": table["x0"] + RNG.normal(size=60) * 0.5})
    models = ["LinearRegression", "RidgeCV"]
    whole = quick(table, "y", models=models)
    done = []
    keep = FoldStore.keep

    def stop_after_seven(store: FoldStore, fold: object, found: object) -> None:
        keep(store, fold, found)  # type: ignore[arg-type]
        done.append(1)
        if len(done) == 7:
            raise KeyboardInterrupt

    with surefit.config(n_threads=1), monkeypatch.context() as patch:
        patch.setattr(FoldStore, "keep", stop_after_seven)
        with pytest.raises(KeyboardInterrupt):
            quick(table, "y", models=models, folder=tmp_path)
    assert len(list((tmp_path / "unfinished").glob("fold-*"))) == 7
    fitted = []
    call = Work.__call__

    def counted(self: Work, *given: object) -> object:
        fitted.append(1)
        return call(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Work, "__call__", counted)
    again = quick(table, "y", models=models, folder=tmp_path, resume=True)
    assert len(fitted) == 15 - 7
    assert [entry.folds for entry in again.record.leaderboard] == [
        entry.folds for entry in whole.record.leaderboard
    ]
    assert not (tmp_path / "unfinished").exists()
    assert len(Predictions.load(tmp_path / "predictions.parquet")) == 60


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 0},
        {"budget": "long"},
        {"folds": 1},
        {"repeats": 0},
        {"level": 2.0},
        {"costs": (1, 2, 3)},
        {"costs": (-1.0, 1.0)},
        {"metric": "accuracy_score"},
        {"metric": "nonsense"},
        {"models": ["NoSuchModel"]},
        {"resume": True},
        {"task": "clustering"},
        {"kinds": {"x0": "colour"}},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_with_a_sentence(options: dict) -> None:
    table = pa.table({**numbers(30, 2), "y": RNG.normal(size=30)})
    with pytest.raises(SurefitError) as caught:
        surefit.learn(table, "y", **options)
    assert str(caught.value).endswith((".", "?"))


def test_costs_of_more_than_two_classes_are_refused() -> None:
    table = pa.table({**numbers(60, 2), "y": ["a", "b", "c"] * 20})
    with pytest.raises(ParameterError, match="two classes"):
        quick(table, "y", costs=(1.0, 1.0))


def test_events_come_in_order_and_end_with_the_record() -> None:
    stages = []
    table = pa.table({**numbers(40, 2), "y": RNG.normal(size=40)})
    study = quick(
        table, "y", models=["LinearRegression"], on_event=lambda event: stages.append((event.stage, event))
    )
    names = list(dict.fromkeys(stage for stage, _ in stages))
    assert names == ["columns", "audit", "race", "fit", "questions", "done"]
    assert stages[-1][1].about is study.record
    assert learning.learn is surefit.learn
