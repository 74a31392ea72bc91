"""How ``surefit learn`` ends, and what it shows on the way: on terminals, into pipes, when it fails."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.e2e.cli import Done, call, refused

import surefit
from surefit.study.record import Record

SUREFIT = [sys.executable, "-m", "surefit"]
QUICK = ["--budget", "600", "--folds", "2", "--models", "LinearRegression"]


def written(folder: Path, rows: int = 60) -> Path:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, rows))
    y = np.round(100 * a + 20 * rng.normal(size=rows)) / 8
    pa.csv.write_csv(pa.table({"a": a, "b": b, "y": y}), folder / "t.csv")
    return folder / "t.csv"


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no report, which takes longer than the study."""
    monkeypatch.setattr("surefit.report.write", lambda record, predictions, path: path)


def learn(table: Path, *more: object) -> Done:
    return call("learn", table, "--target", "y", "--out", table.parent / "o", *more)


@pytest.mark.usefixtures("undrawn")
def test_a_final_fit_that_does_not_converge_ends_with_four(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(surefit.HuberRegressor.__init__.__kwdefaults__, "max_iter", 1)
    table = written(tmp_path)
    done = learn(table, "--budget", 1e-3, "--folds", 5, "--models", "HuberRegressor", "--json")
    assert done.code == 4
    assert "surefit: the fit of HuberRegressor did not converge" in done.err
    assert done.json["chosen"]["certificate"]["holds"] is False  # the result is there all the same
    assert done.json["answer"][2].startswith("Worry about the fit, which did not converge")
    assert Record.load(tmp_path / "o" / "report.json").chosen.name == "HuberRegressor"


@pytest.mark.usefixtures("undrawn")
def test_what_was_left_out_is_said_with_the_reason(tmp_path: Path) -> None:
    table = written(tmp_path)
    done = learn(table, "--budget", 1e-6, "--models", "LinearRegression,RidgeCV,DecisionTreeRegressor")
    assert done.code == 0
    [line] = [line for line in done.out.splitlines() if line.startswith("Left out: ")]
    assert line.startswith("Left out: Ridge regression, Decision tree: the time was over before its turn")
    assert "(2 more could not be compared)" in done.out
    record = Record.load(tmp_path / "o" / "report.json")
    assert record.unsuited == {}  # for models were named
    from surefit.study.race.candidates import unsuited

    assert set(unsuited("regression", np.array([-1.0, 0.5]))) == {"Poisson regression", "Gamma regression"}
    assert "which costs need" in unsuited("classification", np.array([0, 1]), costs=True).popitem()[1]


def watched(command: list[str], columns: int) -> tuple[str, str, int]:
    """Run a program with its standard error on a terminal; what it wrote to each, and its exit code."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "NO_COLOR": "1"}
    shown: list[bytes] = []

    def read() -> None:
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # nobody writes any more
                return
            if not piece:
                return
            shown.append(piece)

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment) as process:
        os.close(theirs)
        reader = threading.Thread(target=read)
        reader.start()
        assert process.stdout is not None
        out = process.stdout.read().decode()
        reader.join()
    os.close(ours)
    return out, b"".join(shown).decode(), process.returncode


def test_a_terminal_shows_the_scores_as_they_come_and_json_stays_clean(tmp_path: Path) -> None:
    command = [*SUREFIT, "learn", str(written(tmp_path)), "--target", "y", "--out", str(tmp_path / "o")]
    out, shown, code = watched([*command, *QUICK, "--json"], columns=60)
    assert code == 0, shown
    assert json.loads(out)["chosen"]["name"] == "LinearRegression"
    assert "seconds a fit" in shown  # the head of the live table
    assert "Linear regression" in shown
    assert "\x1b[1A" in shown  # it is drawn over itself
    assert "\x1b[31m" not in shown  # and without colours
    assert "drawing the report" in shown


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("form", ["folder", "latin-1"])
def test_other_tables_that_people_have(form: str, tmp_path: Path) -> None:
    table: Any = pa.csv.read_csv(written(tmp_path))
    if form == "folder":
        (tmp_path / "parts").mkdir()
        for start in (0, 25):
            pq.write_table(
                table.slice(start, 25 if start == 0 else None), tmp_path / "parts" / f"{start}.parquet"
            )
        done = learn(tmp_path / "parts", *QUICK, "--json")
        assert done.code == 0
        assert done.json["chosen"]["name"] == "LinearRegression"
        return
    (tmp_path / "l.csv").write_bytes("größe,y\n1,2\n3,4\n".encode("latin-1"))
    refused(learn(tmp_path / "l.csv", *QUICK), "l.csv is not in UTF-8: line 1", "save it as UTF-8")
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("target", ["empty", "same"])
def test_a_target_that_tells_nothing_leaves_nothing_behind(target: str, tmp_path: Path) -> None:
    columns = {"a": np.arange(30.0), "empty": pa.nulls(30, pa.float64()), "same": ["x"] * 30}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    done = call("learn", tmp_path / "t.parquet", "--target", target, "--out", tmp_path / "o")
    refused(done, f"the target {target!r} has")
    assert not (tmp_path / "o").exists()


def test_a_folder_that_cannot_be_made_is_said_before_anything_is_compared(tmp_path: Path) -> None:
    (tmp_path / "o").write_text("a file")
    done = learn(written(tmp_path), *QUICK)
    refused(done, "cannot be made")
    assert "Linear regression" not in done.err
    assert (tmp_path / "o").read_text() == "a file"


@pytest.mark.parametrize("verb", ["audit", "predict"])
def test_nobody_reads_on_and_nobody_complains(verb: str, tmp_path: Path) -> None:
    import surefit

    table = written(tmp_path, 20_000)
    model = tmp_path / "m.safetensors"
    surefit.save(surefit.LinearRegression().fit(str(table), "y"), model)
    given = [table] if verb == "audit" else [model, table]
    with subprocess.Popen(
        [*SUREFIT, verb, *map(str, given)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        told = process.stderr.read().decode()
    assert "Traceback" not in told
    assert "Exception" not in told
