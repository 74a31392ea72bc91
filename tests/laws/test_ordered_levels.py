"""Ordered categories keep the order that was declared with them, in memory and in every kind of file."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.preprocessing import OrdinalEncoder as SklearnOrdinalEncoder

import surefit
from surefit.core.errors import DataError

ORDER = ["small", "medium", "large", "huge"]
CELLS = ["large", "small", None, "large", "medium"]
CODES = [2, 0, -1, 2, 1]


def arrow(cells=CELLS, order=ORDER, ordered=True):
    codes = pa.array([None if cell is None else order.index(cell) for cell in cells], pa.int8())
    return pa.table({"size": pa.DictionaryArray.from_arrays(codes, pa.array(order), ordered=ordered)})


def pandas():
    return pd.DataFrame({"size": pd.Categorical(CELLS, categories=ORDER, ordered=True)})


def polars():
    return pl.DataFrame({"size": pl.Series(CELLS, dtype=pl.Enum(ORDER))})


def saved(write, ending):
    def form(folder):
        write(folder / f"t.{ending}")
        return folder / f"t.{ending}"

    return form


FORMS = {
    "arrow table": lambda folder: arrow(),
    "pandas": lambda folder: pandas(),
    "polars": lambda folder: polars(),
    "polars lazy": lambda folder: polars().lazy(),
    "dask": lambda folder: dd.from_pandas(pandas(), npartitions=2),
    "Parquet of pandas": saved(lambda path: pandas().to_parquet(path), "parquet"),
    "Parquet of polars": saved(lambda path: polars().write_parquet(path), "parquet"),
    "Arrow of polars": saved(lambda path: polars().write_ipc(path), "arrow"),
    "Feather of pandas": saved(lambda path: pandas().to_feather(path), "feather"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_keeps_the_order(form, tmp_path):
    source = surefit.read(FORMS[form](tmp_path))
    (column,) = source.schema.columns
    assert (column.kind, column.ordered, column.levels.tolist()) == ("category", True, ORDER)
    assert np.concatenate([batch.X.codes[:, 0] for batch in source]).tolist() == CODES


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow table"])
def test_the_schema_of_a_model_and_its_file_keep_the_order(form, tmp_path):
    """The encoder itself sorts, as scikit-learn's does; the schema knows better."""
    table = FORMS[form](tmp_path)
    model = surefit.OrdinalEncoder().fit(table)
    theirs = SklearnOrdinalEncoder().fit(pandas())
    assert model.categories_[0][:-1].tolist() == theirs.categories_[0][:-1].tolist()
    surefit.save(model, tmp_path / "m.safetensors")
    for known in (model, surefit.load(tmp_path / "m.safetensors")):
        (column,) = known._schema.columns
        assert (column.ordered, column.levels.tolist()) == (True, ORDER)


def test_what_declares_no_order_has_none():
    for table in (arrow(ordered=False), pandas().astype(str), pd.DataFrame({"size": pd.Categorical(CELLS)})):
        (column,) = surefit.read(table).schema.columns
        assert not column.ordered
        assert column.levels.tolist() == sorted(column.levels)


def test_the_classes_of_an_ordered_target_are_those_that_occur():
    table = arrow(["large", "small", "large"]).append_column("x", pa.array([1.0, 2.0, 3.0]))
    model = surefit.MajorityClassifier().fit(table, "size")
    assert list(model.classes_) == ["large", "small"]
    assert surefit.MajorityClassifier().fit(
        table.to_pandas()[["x"]], table["size"].to_pandas()
    ).classes_.tolist() == [
        "large",
        "small",
    ]


def write(folder, *tables):
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


def test_files_may_lack_levels_of_others(tmp_path):
    folder = write(tmp_path, arrow(["small"], ["small", "large"]), arrow(), arrow(["huge"], ["huge"]))
    source = surefit.read(folder)
    assert source.schema.columns[0].levels.tolist() == ORDER
    assert np.concatenate([batch.X.codes[:, 0] for batch in source]).tolist() == [0, *CODES, 3]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            arrow(["large"], ["large", "small"]),
            r"disagree on the order of column 'size': small, medium, large, huge in .*0.parquet, "
            r"but large, small in .*1.parquet; write it with one order\.",
        ),
        (
            arrow(["tiny"], ["tiny"], ordered=False),
            r"column 'size' is ordered, small, medium, large, huge, but some rows hold tiny: write",
        ),
    ],
    ids=["another order", "a level outside"],
)
def test_files_that_contradict_each_other(other, message, tmp_path):
    with pytest.raises(DataError, match=message) as caught:
        surefit.read(write(tmp_path, arrow(), other))
    assert "\n" not in str(caught.value)


def test_partitions_that_contradict_each_other():
    parts = [table.to_pandas() for table in (arrow(["small"]), arrow(["large"], ["large", "small"]))]
    frame = dd.from_map(lambda number: parts[number], [0, 1], meta=parts[0].iloc[:0])
    with pytest.raises(DataError, match="disagree on the order of column 'size'"):
        surefit.read(frame)
