"""Standardising: the mean and deviation of each column, then every cell less the one over the other.

In one case the means lie far from zero, where the textbook formula E[x^2] - E[x]^2 has no digits left.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

CHECKED = 5  # columns on which the exact answer is computed


def make(rows: int, columns: int, offset: float) -> Data:
    """Return normal data with means near ``offset``, and some columns' exact mean and deviation."""
    X = np.random.default_rng(0).standard_normal((rows, columns))
    X += offset
    checked = np.linspace(0, columns - 1, CHECKED).astype(int)
    exact = [X[:, j].astype(np.longdouble) for j in checked]
    moments = [[float(z.mean()), float((z - z.mean()).std())] for z in exact]
    return {"X": X, "checked": checked, "moments": np.array(moments)}


def error(data: Data, result: Any) -> float:
    """Return the largest difference from the standardised first thousand rows of the checked columns."""
    mean, deviation = data["moments"].T
    expected = (data["X"][:1000, data["checked"]] - mean) / deviation
    return float(np.abs(np.asarray(result[:1000])[:, data["checked"]] - expected).max())


def surefit_scaler(data: Data) -> Any:
    """Our scaler."""
    from surefit import StandardScaler

    return StandardScaler().fit_transform(data["X"])


def sklearn_scaler(data: Data) -> Any:
    """scikit-learn's."""
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(data["X"])


def numpy_scaler(data: Data) -> Any:
    """What one writes by hand."""
    X = data["X"]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def dask_ml_scaler(data: Data) -> Any:
    """dask-ml's, over chunks of an array."""
    import dask.array as da
    from dask_ml.preprocessing import StandardScaler

    X = da.from_array(data["X"], chunks=(len(data["X"]) // 4, -1))
    return StandardScaler().fit_transform(X).compute()


def polars_frame(data: Data) -> dict[str, Any]:
    """A frame of the columns, which a user of polars has at hand."""
    import polars as pl

    return {"frame": pl.DataFrame({str(j): column for j, column in enumerate(data["X"].T)})}


def polars_scaler(data: dict[str, Any]) -> Any:
    """polars' expressions on all columns."""
    import polars as pl

    return data["frame"].select((pl.all() - pl.all().mean()) / pl.all().std(ddof=0))


def case(name: str, rows: int, columns: int, offset: float = 0.0) -> Case:
    """Return a case with its least work: X read twice, once for the moments, and the result written."""
    return Case(name, partial(make, rows, columns, offset), bytes=3 * 8.0 * rows * columns)


TASK = Task(
    title="Standardising columns, float64",
    cases=[case("1e6 x 100", 10**6, 100), case("1e6 x 100, means 1e6", 10**6, 100, offset=1e6)],
    quick=case("3000 x 10, means 1e3", 3000, 10, offset=1e3),
    contenders=[
        Contender("surefit", surefit_scaler, ["surefit.models.prepare.scalers.standard_scaler"], ours=True),
        Contender("scikit-learn", sklearn_scaler, ["sklearn.preprocessing"]),
        Contender("numpy", numpy_scaler, ["numpy"]),
        Contender("dask-ml", dask_ml_scaler, ["dask_ml.preprocessing"]),
        Contender("polars", polars_scaler, ["polars"], prepare=polars_frame),
    ],
    quality=Quality("largest error", error, better="lower", absolute=1e-8),
)
