"""Memory beside the batches: threads that read Parquet share one open row group."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefit
from surefit.data.checks.cells import Checked
from surefit.data.readers.parquet import PIECES, WHOLE
from surefit.data.source import MappedSource
from surefit.data.stream import BATCH_BYTES
from surefit.engine.base import choose_engine
from surefit.stats.moments import Moments

COLUMNS, ROWS = 25, 60_000
MEGABYTE = 2**20

PROGRAM = """
import re, sys
import pyarrow as pa
from tests.budget.test_reading_memory import moments
def resident(key):
    return int(re.search(key + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
moments(sys.argv[2])
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = resident("VmRSS")
assert moments(sys.argv[1]) == int(sys.argv[3])
print(resident("VmHWM") - before)
"""


def write(path: Path, groups: int, rows: int = ROWS) -> Path:
    """Random numbers in row groups that are larger than a batch: pages and dictionaries are full."""
    rng = np.random.default_rng(0)
    schema = pa.schema([(f"c{j}", pa.float64()) for j in range(COLUMNS)])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(groups):
            X = rng.standard_normal((COLUMNS, rows))
            writer.write_table(pa.table(list(X), schema=schema), row_group_size=rows)
    return path


def moments(path: str | Path) -> int:
    """Reading, checking and adding up, on two threads."""
    source = surefit.read(path)
    checked = MappedSource(source, source.schema, Checked("moments"))
    with surefit.config(n_threads=2):
        return int(choose_engine(checked).accumulate(partial(Moments.of, target=False), checked).rows)


def test_two_threads_hold_one_row_group_open(tmp_path, monkeypatch):
    path = write(tmp_path / "t.parquet", groups=4)
    held: list[int] = []
    opened = pq.ParquetFile.iter_batches

    def counted(self, *arguments, **settings):
        held.append(1)
        try:
            yield from opened(self, *arguments, **settings)
        finally:
            held.append(-1)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", counted)
    monkeypatch.setattr("surefit.data.readers.parquet.WHOLE", 0)  # as if the row groups were very large
    assert moments(path) == 4 * ROWS
    assert max(np.cumsum(held)) == 1
    assert len(held) == 8


def test_a_row_group_that_is_decoded_at_once_is_few_batches(tmp_path):
    """Each batch costs a conversion of every column and a join of sums, whatever its size."""
    path = write(tmp_path / "t.parquet", groups=1, rows=200_000)
    assert 8 * COLUMNS * 200_000 <= WHOLE
    assert [len(batch) for batch in surefit.read(path)] == PIECES * [200_000 // PIECES]


def test_arrow_holds_little_more_than_one_reader(tmp_path):
    """What one thread's reader takes by itself, and a few batches that wait for their turn."""
    path = write(tmp_path / "t.parquet", groups=4)
    code = (
        "import sys; import pyarrow as pa; from tests.budget.test_reading_memory import alone, moments; "
        "(alone if sys.argv[2] == 'alone' else moments)(sys.argv[1]); "
        "print(pa.default_memory_pool().max_memory())"
    )
    alone, together = (
        int(subprocess.run([sys.executable, "-c", code, str(path), how], **RUN).stdout)
        for how in ("alone", "together")
    )
    assert together <= alone + 3 * BATCH_BYTES
    assert together < 100 * MEGABYTE


def alone(path: str) -> None:
    """Read batch after batch with one thread."""
    with surefit.config(n_threads=1):
        for _ in surefit.read(path):
            pass


RUN = {
    "capture_output": True,
    "text": True,
    "check": True,
    "env": {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
}


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak cannot be started anew")
@pytest.mark.parametrize(
    "rows", [ROWS, WHOLE // (8 * COLUMNS)], ids=["small groups", "the largest read whole"]
)
def test_two_threads_hold_two_runs_and_a_piece(tmp_path, rows):
    """All that the process takes while it reads, batches included.

    One thread may decode a run while the other still has the last piece of the run before, as it was decoded
    and as rows.
    """
    groups = 6 * ROWS // rows + 2
    large, tiny = write(tmp_path / "large.parquet", groups, rows), write(tmp_path / "tiny.parquet", 1, 1000)
    arguments = [sys.executable, "-c", PROGRAM, str(large), str(tiny), str(groups * rows)]
    most = max(100 * MEGABYTE, (2 + 1 / PIECES) * 8 * COLUMNS * rows + 4 * BATCH_BYTES)
    assert int(subprocess.run(arguments, **RUN).stdout) < most
