"""Logistic regression on a folder of Parquet files, read batch by batch: each pass against reading alone.

The floor is decoding every file once. ``surefit, one pass`` is value, gradient and second derivatives of the
loss at a point, a whole step of the solver; the fit is made of some ten such passes. The figure of quality is
how many rows were missed. The report's column of memory says what a streamed fit holds.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task
from benchmarks.tasks.parquet import missed, reading_alone, reading_row_groups, where

COLUMNS = 50
_folders: list[tempfile.TemporaryDirectory[str]] = []  # removed when the runner ends


def make(files: int, rows: int) -> Data:
    """Write Parquet files of 50 normal columns and a class that follows from some; return where they are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tempfile.TemporaryDirectory(prefix="surefit-logistic-")
    _folders.append(folder)
    rng = np.random.default_rng(0)
    coef = rng.standard_normal(COLUMNS) / np.sqrt(COLUMNS)
    for k in range(files):
        X = rng.standard_normal((COLUMNS, rows))
        chance = 1.0 / (1.0 + np.exp(-2.0 * coef @ X))
        columns = {f"c{j}": X[j] for j in range(COLUMNS)}
        table = pa.table({**columns, "y": (rng.random(rows) < chance).astype(np.int64)})
        path = Path(folder.name) / f"{k:03d}.parquet"
        pq.write_table(table, path, row_group_size=200_000, compression="snappy")
    return {"folder": np.array([folder.name]), "rows": np.array([files * rows])}


def objective(folder: str) -> Any:
    """Return the objective of the fit, over the files."""
    from surefit.data.checks.cells import Checked
    from surefit.data.read import read
    from surefit.data.source import MappedSource
    from surefit.engine.base import choose_engine
    from surefit.losses import Logistic
    from surefit.penalties import L2
    from surefit.solvers.objective.base import Objective

    source = read(folder, target="y")
    checked = MappedSource(source, source.schema, Checked("benchmark"))
    return Objective(checked, choose_engine(checked), Logistic(), L2(1e-7))


def one_pass(folder: str, order: Any) -> int:
    """Evaluate the loss once, at a point that is not the start."""
    from surefit.stats.curvature import Curvature

    found = objective(folder)
    w = np.full(found.columns, 0.01)
    of = partial(Curvature.of, loss=found.loss, w=w, intercept=0.1, order=order)
    return round(found.accumulate(of).weight)


def whole_fit(folder: str) -> int:
    """Fit to the certificate of the default tolerance."""
    from surefit import LogisticRegression

    model = LogisticRegression().fit(folder, "y")
    if not model.certificate_.holds:
        raise RuntimeError(model.certificate_.statement)
    return rows_in(folder)


def rows_in(folder: str) -> int:
    """Return what the files say of their rows."""
    import pyarrow.dataset as ds

    return int(ds.dataset(folder).count_rows())


def case(files: int, rows: int, name: str) -> Case:
    """Return a case; the least work is to read the numbers once."""
    return Case(name, partial(make, files, rows), bytes=8.0 * files * rows * (COLUMNS + 1))


TASK = Task(
    title="Logistic regression on a Parquet folder, 50 columns",
    cases=[case(10, 200_000, "2e6 rows"), case(25, 400_000, "1e7 rows")],
    quick=case(2, 5_000, "1e4 rows"),
    contenders=[
        Contender("surefit, one pass", partial(one_pass, order=2), ["surefit"], ours=True, prepare=where),
        Contender("surefit, one gradient", partial(one_pass, order=1), ["surefit"], ours=True, prepare=where),
        Contender("surefit LogisticRegression", whole_fit, ["surefit"], ours=True, prepare=where),
        Contender("pyarrow dataset, reading alone", reading_alone, ["pyarrow.dataset"], prepare=where),
        Contender(
            "pyarrow row groups, reading alone", reading_row_groups, ["pyarrow.parquet"], prepare=where
        ),
    ],
    quality=Quality("rows missed", missed, better="lower"),
    timeout=600.0,
    budget=300.0,
)
