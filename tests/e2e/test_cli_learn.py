"""``surefit learn`` as a person runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.e2e.studies import inside

from surefit.cli import group as main
from surefit.study.record import Record

QUICK = ["--budget", "600", "--folds", "2", "--models", "LinearRegression"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    y = 3 * x[:, 0] + rng.normal(size=40)
    rows = [f"{a:.6f},{b:.6f},{c:.6f}" for (a, b), c in zip(x, y, strict=True)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["a,[red]b[/red]\x1b[31m,y", *rows]))
    return path


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no report, which takes longer than the study."""
    monkeypatch.setattr("surefit.report.write", lambda record, predictions, path: path)


def run(*given: object, **options: object) -> Result:
    return CliRunner().invoke(main, ["learn", *map(str, given)], **options)  # type: ignore[arg-type]


def test_a_table_becomes_a_model_a_report_and_files_beside_them(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "study"
    found = run(table, "--target", "y", "--out", out, *QUICK)
    assert found.exit_code == 0, found.output
    names = {path.name for path in out.iterdir()}
    assert names == {"model.safetensors", "predictions.parquet", "report.html", "report.json", "script.py"}
    record = Record.load(out / "report.json")
    for sentence in record.answer:
        assert sentence in found.stdout
    assert "Linear regression" in found.stdout
    assert "\x1b" not in found.stdout + found.stderr  # neither colours nor what a name smuggles in
    assert "regression: y is a number" in found.stderr
    assert "reading" in found.stderr.splitlines()[0]
    assert (out / "report.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.usefixtures("undrawn")
def test_json_is_one_object_and_progress_stays_out_of_it(table: Path, tmp_path: Path) -> None:
    given = [table, "--target", "y", "--out", tmp_path / "o", "--json", "--fail-on", "r2_score<0.1"]
    found = run(*given, *QUICK)
    assert found.exit_code == 0
    told = json.loads(found.stdout)
    assert told["chosen"]["name"] == "LinearRegression"
    assert [entry["name"] for entry in told["leaderboard"]] == ["LinearRegression", "MeanRegressor"]
    assert len(told["answer"]) == 3


@pytest.mark.usefixtures("undrawn")
def test_a_gate_that_fails_ends_with_three(table: Path, tmp_path: Path) -> None:
    given = [table, "--target", "y", "--out", tmp_path / "o", *QUICK]
    assert run(*given, "--fail-on", "r2_score<0.999").exit_code == 3
    assert run(*given, "--fail-on", "nonsense<1").exit_code == 2


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (["nowhere.csv", "--target", "y"], 1, "no file or folder"),
        (["TABLE", "--target", "why"], 1, "no target named 'why'"),
        (["TABLE"], 2, "--target"),
        (["TABLE", "--target", "y", "--budget", "0"], 2, "--budget"),
        (["TABLE", "--target", "y", "--costs", "1"], 2, "two numbers"),
        (["TABLE", "--target", "y", "--costs", "1,2"], 1, "two classes"),
        (["TABLE", "--target", "y", "--models", "Nonsense"], 1, "no model 'Nonsense'"),
        (["TABLE", "--target", "y", "--metric", "accuracy_score"], 1, "no score of a regression"),
    ],
    ids=["file", "target", "no target", "budget", "costs", "classes", "models", "metric"],
)
def test_bad_input_is_one_sentence_without_a_traceback(
    table: Path, tmp_path: Path, given: list[str], code: int, words: str
) -> None:
    named = [str(table) if each == "TABLE" else each for each in given]
    found = run(*named, "--out", tmp_path / "o")
    assert found.exit_code == code, found.output
    assert words in found.stderr
    assert "Traceback" not in found.output


def test_broken_quotes_are_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "broken.csv"
    path.write_text('a,y\n1,"2\n3,4\n' + "5,6\n" * 30)
    found = run(path, "--target", "y", "--out", tmp_path / "o")
    assert found.exit_code == 1
    assert found.stderr.count("Traceback") == 0


@pytest.mark.usefixtures("undrawn")
def test_a_table_can_be_piped_in(table: Path, tmp_path: Path) -> None:
    found = run("-", "--target", "y", "--out", tmp_path / "o", *QUICK, input=table.read_bytes())
    assert found.exit_code == 0, found.output
    assert Record.load(tmp_path / "o" / "report.json").table.name == "standard input"


@pytest.mark.usefixtures("undrawn")
def test_flags_overrule_what_was_decided(tmp_path: Path) -> None:
    csv = inside("palmerpenguins", "data/penguins.csv")
    found = run(
        csv, "--target", "body_mass_g", "--kind", "year=category", "--drop", "island",
        "--out", tmp_path / "o", *QUICK,
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    record = Record.load(tmp_path / "o" / "report.json")
    columns = {column.name: column for column in record.columns}
    assert columns["year"].kind == "category"
    assert not columns["island"].used
    assert "year: category (as specified" in found.stderr


def test_nothing_heavy_is_imported_before_the_first_line() -> None:
    code = (
        "import sys, surefit.cli.learn; print([m for m in ('numpy', 'sklearn', 'rich') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# A study whose folds after the first take so long that it cannot end before the interrupt reaches it.
SLOW = """
import time
from surefit.cli import main
from surefit.study.race.nested_fold import Work
whole, done = Work.__call__, []
def slow(self, *given):
    time.sleep(len(done))
    done.append(None)
    return whole(self, *given)
Work.__call__ = slow
main()
"""


@pytest.mark.usefixtures("undrawn")
def test_ctrl_c_leaves_a_state_that_resumes(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    given = [
        str(table),
        "--target",
        "y",
        "--out",
        str(out),
        "--budget",
        "600",
        "--models",
        "LinearRegression",
    ]
    program = [sys.executable, "-c", SLOW, "learn", *given, "--folds", "20"]
    running = subprocess.Popen(
        program, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"}
    )
    end = time.monotonic() + 120
    while not list(out.glob("unfinished/fold-*")) and time.monotonic() < end and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=120)
    assert running.returncode == 130, told
    assert "--resume" in told
    kept = len(list(out.glob("unfinished/fold-*")))
    assert kept > 0
    found = run(*given, "--folds", 20, "--resume")
    assert found.exit_code == 0, found.output
    assert not (out / "unfinished").exists()
