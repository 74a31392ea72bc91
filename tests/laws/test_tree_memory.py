"""Trees, forests and boosting of a table larger than the memory allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems do not keep to a limit of the address space"
)
COLUMNS = 8
MEGABYTE = 2**20

# The first lines load what any fit needs; the limit then leaves so much for the table.
PROGRAM = """
import re, resource, sys
import numpy as np
import surefit
from surefit.models.tree.boosting import rows as boosting_rows
from surefit.models.tree.streams import boosted_growth, setup, tree_growth, tree_stream
folder, tiny, rows, total, beyond = *sys.argv[1:3], *map(int, sys.argv[3:])
models = [
    surefit.HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=4, early_stopping=False),
    surefit.DecisionTreeRegressor(split_search="histogram", max_depth=2),
    surefit.RandomForestClassifier(2, max_depth=2, random_state=0),
]
gathered = boosting_rows.MOST_BYTES, setup.MOST_BYTES
boosting_rows.MOST_BYTES = setup.MOST_BYTES = 0
targets = ["y", "y", "label"]
if beyond:  # a tree by itself grows as one of a forest does
    del models[1], targets[1]
for model, target in zip(models, targets):
    surefit.verify(model.fit(tiny, target), tiny, target)
boosting_rows.MOST_BYTES, setup.MOST_BYTES = (beyond, beyond) if beyond else gathered
if beyond:
    boosted_growth.MOST_BYTES = tree_growth.MOST_BYTES = tree_stream.MOST_BYTES = beyond // 8
used = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
limit = total or used + beyond
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
with surefit.config(n_threads=2):  # each thread holds a batch
    for model, target in zip(models, targets):
        model.fit(folder, target)
        print(surefit.verify(model, folder, target).holds)
try:
    np.empty(8 * rows)  # the eight columns of numbers
except MemoryError:
    print("the whole does not fit")
"""


def write(folder: Any, gigabytes: float, files: int) -> int:
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = int(gigabytes * 2**30 / 8 / COLUMNS / files)
    for number in range(files):
        X = rng.normal(size=(COLUMNS, rows))
        table = {f"x{j}": column for j, column in enumerate(X)}
        table |= {"y": X[0] + X[1] * X[2], "label": (X[0] > 0).astype(int)}
        path = folder / f"{number:04d}.parquet"
        pq.write_table(pa.table(table), path, compression="none", use_dictionary=False)
    return rows * files


def run(tmp_path: Any, gigabytes: float, files: int, *, total: int = 0, beyond: int = 0) -> None:
    rows = write(tmp_path / "large", gigabytes, files)
    write(tmp_path / "tiny", 1e-4, 1)
    frugal = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "2"}
    frugal["TMPDIR"] = str(tmp_path)
    numbers = map(str, (rows, total, beyond))
    arguments = [sys.executable, "-c", PROGRAM, str(tmp_path / "large"), str(tmp_path / "tiny"), *numbers]
    try:
        done = subprocess.run(
            arguments, capture_output=True, text=True, env={**os.environ, **frugal}, timeout=3000
        )
    finally:
        shutil.rmtree(tmp_path / "large")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True"] * (2 if beyond else 3) + ["the whole does not fit"]


def test_120_megabytes_in_100(tmp_path: Any) -> None:
    run(tmp_path, 0.12, 24, beyond=100 * MEGABYTE)


@pytest.mark.slow
def test_4_gigabytes_in_one_and_a_half(tmp_path: Any) -> None:
    run(tmp_path, 4, 16, total=1536 * MEGABYTE)
