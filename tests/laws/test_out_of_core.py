"""A table larger than the memory allowed is fitted and predicted a batch at a time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems do not keep to a limit of the address space"
)
COLUMNS = 8
MEGABYTE = 2**20

# The first lines load what any reading needs; the limit then leaves so much for the table.
PROGRAM = """
import re, resource, sys
import numpy as np, pyarrow.parquet as pq
import surefit
folder, tiny, out, total, beyond = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
models = [surefit.MeanRegressor(), surefit.GaussianNB()]
for model, target in zip(models, ["x0", "label"]):
    model.fit(tiny, target).predict(tiny, to=out)
used = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
limit = total or used + beyond
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
with surefit.config(n_threads=2):  # each thread holds a batch
    for model, target in zip(models, ["x0", "label"]):
        model.fit(folder, target).predict(folder, to=out)
print(repr(models[0].mean_[0]), *models[1].class_prior_.tolist(), pq.ParquetFile(out).metadata.num_rows)
try:
    np.empty(8 * pq.ParquetFile(out).metadata.num_rows)  # the eight columns of numbers
except MemoryError:
    print("the whole does not fit")
"""


def write(folder, gigabytes, files):
    """Write random numbers and a label; return the mean of the first column and the shares of the labels."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = int(gigabytes * 2**30 / 8 / COLUMNS / files)
    sums, counts = [], np.zeros(2)
    for number in range(files):
        X = rng.normal(size=(COLUMNS, rows)) + 1
        label = rng.integers(0, 2, rows)
        table = pa.table({f"x{j}": column for j, column in enumerate(X)} | {"label": label})
        pq.write_table(table, folder / f"{number:04d}.parquet", compression="none", use_dictionary=False)
        sums.append(X[0].sum())
        counts += np.bincount(label, minlength=2)
    return sum(sums) / (rows * files), counts / counts.sum(), rows * files


@pytest.fixture
def tmp_path(tmp_path):
    """A folder that goes at once: pytest keeps those of the last three runs, which are gigabytes here."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def run(tmp_path, gigabytes, files, *, total=0, beyond=0):
    mean, shares, rows = write(tmp_path / "large", gigabytes, files)
    write(tmp_path / "tiny", 1e-4, 1)
    # Arrow's own allocator and the C library's arenas reserve address space by the gigabyte and never use it.
    frugal = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "2"}
    folders = [tmp_path / "large", tmp_path / "tiny", tmp_path / "out.parquet"]
    arguments = [sys.executable, "-c", PROGRAM, *map(str, folders), str(total), str(beyond)]
    done = subprocess.run(
        arguments, capture_output=True, text=True, env={**os.environ, **frugal}, timeout=3000
    )
    assert done.returncode == 0, done.stderr
    numbers, verdict = done.stdout.splitlines()
    found = [float(text.removeprefix("np.float64(").rstrip(")")) for text in numbers.split()]
    np.testing.assert_allclose(found, [mean, *shares, rows], rtol=1e-12)
    assert verdict == "the whole does not fit"


def test_200_megabytes_in_150(tmp_path):
    run(tmp_path, 0.2, 8, beyond=150 * MEGABYTE)


@pytest.mark.slow
def test_4_gigabytes_in_one_and_a_half(tmp_path):
    run(tmp_path, 4, 16, total=1536 * MEGABYTE)
