"""Tables that nobody should have written."""

import csv
import json
import os
import pty
import subprocess
import sys
import tty
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


LABELS = [HOSTILE, "\x9b31m\nCR\r", "plain é"]


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A model whose classes would act on a terminal, and a table."""
    table = pa.table({"n": np.arange(60) % 3 * 1.5, "y": LABELS * 20, "=k": ["=1+1", "-2", "b-c"] * 20})
    pq.write_table(table, tmp_path / "t.parquet")
    model = surefit.make_pipeline(surefit.TablePreparer(), surefit.GaussianNB())
    surefit.save(model.fit(table.select(["n", "y"]), "y"), tmp_path / "m.safetensors")
    return tmp_path


def on_a_terminal(*arguments: object) -> str:
    """What a verb prints where standard output is a terminal."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    command = [sys.executable, "-m", "surefit", *map(str, arguments)]
    running = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    found = b""
    try:
        while block := os.read(ours, 2**16):
            found += block
    except OSError:  # how Linux says that nobody writes any more
        pass
    finally:
        os.close(ours)
    assert running.wait() == 0
    return found.decode()


def test_labels_are_spelt_out_on_a_terminal_alone(labelled: Path) -> None:
    verb = ("predict", labelled / "m.safetensors", labelled / "t.parquet", "--keep", "=k")
    shown = on_a_terminal(*verb)
    assert not {"\x1b", "\x9b", "\u202e", "\r"} & set(shown)
    assert "\\x9b31m\\nCR\\r" in shown
    assert "plain é" in shown
    assert len(shown.splitlines()) == 1 + 60
    lines = on_a_terminal(*verb, "--json")
    assert not {"\x1b", "\x9b", "\u202e", "\r"} & set(lines)
    assert {json.loads(line)["prediction"] for line in lines.splitlines()} == set(LABELS)
    assert LABELS[0].replace('"', '""') in call(*verb).out  # a pipe gets the cells as they are


def test_text_that_a_spreadsheet_would_run(labelled: Path) -> None:
    verb = ("predict", labelled / "m.safetensors", labelled / "t.parquet", "--keep", "=k", "--keep", "n")
    for ending, comma in ((".csv", ","), (".tsv", "\t")):
        path = labelled / f"out{ending}"
        assert call(*verb, "--for-spreadsheets", "-o", path).code == 0
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file, delimiter=comma)
        assert head[:3] == ["'=k", "n", "prediction"]
        assert [row[0] for row in rows[:3]] == ["'=1+1", "'-2", "b-c"]
        assert {row[2] for row in rows} == set(LABELS)
    assert call(*verb).out.startswith('"=k"')
    assert call(*verb, "--for-spreadsheets").out.startswith('"\'=k"')
    refused(call(*verb, "--for-spreadsheets", "-o", labelled / "out.parquet"), "is for .csv and .tsv")
    refused(call(*verb, "--for-spreadsheets", "--json"), "is for .csv and .tsv, not for .jsonl")


def test_negative_answers_stay_numbers_in_a_spreadsheet(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2.0, 4.0], "y": [-1.0, -2.0, -4.0]})
    surefit.save(surefit.LinearRegression().fit(table, "y"), tmp_path / "m.safetensors")
    pq.write_table(table, tmp_path / "t.parquet")
    done = call("predict", tmp_path / "m.safetensors", tmp_path / "t.parquet", "--for-spreadsheets")
    assert [float(line) for line in done.out.splitlines()[1:]] == pytest.approx([-1, -2, -4])


def test_a_line_end_in_the_name_of_the_target_is_spelt_out(tmp_path: Path) -> None:
    name = "y\nsurefit: all is well"
    y = np.random.default_rng(0).normal(size=60)
    path = written(tmp_path, **{"a": y + 1, "b\nsurefit: no harm": np.arange(60) % 7 * 1.5, name: y})
    model = surefit.make_pipeline(surefit.TablePreparer(), surefit.Ridge()).fit(path, name)
    surefit.save(model, tmp_path / "m.safetensors")
    told = [audit(path, "--target", name), call("inspect", tmp_path / "m.safetensors")]
    told += [
        call(verb, tmp_path / "m.safetensors", path, "--target", name) for verb in ("evaluate", "explain")
    ]
    told.append(call("learn", path, "--target", name, "--models", "RidgeCV", "--out", tmp_path / "study"))
    for done in told:
        assert done.code == 0, done.err
        lines = (done.out + done.err).splitlines()
        assert not [line for line in lines if line.strip().startswith("surefit: ")], lines
    assert "predicts: y\\nsurefit: all is well" in told[1].out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_standard_output_is_named(labelled: Path, more: list[str]) -> None:
    command = [sys.executable, "-m", "surefit", "predict", labelled / "m.safetensors", labelled / "t.parquet"]
    with open("/dev/full", "w") as full:
        done = subprocess.run([*command, *more], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "the disk is full: standard output could not be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_names_the_file(labelled: Path) -> None:
    """A limit on the size of files stands for a full disk."""
    program = (
        "import resource, signal; from surefit.cli import main;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)); main()"
    )
    files = [labelled / "m.safetensors", labelled / "t.parquet", "-o", labelled / "out.csv"]
    done = subprocess.run(
        [sys.executable, "-c", program, "predict", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"the disk is full: {labelled / 'out.csv'} could not be written" in done.stderr
    assert not list(labelled.glob("*out.csv*"))


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
