"""Every kind of bad table in every form gets one sentence with its culprit, and the model stays as it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefit

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

ROWS = 8
GOOD = pd.DataFrame({"a": np.arange(ROWS) ** 2 / 7, "b": np.cos(np.arange(ROWS)), "y": np.arange(ROWS) % 2})
GOOD["w"] = 1.0


def arrays(frame: pd.DataFrame, folder: Any) -> tuple[Any, ...]:
    return frame.iloc[:, :-2].to_numpy(), frame["y"].to_numpy(), frame["w"].to_numpy()


def frames(frame: pd.DataFrame, folder: Any) -> tuple[Any, ...]:
    return frame.iloc[:, :-2], frame["y"], frame["w"]


def polars(frame: pd.DataFrame, folder: Any) -> tuple[Any, ...]:
    return pl.from_pandas(frame.iloc[:, :-2]), frame["y"], frame["w"]


def parquet(frame: pd.DataFrame, folder: Any) -> tuple[Any, ...]:
    columns = [pa.array(column, from_pandas=True) for _, column in frame.items()]
    pq.write_table(pa.table(columns, names=list(frame.columns)), folder / "t.parquet")
    return folder / "t.parquet", "y", "w"


def csv(frame: pd.DataFrame, folder: Any) -> tuple[Any, ...]:
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv", "y", "w"


def dask_frame(frame: pd.DataFrame, folder: Any) -> tuple[Any, ...]:
    return dd.from_pandas(frame, npartitions=2), "y", "w"


def dask_arrays(frame: pd.DataFrame, folder: Any) -> tuple[Any, ...]:
    return tuple(da.from_array(np.asarray(values), chunks=3) for values in arrays(frame, folder))


FORMS = {form.__name__: form for form in (arrays, frames, polars, parquet, csv, dask_frame, dask_arrays)}


def cell(column: str, value: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Put a value into row 6 of a column; beside a word, numbers are words too."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        cells = frame[column].astype(type(value)).tolist()
        cells[6] = value
        return frame.assign(**{column: cells})

    return change


# What is wrong, how it is done, and what the sentence must name.
BAD = {
    "infinite": (cell("b", np.inf), r"infini.*'(b|x1)'|'(b|x1)'.*infini.*row 6"),
    "minus infinite": (cell("b", -np.inf), r"infini.*'(b|x1)'|'(b|x1)'.*infini.*row 6"),
    "missing": (cell("b", np.nan), r"1 cells are missing.*'(b|x1)' \(1\).*SimpleImputer"),
    "all missing": (lambda frame: frame.assign(b=np.nan), r"cells are missing.*'(b|x1)' \(\d\)"),
    "text": (cell("b", "oops"), r"numbers?\b.*('b'|'oops')|'b'.* a number|Dask array holds object"),
    "a target that is missing": (cell("y", np.nan), r"target of row 6 is missing|y contains NaN"),
    "a negative weight": (cell("w", -2.0), r"sample_weight of row 6 is -2"),
    "a weight that is missing": (cell("w", np.nan), r"sample_weight of row 6 is nan"),
    "no weight": (lambda frame: frame.assign(w=0.0), r"every sample_weight is zero"),
    "no rows": (lambda frame: frame.iloc[:0], r"no rows|0 sample"),
    "a name twice": (lambda frame: frame.set_axis(["a", "a", "y", "w"], axis=1), r"two columns named 'a'"),
    "no columns": (lambda frame: frame[["y", "w"]], r"no column|0 (feature|column)"),
}
CASES = [
    pytest.param(form, *BAD[what], id=f"{what}, {name}")
    for name, form in FORMS.items()
    for what in BAD
    if what != "a name twice" or name not in ("arrays", "polars", "dask_arrays")  # these cannot
]


@pytest.mark.parametrize(("form", "change", "words"), CASES)
def test_one_sentence_and_nothing_changed(form, change, words, tmp_path):
    with dask.config.set(scheduler="synchronous"):
        X, y, weight = form(GOOD, tmp_path)
        models = [surefit.LinearRegression(), surefit.GaussianNB()]
        before = [dict(model.fit(X, y, sample_weight=weight).__dict__) for model in models]
        X, y, weight = form(change(GOOD), tmp_path)
        for model, known in zip(models, before, strict=True):
            for method in (model.fit, model.partial_fit):
                with pytest.raises(ValueError, match=words) as caught:
                    method(X, y, sample_weight=weight)
                assert re.search(r"[^\n][.?]$", str(caught.value)), str(caught.value)
                assert "\n" not in str(caught.value)
                assert model.__dict__.keys() == known.keys()
                assert all(model.__dict__[name] is value for name, value in known.items())


@pytest.mark.parametrize("bad", [np.nan, np.inf, "word"])
def test_columns_that_are_numbered_are_named_by_their_number(bad):
    frame = pd.DataFrame([[0.0, 1.0], [1.0, 5.0], [2.0, 2.0]], dtype=object if bad == "word" else float)
    frame.iloc[1, 1] = bad
    with pytest.raises(ValueError, match="'1'"):
        surefit.Ridge().fit(frame, [0.0, 1.0, 2.0])
