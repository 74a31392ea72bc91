"""One-hot encoding: find the levels of each column, then one indicator a level, as a sparse matrix.

polars has indicators only as dense columns, ten gigabytes here, so its row does what a user would: codes by
dense ranks, put together into a sparse matrix.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

LEVELS = 1000


def make(rows: int, columns: int, words: bool) -> Data:
    """Return codes, every level at least once, and for words the marker that they are to be words."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, LEVELS, (rows, columns))
    X[:LEVELS] = np.arange(LEVELS)[:, None]
    return {"X": X, "words": np.array(words)}


def cells(data: Data) -> dict[str, Any]:
    """Turn codes into words where the case is about words: one object a level, as readers of files make."""
    if not data["words"]:
        return {"X": data["X"]}
    return {"X": np.array([f"level {k:04d}" for k in range(LEVELS)], dtype=object)[data["X"]]}


def error(data: Data, result: Any) -> float:
    """Return the largest difference of a count of indicators, and of the sum of a row from the columns."""
    expected = np.concatenate([np.bincount(column, minlength=LEVELS) for column in data["X"].T])
    sums = np.asarray(result.sum(axis=0)).ravel()
    per_row = np.asarray(result.sum(axis=1)).ravel()
    gap = np.abs(sums - expected).max() + np.abs(per_row - data["X"].shape[1]).max()
    columns = np.asarray(result[:100].tocsr().indices).reshape(100, -1)
    codes = data["X"][:100] + LEVELS * np.arange(data["X"].shape[1])
    return float(gap + np.abs(np.sort(columns, axis=1) - codes).max())


def surefit_one_hot(data: dict[str, Any]) -> Any:
    """Our encoder."""
    from surefit import OneHotEncoder

    return OneHotEncoder().fit_transform(data["X"])


def sklearn_one_hot(data: dict[str, Any]) -> Any:
    """scikit-learn's."""
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder().fit_transform(data["X"])


def dask_ml_one_hot(data: dict[str, Any]) -> Any:
    """dask-ml's, over chunks of an array."""
    import dask.array as da
    from dask_ml.preprocessing import OneHotEncoder

    X = da.from_array(data["X"], chunks=(len(data["X"]) // 4, -1))
    return OneHotEncoder().fit_transform(X).compute()


def polars_ranks(data: dict[str, Any]) -> Any:
    """Dense ranks of each column by polars, then a CSR matrix of them."""
    import polars as pl
    from scipy.sparse import csr_array

    frame = pl.DataFrame({str(j): column for j, column in enumerate(data["X"].T)})
    codes = frame.select(pl.all().rank("dense").cast(pl.Int32) - 1).to_numpy()
    rows, columns = codes.shape
    starts = np.concatenate([[0], np.cumsum(codes.max(axis=0) + 1)]).astype(np.int32)
    indices = np.ascontiguousarray(codes + starts[:-1]).ravel()
    ends = np.arange(0, rows * columns + 1, columns, dtype=np.int32)
    return csr_array((np.ones(len(indices)), indices, ends), shape=(rows, int(starts[-1])))


def case(name: str, rows: int, columns: int, words: bool) -> Case:
    """Return a case with its least work: the cells read, and indices, values and row ends written."""
    return Case(
        name, partial(make, rows, columns, words), bytes=rows * columns * (8.0 + 4.0 + 8.0) + 4.0 * rows
    )


TASK = Task(
    title=f"One-hot encoding with {LEVELS} levels a column",
    cases=[
        case("1e6 x 10, whole numbers", 10**6, 10, False),
        case("1e6 x 10, words", 10**6, 10, True),
    ],
    quick=case("5000 x 3, words", 5000, 3, True),
    contenders=[
        Contender(
            "surefit",
            surefit_one_hot,
            ["surefit.models.prepare.encoders.one_hot_encoder"],
            ours=True,
            prepare=cells,
        ),
        Contender("scikit-learn", sklearn_one_hot, ["sklearn.preprocessing"], prepare=cells),
        Contender("dask-ml", dask_ml_one_hot, ["dask_ml.preprocessing"], prepare=cells),
        Contender("polars ranks + scipy", polars_ranks, ["polars", "scipy.sparse"], prepare=cells),
    ],
    quality=Quality("wrong cells", error, better="lower"),
)
