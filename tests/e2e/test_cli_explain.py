"""``surefit explain``: what a model makes of columns, and why it answers one row as it does."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.e2e.cli import call, refused, write_houses

import surefit


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_houses(tmp_path_factory.mktemp("houses"))


def model(folder: Path, name: str) -> Path:
    return folder / f"{name}.safetensors"


def test_explain_ranks_columns_and_shows_how_answers_depend_on_them(folder: Path) -> None:
    given = ("explain", model(folder, "price-Ridge"), folder / "test.csv", "--target", "price")
    told = call(*given, "--json").json
    assert [entry["column"] for entry in told["importance"]] == ["size", "city", "new"]
    assert told["importance"][0]["low"] > 0
    size = next(entry for entry in told["dependence"] if entry["column"] == "size")
    slope = (size["mean"][-1] - size["mean"][0]) / (size["values"][-1] - size["values"][0])
    assert slope == pytest.approx(1.0, abs=0.1)  # the truth that houses are drawn from
    city = next(entry for entry in told["dependence"] if entry["column"] == "city")
    assert dict(zip(city["values"], city["mean"], strict=True))["Oslo"] == max(city["mean"])
    assert "What is lost when a column is shuffled" in call(*given).out
    refused(call(*given, "--column", "colour"), "does not read a column 'colour'")


def test_explain_one_row_in_words(folder: Path) -> None:
    given = (folder / "test.csv", "--row", 3)
    linear = call("explain", model(folder, "price-LinearRegression"), *given, "--json").json
    fitted = surefit.load(model(folder, "price-LinearRegression"))
    assert linear["prediction"] == pytest.approx(_answer(folder, "price-LinearRegression", 3), rel=1e-12)
    assert {part["column"] for part in linear["contributions"]} == set(fitted[0].feature_names_in_)
    tree = call("explain", model(folder, "price-DecisionTreeRegressor"), *given)
    assert "because size" in tree.out
    assert "the prediction by" in tree.out
    classes = call("explain", model(folder, "sold-LogisticRegression"), *given)
    assert "with probability" in classes.out
    refused(call("explain", model(folder, "price-Ridge"), folder / "test.csv", "--row", 120), "no row 120")


def _answer(folder: Path, name: str, row: int) -> float:
    return float(call("predict", model(folder, name), folder / "test.csv").out.splitlines()[row + 1])


def test_contributions_of_a_line_add_up(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": X @ [1.0, -2.0, 0.5]})
    pq.write_table(table, tmp_path / "t.parquet")
    surefit.save(surefit.LinearRegression().fit(table, "y"), tmp_path / "m.safetensors")
    told = call("explain", tmp_path / "m.safetensors", tmp_path / "t.parquet", "--row", 7, "--json").json
    parts = {part["column"]: part["change"] for part in told["contributions"]}
    expected = np.array([1.0, -2.0, 0.5]) * (X[7] - X.mean(axis=0))
    np.testing.assert_allclose([parts["a"], parts["b"], parts["c"]], expected, atol=1e-9)


def test_rules_of_a_tree_name_levels_and_not_their_codes(tmp_path: Path) -> None:
    city = ["Oslo", "Rome", "Bern", None] * 30
    dear = [name == "Rome" for name in city]
    table = pa.table({"city": city, "new": [True, False] * 60, "y": np.where(dear, 9.0, 1.0)})
    pq.write_table(table, tmp_path / "t.parquet")
    study = surefit.learn(
        table, "y", task="regression", models=["DecisionTreeRegressor"], folds=4, repeats=1, folder=tmp_path
    )
    assert study.record.chosen.rules is not None
    assert "city in {Bern, Oslo}" in study.record.chosen.rules
    given = (tmp_path / "model.safetensors", tmp_path / "t.parquet")
    assert "9, because city not in {Bern, Oslo}" in call("explain", *given, "--row", 1).out
    assert "city is missing or unknown" in call("explain", *given, "--row", 3).out
    assert call("explain", *given, "--row", 1, "--json").json["contributions"][0]["value"] == "Rome"


def test_dependence_is_shown_for_every_class(tmp_path: Path) -> None:
    given = ("--output", tmp_path / "iris.csv")
    assert call("datasets", "iris", *given).code == 0
    table = pd.read_csv(tmp_path / "iris.csv")
    surefit.save(
        surefit.GaussianNB().fit(table.drop(columns="species"), table["species"]), tmp_path / "m.safetensors"
    )
    told = call("explain", tmp_path / "m.safetensors", tmp_path / "iris.csv", "--column", "petal_width")
    assert "The mean probability of each class" in told.out
    head = next(line for line in told.out.splitlines() if "petal_width" in line)
    assert {"setosa", "versicolor", "virginica"} <= set(head.split())
