"""A disk that is full: one sentence, nothing half-written, and what was there before is still there."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import surefit
from surefit.core.errors import DataError


class FullDisk:
    """A file on a disk that is full after some bytes."""

    def __init__(self, file, room):
        self._file, self._room = file, room

    def write(self, data):
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()


@pytest.mark.parametrize("room", [0, 2000])
@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_a_disk_that_is_full_while_predicting(ending, room, tmp_path, monkeypatch):
    rows = pa.table({"a": np.arange(5000.0), "y": np.arange(5000.0)})
    model = surefit.MeanRegressor().fit(rows, "y")
    out = tmp_path / f"out.{ending}"
    out.write_text("as it was")
    opened = Path.open

    def nearly_full(path, mode="r", *arguments, **options):
        file = opened(path, mode, *arguments, **options)
        return FullDisk(file, room) if mode == "xb" else file

    monkeypatch.setattr(Path, "open", nearly_full)
    monkeypatch.setattr("surefit.data.readers.arrow_table.batch_rows", lambda size: 500)
    with pytest.raises(DataError, match=f"out.{ending} could not be written .*No space left"):
        model.predict(rows, to=out)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    assert out.read_text() == "as it was"


def test_a_disk_that_is_full_while_spilling(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened = pa.OSFile
    monkeypatch.setattr(pa, "OSFile", lambda name, mode="rb": FullDisk(opened(name, mode), 1000))
    with pytest.raises(DataError, match=r"the disk is full: .* set TMPDIR"):
        surefit.read(iter([np.ones((1000, 3))]))
    assert list(tmp_path.iterdir()) == []


FULL = """
import os, resource, signal, sys
import numpy as np, polars as pl, pyarrow as pa
import surefit
from surefit.core.errors import SurefitError
folder = sys.argv[1]
table = pa.table({"a": np.arange(1e4), "y": np.arange(1e4)})
model = surefit.MeanRegressor().fit(table, "y")
surefit.save(model, f"{folder}/old")
ways = {
    "save": lambda: surefit.save(model, f"{folder}/old"),
    "parquet": lambda: model.predict(table, to=f"{folder}/out.parquet"),
    "csv": lambda: model.predict(table, to=f"{folder}/out.csv"),
    "arrow": lambda: model.predict(table, to=f"{folder}/out.arrow"),
    "iterator": lambda: surefit.read(iter([table])),
    "reader": lambda: surefit.read(table.to_reader()),
    "lazy frame": lambda: surefit.read(pl.LazyFrame(table)),
    "checkpoint": lambda: surefit.MeanRegressor().fit(table, "y"),
}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
for name, way in ways.items():
    try:
        with surefit.config(checkpoint=f"{folder}/passes" if name == "checkpoint" else None):
            way()
    except SurefitError as error:
        print(name, type(error).__name__, error, sep="|")
assert surefit.load(f"{folder}/old").mean_ == model.mean_
print(*sorted(os.listdir(folder)), *os.listdir(f"{folder}/passes"))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have other limits")
def test_a_file_system_without_room(tmp_path):
    """A limit on the size of files stands for a full disk: each way of writing says so and leaves nothing."""
    spilled = tmp_path / "spilled"
    spilled.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TMPDIR": str(spilled)},
    )
    *lines, left = done.stdout.splitlines()
    told = {name: (kind, sentence) for name, kind, sentence in (line.split("|") for line in lines)}
    wanted = ["save", "parquet", "csv", "arrow", "iterator", "reader", "lazy frame", "checkpoint"]
    assert list(told) == wanted, done.stdout + done.stderr
    for name, (kind, sentence) in told.items():
        assert kind == ("EngineError" if name == "checkpoint" else "DataError")
        assert re.search("could not be written .File too large|the disk is full: .*TMPDIR", sentence), (
            sentence
        )
    assert left == "old passes spilled"
    assert list(spilled.iterdir()) == []
