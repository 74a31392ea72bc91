"""Tables that nobody should have written."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.e2e.cli import Done, call, refused

import surefit

HOSTILE = '\x1b[31m[red]<script>alert(1)</script>,"\u202e'


def audit(path: Path, *more: object) -> Done:
    return call("audit", path, *more)


def codes(done: Done) -> set[str]:
    return {finding["code"] for finding in done.json["findings"]}


def written(folder: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def test_one_column(tmp_path: Path) -> None:
    path = written(tmp_path, y=[1.5, 2.5, 4.0])
    assert audit(path, "--target", "y").code == 0
    refused(
        call("compare", path, "--target", "y", "Ridge", "MeanRegressor"), "no column is left to learn from"
    )


def test_one_class(tmp_path: Path) -> None:
    path = written(tmp_path, a=[1.5, 2.5, 4.0], y=["no", "no", "no"])
    done = audit(path, "--target", "y", "--json")
    assert codes(done) == {"unlearnable-target"}
    refused(call("compare", path, "--target", "y", "LogisticRegression", "GaussianNB"), "one value only")


def test_all_missing(tmp_path: Path) -> None:
    path = written(tmp_path, a=pa.array([None] * 4, pa.float64()), b=pa.array([None] * 4, pa.string()))
    done = audit(path, "--target", "a", "--json")
    assert {"empty-rows", "constant-columns", "unlearnable-target"} <= codes(done)
    refused(call("compare", path, "--target", "a", "Ridge", "MeanRegressor"), "no value in any row")


def test_ten_thousand_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = {f"c{j}": rng.integers(0, 50, 12).astype(float) for j in range(10_000)}
    path = written(tmp_path, **table, y=rng.normal(size=12))
    told = audit(path, "--target", "y", "--json").json
    assert len(told["columns"]) == 10_001


def test_broken_quotes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n1,"x\n2,y\n3,z\n')
    done = audit(tmp_path / "t.csv")
    assert done.code in (0, 1)  # what a quote that is never closed means is for the parser to say
    assert "Traceback" not in done.err
    (tmp_path / "u.csv").write_text('a,b\n1,2\n"3,4,5\n6\n')
    refused(audit(tmp_path / "u.csv"), "u.csv")


def test_rows_of_different_lengths(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n4,5,6\n")
    refused(audit(tmp_path / "t.csv"), "t.csv cannot be read", "columns")


def test_mixed_encodings(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("name,n\nRené,1\n".encode() + "Zoë,2\n".encode("latin-1"))
    refused(audit(tmp_path / "t.csv"), "t.csv is not in UTF-8: line 3", "save it as UTF-8")
    (tmp_path / "u.csv").write_text("name,n\nRenÃ©,1\nAnn,2\n", encoding="utf-8")
    assert "broken-characters" in codes(audit(tmp_path / "u.csv", "--json"))


def test_a_file_that_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and then nothing")
    refused(audit(tmp_path / "t.parquet"), "t.parquet cannot be read")
    (tmp_path / "t.csv").write_bytes(b"")
    refused(audit(tmp_path / "t.csv"), "is empty")
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    refused(audit(tmp_path / "t.xlsx"), "cannot tell the format")
    (tmp_path / "h.csv").write_text("a,b\n")
    refused(audit(tmp_path / "h.csv"), "no rows")
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    refused(audit(tmp_path / "twice.csv"), "two columns named 'a'")


def test_semicolons(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1;2\n3;4\n")
    assert "wrong-separator" in codes(audit(tmp_path / "t.csv", "--json"))


def test_the_target_among_the_features(tmp_path: Path) -> None:
    y = np.random.default_rng(0).normal(size=80)
    done = audit(written(tmp_path, y=y, copy=y, half=y / 2, b=y[::-1]), "--target", "y", "--json")
    leaks = {f["columns"][0] for f in done.json["findings"] if f["code"] == "leaking-columns"}
    assert leaks == {"copy", "half"}
    assert "duplicate-columns" in codes(done)


def test_markup_and_control_characters_in_names_and_cells(tmp_path: Path) -> None:
    y = np.random.default_rng(0).normal(size=60)
    path = written(tmp_path, **{HOSTILE: [HOSTILE, "x\x07", None] * 20, f"{HOSTILE}2": y, "y": y})
    done = audit(path, "--target", "y")
    assert done.code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(done.out + done.err)
    assert "\\x1b[31m[red]<script>" in done.out
    told = audit(path, "--target", "y", "--json").json
    assert told["columns"][0]["name"] == HOSTILE
    kind = audit(path, "--kind", f"{HOSTILE}=text", "--json").json
    assert kind["columns"][0]["kind"] == "text"


def test_a_model_of_hostile_columns_predicts_and_explains(tmp_path: Path) -> None:
    words = [HOSTILE, "plain", "="] * 20
    table = pa.table({HOSTILE: words, "n": np.arange(60) % 7 * 1.5, "y": np.arange(60) % 5 * 1.0})
    pq.write_table(table, tmp_path / "t.parquet")
    model = surefit.make_pipeline(surefit.TablePreparer(), surefit.Ridge()).fit(table, "y")
    surefit.save(model, tmp_path / "m.safetensors")
    for verb, more in (
        ("predict", ["--keep", HOSTILE]),
        ("explain", ["--target", "y"]),
        ("explain", ["--row", 0]),
        ("inspect", None),
        ("evaluate", ["--target", "y", "--by", HOSTILE, "--metric", "mean_absolute_error"]),
    ):
        table_and_more = [] if more is None else [tmp_path / "t.parquet", *more]
        done = call(verb, tmp_path / "m.safetensors", *table_and_more)
        assert done.code == 0
        if verb != "predict":  # whose output is a file, and keeps cells as they are
            assert not {"\x1b", "\u202e"} & set(done.out + done.err)


@pytest.mark.parametrize("verb", ["predict", "evaluate", "explain"])
def test_a_table_without_rows_is_refused(verb: str, tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2.0, 4.0], "y": [1.0, 3.0, 5.0]})
    surefit.save(surefit.LinearRegression().fit(table, "y"), tmp_path / "m.safetensors")
    pq.write_table(table.slice(0, 0), tmp_path / "t.parquet")
    more = ["--target", "y"] if verb != "predict" else []
    refused(call(verb, tmp_path / "m.safetensors", tmp_path / "t.parquet", *more))


def test_gaps_that_a_model_does_not_take_are_a_sentence(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2.0, 4.0], "y": [1.0, 3.0, 5.0]})
    surefit.save(surefit.LinearRegression().fit(table, "y"), tmp_path / "m.safetensors")
    pq.write_table(pa.table({"a": [1.0, None]}), tmp_path / "t.parquet")
    refused(call("predict", tmp_path / "m.safetensors", tmp_path / "t.parquet"), "'a'")
    pq.write_table(pa.table({"a": ["x", "y"]}), tmp_path / "w.parquet")
    refused(call("predict", tmp_path / "m.safetensors", tmp_path / "w.parquet"))
