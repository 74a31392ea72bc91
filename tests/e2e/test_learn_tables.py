"""``surefit.learn`` on real tables, as they come."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from tests.e2e.studies import inside, quick

import surefit
from surefit.study.fitted.result import Study
from surefit.study.predictions import Predictions
from surefit.study.record import Record

MODELS = ["LinearRegression", "RidgeCV", "DecisionTreeRegressor"]
CLASSIFIERS = ["GaussianNB", "DecisionTreeClassifier"]


@pytest.fixture(scope="module")
def penguins(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Path]:
    folder = tmp_path_factory.mktemp("penguins")
    csv = inside("palmerpenguins", "data/penguins.csv")
    return quick(csv, "species", models=CLASSIFIERS, folder=folder), folder


def test_penguins_are_told_apart_though_cells_are_missing(penguins: tuple[Study, Path]) -> None:
    study, _ = penguins
    record = study.record
    kinds = {column.name: column.kind for column in record.columns}
    assert kinds["island"] == kinds["sex"] == "category"
    assert kinds["bill_length_mm"] == "number"
    assert sum(column.missing for column in record.columns) > 10
    assert record.task == "classification"
    assert record.classes == ("Adelie", "Chinstrap", "Gentoo")
    assert record.score is not None
    assert record.score.low > 0.9
    scores = {entry.name: entry.score for entry in record.leaderboard}
    assert scores["GaussianNB"] is not None
    assert scores["GaussianNB"] > 0.95  # though islands have no penguin of some species
    best = record.importance[0]
    assert best.column in ("bill_length_mm", "island", "flipper_length_mm")
    assert best.low > 0
    assert {entry.column for entry in record.dependence} <= set(kinds)
    assert record.chosen.certificate is not None
    assert record.chosen.certificate.holds


def test_all_files_are_there_and_say_the_same(penguins: tuple[Study, Path]) -> None:
    study, folder = penguins
    names = {path.name for path in folder.iterdir()}
    assert names == {"model.safetensors", "report.json", "predictions.parquet", "script.py"}
    assert Record.load(folder / "report.json").leaderboard == study.record.leaderboard
    kept = Predictions.load(folder / "predictions.parquet")
    assert study.predictions is not None
    np.testing.assert_array_equal(kept.prediction, study.predictions.prediction)
    assert sorted(kept.row.tolist()) == list(range(344))
    right = np.mean(kept.truth == kept.prediction)
    chosen = next(entry for entry in study.record.leaderboard if entry.name == study.record.chosen.name)
    assert right == pytest.approx(chosen.score, abs=0.01)  # the mean over folds of unequal size
    assert json.loads((folder / "report.json").read_text())["version"] >= 1


def test_the_script_makes_the_same_model_to_the_bit(penguins: tuple[Study, Path], tmp_path: Path) -> None:
    study, folder = penguins
    csv = inside("palmerpenguins", "data/penguins.csv")
    again = tmp_path / "again.safetensors"
    subprocess.run([sys.executable, folder / "script.py", csv, again], check=True, capture_output=True)
    model = surefit.load(again)
    rows = surefit.typed(csv, {c.name: c.kind for c in study.record.columns if c.used})
    np.testing.assert_array_equal(model.predict_proba(rows), study.model.predict_proba(rows))
    np.testing.assert_array_equal(
        surefit.load(folder / "model.safetensors").predict_proba(rows), study.predict_proba(csv)
    )


def test_diabetes_takes_the_simplest_of_the_models_that_tie() -> None:
    table = load_diabetes(as_frame=True, scaled=False).frame
    study = quick(table, "target", models=MODELS, folds=10)
    record = study.record
    ties = [entry.name for entry in record.leaderboard if entry.as_good_as_best]
    assert {"LinearRegression", "RidgeCV"} <= set(ties)
    assert "MeanRegressor" not in ties
    assert record.chosen.name == "LinearRegression"
    slopes = {entry.column: entry for entry in record.chosen.coefficients}
    whole = surefit.LinearRegression().fit(table.drop(columns="target"), table["target"])
    names = list(whole.feature_names_in_)
    assert slopes["bmi"].value == pytest.approx(whole.coef_[names.index("bmi")], rel=1e-9)
    summary = whole.summary()
    assert slopes["bmi"].low == pytest.approx(summary.lower[summary.names.index("bmi")], rel=1e-6)
    assert record.importance[0].low > 0
    assert len(record.worst) == 10
    errors = [row.loss for row in record.worst]
    assert errors == sorted(errors, reverse=True)
    assert "cannot be told apart" in record.answer[0]
    assert repr(study).splitlines()[0] == record.answer[0]


def test_costs_move_the_threshold_and_the_cost_falls() -> None:
    table = load_breast_cancer(as_frame=True).frame
    study = quick(table, "target", models=["GaussianNB"], costs=(1.0, 20.0))
    found = study.record.threshold
    assert found is not None
    assert found.value < 0.5
    assert found.cost < found.cost_at_half
    assert study.record.metric == "roc_auc_score"
    entry = next(entry for entry in study.record.leaderboard if entry.name == "GaussianNB")
    assert 0 < entry.others["expected_calibration_error"][0] < 0.2


def test_a_table_of_statsmodels_with_counts_lets_poisson_take_part() -> None:
    import statsmodels.api as sm

    table = sm.datasets.fair.load_pandas().data.iloc[:600]
    table = table.assign(visits=np.round(table["affairs"] * 2)).drop(columns="affairs")
    study = quick(table, "visits", task="regression", models=["LinearRegression", "PoissonRegressor"])
    names = {entry.name: entry for entry in study.record.leaderboard}
    assert names["PoissonRegressor"].failed is None
    assert names["PoissonRegressor"].settings.keys() == {"alpha"}


def test_a_table_of_islp_is_learnt_with_its_categories() -> None:
    study = quick(inside("ISLP", "data/Carseats.csv"), "Sales", models=["LinearRegression", "LassoCV"])
    others = study.record.leaderboard[0].others
    assert others["r2_score"][0] == pytest.approx(0.87, abs=0.03)  # the book's linear fit has 0.87
    shelf = [c.column for c in study.record.chosen.coefficients if c.column.startswith("ShelveLoc")]
    assert len(shelf) == 2


def test_the_answer_is_the_same_again_and_for_any_number_of_threads() -> None:
    table = pa.Table.from_pandas(load_diabetes(as_frame=True).frame)
    with surefit.config(n_threads=1):
        one = quick(table, "target", models=["LinearRegression"])
    two = quick(table, "target", models=["LinearRegression"])
    assert [entry.folds for entry in one.record.leaderboard] == [
        entry.folds for entry in two.record.leaderboard
    ]
    assert one.record.importance == two.record.importance
    assert one.record.table.digest == two.record.table.digest
