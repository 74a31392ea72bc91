"""The verbs that read a model file or a table, as a person and as a script call them."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.e2e.cli import call, houses, refused, write_houses

import surefit
from surefit.cli import group


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_houses(tmp_path_factory.mktemp("houses"))


def model(folder: Path, name: str) -> Path:
    return folder / f"{name}.safetensors"


def test_audit_prints_columns_reasons_and_findings(folder: Path) -> None:
    done = call("audit", folder / "train.csv", "--target", "price")
    assert done.code == 0
    assert "looking at" in done.err
    for words in (
        "identifier",
        "numbers, stored as text",
        "words for yes and no",
        "The task: regression, for price is a number",
    ):
        assert words in done.out
    assert "missing-values" in done.out


def test_audit_as_json_says_the_same(folder: Path) -> None:
    told = call("audit", folder / "train.csv", "--target", "price", "--json").json
    assert told == surefit.audit(folder / "train.csv", "price").to_dict()
    assert told["rows"] == 240


def test_audit_decisions_can_be_overruled(folder: Path) -> None:
    told = call(
        *("audit", folder / "train.csv", "--target", "price", "--json"),
        *("--kind", "new=category", "--kind", "id=number", "--drop", "sold"),
    ).json
    kinds = {column["name"]: column["kind"] for column in told["columns"]}
    assert kinds == {
        "id": "number",
        "size": "number",
        "city": "category",
        "new": "category",
        "price": "number",
    }


def test_audit_against_another_table_names_what_changed(folder: Path, tmp_path: Path) -> None:
    table = houses(240, 3)
    moved = table.set_column(2, "city", [["Lima", *["Oslo"] * 239]]).drop_columns(["new"])
    pq.write_table(moved, tmp_path / "now.parquet")
    told = call("audit", tmp_path / "now.parquet", "--against", folder / "train.csv", "--json").json
    codes = {(finding["code"], finding["columns"][0]) for finding in told["findings"]}
    assert {("schema-changes", "new"), ("new-levels", "city"), ("drift", "city")} <= codes
    assert ("drift", "price") not in codes


def test_audit_is_a_gate(folder: Path, tmp_path: Path) -> None:
    y = np.random.default_rng(0).normal(size=60)
    pq.write_table(pa.table({"a": y, "y": y + 0.25}), tmp_path / "leak.parquet")
    done = call("audit", tmp_path / "leak.parquet", "--target", "y", "--fail-on", "problem")
    assert done.code == 3
    assert "the gate failed: a problem was found (leaking-columns)" in done.err
    assert call("audit", folder / "train.csv", "--fail-on", "problem").code == 0


@pytest.mark.parametrize("form", [".csv", ".tsv", ".jsonl", ".parquet", ".arrow", "folder"])
def test_every_format_is_read_and_so_is_standard_input(form: str, tmp_path: Path) -> None:
    assert call("datasets", "wine", "--output", tmp_path / "wine.parquet").code == 0
    ending = ".parquet" if form == "folder" else form
    path = tmp_path / "tables" / f"wine{ending}"
    path.parent.mkdir()
    assert call("datasets", "wine", "-o", path).code == 0
    told = call("audit", path.parent if form == "folder" else path, "--target", "cultivar", "--json").json
    piped = call("audit", "-", "--target", "cultivar", "--json", stdin=path.read_bytes())
    assert piped.json["columns"] == told["columns"]
    assert [column["kind"] for column in told["columns"]] == ["number"] * 13 + ["category"]
    assert told["rows"] == 178


def test_datasets_are_listed_and_shown() -> None:
    listed = call("datasets", "--json").json
    assert {entry["name"] for entry in listed} == set(surefit.datasets.names())
    shown = call("datasets", "iris")
    assert "150 rows, 5 columns, classification of species" in shown.out
    assert "petal_width" in shown.out
    refused(call("datasets", "irs"), "did you mean 'iris'")
    assert call("datasets", "--output", "x.csv").code == 2


def test_inspect_shows_class_parameters_columns_certificate_and_coefficients(folder: Path) -> None:
    done = call("inspect", model(folder, "price-LinearRegression"))
    assert done.code == 0
    for words in (
        "TablePreparer",
        "LinearRegression",
        "fit_intercept",
        "certificate holds",
        "city_Rome",
        "(intercept)",
    ):
        assert words in done.out
    told = call("inspect", model(folder, "price-LinearRegression"), "--json").json
    assert [entry["class"] for entry in told["models"]] == ["TablePreparer", "LinearRegression"]
    assert [column["name"] for column in told["columns"]] == ["size", "city", "new"]
    fitted = surefit.load(model(folder, "price-LinearRegression"))
    np.testing.assert_array_equal(list(told["coefficients"][0]["weights"].values()), fitted[-1].coef_)
    labels = call("inspect", model(folder, "sold-LogisticRegression"), "--json").json
    assert labels["classes"] == ["no", "yes"]
    assert labels["coefficients"][0]["label"] == "yes"


def test_inspect_refuses_what_is_no_model(folder: Path, tmp_path: Path) -> None:
    refused(call("inspect", folder / "train.csv"), "is not a model file")
    refused(call("inspect", tmp_path / "none.safetensors"), "cannot be opened")


def test_verify_ends_with_4_when_model_or_table_were_changed(folder: Path, tmp_path: Path) -> None:
    path = model(folder, "price-LinearRegression")
    done = call("verify", path, folder / "train.csv", "--target", "price", "--json")
    assert done.code == 0
    assert done.json["holds"]
    other = call("verify", path, folder / "test.csv", "--target", "price")
    assert other.code == 4
    assert "does NOT hold" in other.out
    tampered = surefit.load(path)
    tampered[-1].coef_ = tampered[-1].coef_ * 1.001
    surefit.save(tampered, tmp_path / "tampered.safetensors")
    assert (
        call("verify", tmp_path / "tampered.safetensors", folder / "train.csv", "--target", "price").code == 4
    )


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl", ".arrow"])
def test_predict_writes_what_the_model_answers(ending: str, folder: Path, tmp_path: Path) -> None:
    to = tmp_path / f"answers{ending}"
    done = call(
        "predict", model(folder, "sold-LogisticRegression"), folder / "test.csv", "--keep", "id", "-o", to
    )
    assert done.code == 0
    found = pa.Table.from_batches(list(_batches(to)))
    assert found.column_names == ["id", "prediction", "probability_no", "probability_yes"]
    assert found["id"].to_pylist() == list(range(2000, 2120))
    shares = np.array(found["probability_yes"])
    np.testing.assert_allclose(shares + np.array(found["probability_no"]), 1.0, rtol=1e-12)
    assert found["prediction"].to_pylist() == np.where(shares > 0.5, "yes", "no").tolist()
    assert [path.name for path in tmp_path.iterdir()] == [to.name]  # and nothing half-written beside it


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    from surefit.study.table.stream import stream_of

    return stream_of(path)[0].batches()


def test_predictions_do_not_depend_on_the_form_or_cut_of_the_table(folder: Path, tmp_path: Path) -> None:
    path = model(folder, "price-Ridge")
    whole = call("predict", path, folder / "test.csv").out
    table = houses(120, 2)
    for start in range(0, 120, 50):
        pq.write_table(table.slice(start, 50), tmp_path / f"{start:03d}.parquet")
    assert call("predict", path, tmp_path).out == whole
    assert call("predict", path, "-", stdin=(folder / "test.csv").read_bytes()).out == whole
    one = pa.table({"size": [4000.0], "new": [True], "city": ["Oslo"]})
    pq.write_table(one, tmp_path / "one.parquet")
    assert len(call("predict", path, tmp_path / "one.parquet").out.splitlines()) == 2


def test_numbers_that_are_names_are_found_in_text_and_in_numbers(tmp_path: Path) -> None:
    from surefit.study.table.decide import decide

    rng = np.random.default_rng(0)
    table = pa.table({"grade": rng.integers(1, 4, 90), "y": rng.normal(size=90)})
    source = decide(table, "y", {"grade": "category"}).read(table)
    model_file = tmp_path / "m.safetensors"
    surefit.save(surefit.make_pipeline(surefit.TablePreparer(), surefit.Ridge()).fit(source), model_file)
    answers = []
    for name in ("t.csv", "t.parquet", "t.jsonl"):
        _write(tmp_path / name, table)
        answers.append(call("predict", model_file, tmp_path / name, "--drop", "y").out)
    assert len(set(answers)) == 1
    assert len(set(answers[0].splitlines())) == 4  # a header and an answer for each grade


def _write(path: Path, table: pa.Table) -> None:
    from surefit.cli._write import Rows, write_rows

    write_rows(str(path), Rows(table.schema, table.to_batches()))


def test_predict_gives_intervals_where_the_model_has_them(folder: Path) -> None:
    done = call(
        "predict", model(folder, "price-LinearRegression"), folder / "test.csv", "--level", "0.9", "--json"
    )
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert all(row["low"] < row["prediction"] < row["high"] for row in rows)
    truth = np.array(houses(120, 2)["price"])
    inside = sum(row["low"] < y < row["high"] for row, y in zip(rows, truth, strict=True))
    assert 95 <= inside <= 117  # 108 of 120 on average; three deviations, and the gaps in size
    refused(
        call("predict", model(folder, "price-Ridge"), folder / "test.csv", "--level", "0.9"),
        "gives no intervals",
    )


def test_predict_names_missing_and_unseen_columns(folder: Path, tmp_path: Path) -> None:
    pq.write_table(
        houses(5, 4).rename_columns(["id", "sise", "city", "new", "price", "sold"]), tmp_path / "t.parquet"
    )
    path = model(folder, "price-Ridge")
    refused(call("predict", path, tmp_path / "t.parquet"), "lacks 1 of the model's columns: 'size'", "'sise'")
    assert "the model does not use 'id', 'sold'" in call("predict", path, folder / "test.csv").err
    refused(call("predict", path, folder / "test.csv", "--strict"), "never seen 'id', 'sold'")
    strict = ("--strict", "--drop", "sold", "--keep", "id")
    assert call("predict", path, folder / "test.csv", *strict).code == 0
    refused(call("predict", path, folder / "test.csv", "-o", "answers.xlsx"), "must end in")
    refused(call("predict", path, folder / "test.csv", "-o", tmp_path / "no" / "x.csv"), "does not exist")


def test_predict_says_which_cells_it_could_not_read(folder: Path, tmp_path: Path) -> None:
    cells = {"size": ["900", "n/a", "big", "9"], "new": ["no", "yes", "no", "no"]}
    pq.write_table(pa.table({**cells, "city": ["Oslo", "Lima", "Lima", None]}), tmp_path / "t.parquet")
    done = call("predict", model(folder, "price-Ridge"), tmp_path / "t.parquet")
    assert len(done.out.splitlines()) == 5
    assert done.err.splitlines()[1:] == [
        "2 rows of 'city' have a level that the model has never seen ('Lima')",
        "1 row of 'size' holds no numbers ('big'): taken as missing",
    ]


def test_every_verb_prints_json_and_nothing_else_to_standard_output(folder: Path, tmp_path: Path) -> None:
    table, file = folder / "test.csv", model(folder, "price-LinearRegression")
    calls: dict[str, tuple[object, ...]] = {
        "audit": (table,),
        "compare": (table, file, model(folder, "price-Ridge")),
        "datasets": (),
        "doctor": (),
        "evaluate": (file, table),
        "explain": (file, table, "--row", 1),
        "inspect": (file,),
        "predict": (file, table, "--output", tmp_path / "answers.csv"),
        "verify": (file, folder / "train.csv"),
    }
    besides = {"cluster", "demo", "learn", "report"}  # demo is for people; others have tests of their own
    assert set(group.list_commands(click.Context(group))) == set(calls) | besides
    for verb, given in calls.items():
        done = call(verb, *given, "--json")
        assert done.code == 0
        assert isinstance(done.json, dict | list)


def test_a_model_of_an_array_takes_all_columns_in_order(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    surefit.save(surefit.LinearRegression().fit(X, X[:, 0]), tmp_path / "m.safetensors")
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "note": "x"}).to_csv(tmp_path / "t.csv", index=False)
    done = call("predict", tmp_path / "m.safetensors", tmp_path / "t.csv", "--drop", "note")
    np.testing.assert_allclose([float(line) for line in done.out.splitlines()[1:]], X[:, 0], atol=1e-12)
    refused(call("predict", tmp_path / "m.safetensors", tmp_path / "t.csv"), "fitted to 2 columns", "--drop")


def test_evaluate_scores_with_intervals_and_by_group(folder: Path) -> None:
    path = model(folder, "sold-LogisticRegression")
    told = call("evaluate", path, folder / "test.csv", "--target", "sold", "--by", "city", "--json").json
    assert set(told["scores"]) == {"accuracy_score", "balanced_accuracy_score", "log_loss", "roc_auc_score"}
    for score in told["scores"].values():
        assert score["low"] <= score["score"] <= score["high"]
    assert sum(group["rows"] for group in told["groups"].values()) == told["rows"] == 120
    by_hand = sum(g["rows"] * g["scores"]["accuracy_score"]["score"] for g in told["groups"].values()) / 120
    assert by_hand == pytest.approx(told["scores"]["accuracy_score"]["score"], rel=1e-12)
    shown = call("evaluate", path, folder / "test.csv", "--target", "sold", "--by", "new").out
    assert "Wilson" in shown
    assert "yes" in shown  # as it stands in the table, not as the model reads it


def test_evaluate_says_what_it_could_not_read(folder: Path, tmp_path: Path) -> None:
    path = model(folder, "price-Ridge")
    table = pd.read_csv(folder / "test.csv", dtype=str).astype(object)
    clean = call("evaluate", path, folder / "test.csv", "--target", "price", "--json").json["unread"]
    assert clean["rows_without_truth"] == 0
    gaps = clean["missing_cells"].get("city", 0)
    table.loc[1:3, "price"] = None
    table.loc[5, "size"] = "large"
    table.loc[6, "city"] = "Atlantis"
    table.loc[8:9, "city"] = None
    table.to_csv(tmp_path / "holes.csv", index=False)
    told = call("evaluate", path, tmp_path / "holes.csv", "--target", "price", "--json").json
    assert told["rows"] == 117
    assert told["unread"]["rows_without_truth"] == 3
    assert told["unread"]["missing_cells"]["city"] == gaps + 2
    assert told["unread"]["cells_of_another_kind"] == {"size": 1}
    assert told["unread"]["levels_never_seen"] == {"city": 1}
    shown = call("evaluate", path, tmp_path / "holes.csv", "--target", "price").out
    for words in (
        "3 more without 'price' left out",
        "missing: ",
        "never seen ('Atlantis')",
        "no numbers ('large')",
    ):
        assert words in shown


def test_evaluate_is_a_gate(folder: Path) -> None:
    given = ("evaluate", model(folder, "price-Ridge"), folder / "test.csv", "--target", "price")
    assert call(*given, "--fail-on", "r2_score<0.5").code == 0
    done = call(*given, "--fail-on", "r2_score < 0.5", "--fail-on", "max_error>1")
    assert done.code == 3
    assert "the gate failed: max_error>1" in done.err
    assert "r2_score" in done.out  # the result is there all the same
    assert call(*given, "--fail-on", "r2_score=0.5").code == 2
    refused(call(*given, "--fail-on", "r3_score<0.5"), "r3_score")
    refused(call(*given, "--metric", "roc_auc_score"), "roc_auc_score")


def test_a_model_file_knows_which_column_it_predicts(folder: Path, tmp_path: Path) -> None:
    path = model(folder, "price-LinearRegression")
    assert call("inspect", path, "--json").json["target"] == "price"
    assert call("evaluate", path, folder / "test.csv", "--json").json["target"] == "price"
    assert call("verify", path, folder / "train.csv", "--json").json["holds"]
    assert call("explain", path, folder / "test.csv", "--json").json["importance"]
    assert "price" not in call("predict", path, folder / "test.csv").err
    files = [path, model(folder, "price-Ridge")]
    assert call("compare", folder / "test.csv", *files, "--json").json["target"] == "price"
    pq.write_table(houses(40, 5).drop_columns(["price", "new"]), tmp_path / "t.parquet")
    refused(call("evaluate", path, tmp_path / "t.parquet"), "lacks 1 of the model's columns: 'new'")
    pq.write_table(houses(40, 5).drop_columns(["price"]), tmp_path / "u.parquet")
    refused(call("evaluate", path, tmp_path / "u.parquet"), "no column 'price', which the model predicts")
    refused(
        call("evaluate", path, folder / "test.csv", "--target", "city"), "some cells of the target are not"
    )


def test_a_model_that_knows_no_target_finds_it_or_asks_for_it(tmp_path: Path) -> None:
    table = houses(60, 5).select(["price", "id"]).to_pandas()
    surefit.save(surefit.Ridge().fit(table[["id"]], table["price"]), tmp_path / "m.safetensors")
    pq.write_table(houses(40, 5).select(["price", "id"]), tmp_path / "t.parquet")
    found = call("evaluate", tmp_path / "m.safetensors", tmp_path / "t.parquet", "--json").json
    assert found["target"] == "price"
    pq.write_table(houses(40, 5), tmp_path / "u.parquet")
    refused(call("evaluate", tmp_path / "m.safetensors", tmp_path / "u.parquet"), "--target")


def test_verify_finds_the_weights_by_itself(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=60), "n": rng.integers(1, 9, 60), "y": rng.normal(size=60)})
    pq.write_table(table, tmp_path / "t.parquet")
    fitted = surefit.LinearRegression().fit(surefit.read(table, target="y", weight="n"))
    surefit.save(fitted, tmp_path / "m.safetensors")
    assert call("verify", tmp_path / "m.safetensors", tmp_path / "t.parquet").code == 0


def test_compare_classes_by_cross_validation(folder: Path) -> None:
    given = ("compare", folder / "train.csv", "--target", "price", "--drop", "sold", "--folds", "5")
    told = call(*given, "Ridge", "MeanRegressor", "LinearRegression", "--json").json
    groups = {entry["name"]: entry["group"] for entry in told["models"]}
    assert groups["Ridge"] == groups["LinearRegression"] == "a" != groups["MeanRegressor"]
    assert told["models"][-1]["p"] < 0.01
    assert "cannot be told apart" in call(*given, "Ridge", "MeanRegressor").out
    refused(call(*given, "Ridge", "Rigde"), "did you mean 'Ridge'")
    refused(call(*given, "Ridge", "LogisticRegression"), "LogisticRegression does not support regression")
    refused(call("compare", folder / "train.csv", "Ridge", "Lasso"), "--target")
    assert call(*given, "Ridge").code == 2
    assert call(*given, "Ridge", "Ridge").code == 2


def test_compare_files_on_rows_they_have_not_seen(folder: Path) -> None:
    files = [
        model(folder, f"price-{name}") for name in ("Ridge", "LinearRegression", "DecisionTreeRegressor")
    ]
    told = call("compare", folder / "test.csv", *files, "--target", "price", "--json").json
    groups = {Path(entry["name"]).stem: entry["group"] for entry in told["models"]}
    assert groups["price-Ridge"] == groups["price-LinearRegression"] == "a"
    assert groups["price-DecisionTreeRegressor"] == "b"
    pair = [model(folder, "sold-LogisticRegression"), model(folder, "sold-DecisionTreeClassifier")]
    for metric in ("accuracy_score", "roc_auc_score", "log_loss"):
        by = call(
            "compare", folder / "test.csv", *pair, "--target", "sold", "--metric", metric, "--json"
        ).json
        assert len(by["models"]) == 2
        assert 0 <= by["models"][1]["p"] <= 1
    refused(
        call("compare", folder / "test.csv", files[0], pair[0], "--target", "price"),
        "are classifiers and some",
    )
    assert call("compare", folder / "test.csv", files[0], "Ridge", "--target", "price").code == 2
