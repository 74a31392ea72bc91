"""The demonstration, as a person runs it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import surefit
from surefit.cli.demo import TABLE, TARGET, _proof, _write_table


def test_it_learns_proves_races_and_ends_with_the_report(tmp_path: Path) -> None:
    call = [sys.executable, "-m", "surefit", "demo", "--out", "here", "--budget", "600"]
    call += ["--models", "LinearRegression,RidgeCV"]
    done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert lines[0].startswith(
        "$ surefit learn diabetes.csv --target progression --budget 600 --out . --models"
    )
    assert len(lines) <= 30
    story = " ".join(done.stdout.split())
    assert "Verified from file and data: holds" in story
    assert "times as fast" in story
    assert lines[-1] == f"The report: {(tmp_path / 'here' / 'report.html').resolve()}"
    page = (tmp_path / "here" / "report.html").read_text(encoding="utf-8")
    assert "Predicting <bdi>progression</bdi>" in page
    [said] = re.findall("<code>(surefit verify [^<]*)</code>", page)
    checked = subprocess.run([sys.executable, "-m", *shlex.split(said)], cwd=tmp_path / "here", check=True)
    assert checked.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_model_that_was_tampered_with_is_caught(tmp_path: Path) -> None:
    _write_table(tmp_path)
    model = surefit.make_pipeline(surefit.TablePreparer(), surefit.LinearRegression())
    model.fit(tmp_path / f"{TABLE}.csv", TARGET)
    surefit.save(model, tmp_path / "model.safetensors")
    honest, tampered = _proof(tmp_path)
    assert honest.startswith("Verified from file and data: holds")
    assert "does NOT hold" in tampered
    assert not (tmp_path / "tampered.safetensors").exists()
