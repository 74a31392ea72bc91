"""Means and centred second moments of a folder of Parquet files larger than a cache, read batch by batch.

The floor is reading alone: what a fit adds to it is what counts. pyarrow reads by a dataset, by batches of a
file or by row groups, each with all threads; the quickest of the three is the floor. polars computes means
and variances only, a fiftieth of the second moments.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

COLUMNS = 50
_folders: list[tempfile.TemporaryDirectory[str]] = []  # removed when the runner ends


def make(files: int, rows: int) -> Data:
    """Write Parquet files of random numbers in 50 columns; return where they are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tempfile.TemporaryDirectory(prefix="surefit-parquet-")
    _folders.append(folder)
    rng = np.random.default_rng(0)
    for k in range(files):
        X = rng.standard_normal((COLUMNS, rows))
        table = pa.table({f"c{j}": X[j] for j in range(COLUMNS)})
        pq.write_table(
            table, Path(folder.name) / f"{k:03d}.parquet", row_group_size=200_000, compression="snappy"
        )
    return {"folder": np.array([folder.name]), "rows": np.array([files * rows])}


def where(data: Data) -> str:
    """Return the folder of the files."""
    return str(data["folder"][0])


def reading_alone(folder: str) -> int:
    """Decode every column of every file, and let it go."""
    import pyarrow.dataset as ds

    return sum(batch.num_rows for batch in ds.dataset(folder).to_batches())


def reading_batches(folder: str) -> int:
    """Decode file after file, batch by batch."""
    import pyarrow.parquet as pq

    rows = 0
    for path in sorted(Path(folder).glob("*.parquet")):
        with pq.ParquetFile(path) as opened:
            rows += sum(batch.num_rows for batch in opened.iter_batches(use_threads=True))
    return rows


def reading_row_groups(folder: str) -> int:
    """Decode file after file, a row group at a time."""
    import pyarrow.parquet as pq

    rows = 0
    for path in sorted(Path(folder).glob("*.parquet")):
        with pq.ParquetFile(path) as opened:
            rows += sum(opened.read_row_group(k).num_rows for k in range(opened.num_row_groups))
    return rows


def surefit_moments(folder: str) -> int:
    """One pass through the door, the engine and the statistic."""
    from surefit.data.checks.cells import Checked
    from surefit.data.read import read
    from surefit.data.source import MappedSource
    from surefit.engine.base import choose_engine
    from surefit.stats.moments import Moments

    source = read(folder)
    checked = MappedSource(source, source.schema, Checked("benchmark"))
    return int(choose_engine(checked).accumulate(partial(Moments.of, target=False), checked).rows)


def surefit_least_squares(folder: str) -> int:
    """A whole fit: one column from all others, with certificate and diagnosis."""
    from surefit import LinearRegression

    return int(LinearRegression().fit(folder, "c0").statistic_.rows)


def surefit_ridge(folder: str) -> int:
    """A whole ridge fit."""
    from surefit import Ridge

    return int(Ridge().fit(folder, "c0").statistic_.rows)


def polars_variances(folder: str) -> int:
    """Means and variances, streamed."""
    import polars as pl

    every = pl.scan_parquet(f"{folder}/*.parquet")
    found: Any = every.select(
        pl.len().alias("n"), pl.all().mean().name.suffix("_m"), pl.all().var().name.suffix("_v")
    )
    return int(found.collect(engine="streaming")["n"][0])


def dask_covariance(folder: str) -> int:
    """The covariance of a Dask data frame, on the threads of this process."""
    import dask.dataframe as dd

    frame = dd.read_parquet(f"{folder}/*.parquet")
    frame.cov().compute(scheduler="threads")
    return len(frame)


def missed(data: Data, rows: int) -> float:
    """Return the number of rows that were not read."""
    return float(abs(int(data["rows"][0]) - rows))


TASK = Task(
    title="Moments of a Parquet folder, 50 columns",
    cases=[Case("5 GB", partial(make, 25, 500_000), bytes=25 * 500_000 * COLUMNS * 8.0)],
    quick=Case("4 MB", partial(make, 2, 5_000), bytes=2 * 5_000 * COLUMNS * 8.0),
    contenders=[
        Contender("surefit moments", surefit_moments, ["surefit"], ours=True, prepare=where),
        Contender("surefit LinearRegression", surefit_least_squares, ["surefit"], ours=True, prepare=where),
        Contender("surefit Ridge", surefit_ridge, ["surefit"], ours=True, prepare=where),
        Contender("pyarrow dataset, reading alone", reading_alone, ["pyarrow.dataset"], prepare=where),
        Contender("pyarrow batches, reading alone", reading_batches, ["pyarrow.parquet"], prepare=where),
        Contender(
            "pyarrow row groups, reading alone", reading_row_groups, ["pyarrow.parquet"], prepare=where
        ),
        Contender("polars, means and variances", polars_variances, ["polars"], prepare=where),
        Contender("dask covariance", dask_covariance, ["dask.dataframe"], prepare=where),
    ],
    quality=Quality("rows missed", missed, better="lower"),
    timeout=300.0,
    budget=240.0,
)
