"""``surefit cluster`` as a person uses it: groups, a report, a model for new rows, a script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from tests.e2e.cli import call, refused


def table(path: Path) -> Path:
    rng = np.random.default_rng(0)
    group = np.arange(120) % 3
    names = np.array(["red <b>", "blue", "green"])
    columns = {
        "id": [f"u{i:05}" for i in range(120)],
        "size": rng.normal(4.0 * group, 0.4).round(3),
        "colour": names[group].tolist(),
    }
    pyarrow.csv.write_csv(pa.table(columns), path)
    return path


def test_groups_report_model_and_script(tmp_path: Path) -> None:
    place, out = table(tmp_path / "t.csv"), tmp_path / "groups"
    done = call("cluster", place, "--out", out, "--json")
    assert done.code == 0
    assert done.json["clusters"] == 3
    assert sorted(group["size"] for group in done.json["groups"]) == [40.0, 40.0, 40.0]
    rows = pyarrow.csv.read_csv(out / "groups.csv")
    assert rows.column_names == ["id", "size", "colour", "group"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "red <b>" not in page
    assert "3 groups of rows" in page
    again = call("predict", out / "model.safetensors", place)
    assert again.code == 0
    assert [int(line) for line in again.out.split()[1:] if line.isdigit()] == rows["group"].to_pylist()
    proved = call("verify", out / "model.safetensors", place, "--json")  # there is no truth to be named
    assert proved.code == 0
    assert proved.json["holds"]
    assert proved.json["target"] is None
    ran = subprocess.run(
        [sys.executable, out / "script.py", place, tmp_path / "again.safetensors"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "within the tolerance" in ran.stdout


def test_a_number_that_is_asked_for_and_bad_input(tmp_path: Path) -> None:
    place = table(tmp_path / "t.csv")
    done = call("cluster", place, "-k", 2, "--out", tmp_path / "two", "--drop", "colour")
    assert done.code == 0
    assert "2 groups, as asked for" in done.out
    refused(call("cluster", place, "--drop", "size", "--drop", "colour"), "no column is left to group by")
