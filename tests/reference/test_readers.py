"""What surefit reads is what pandas, polars and pyarrow read from the same files."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import surefit
from surefit.core.errors import DataError

CSV = """name,count,share,when,seen,member
"Löwe, der",1,0.5,2024-02-29,2024-02-29 10:30:00,true
"a ""quoted"" one",-2,1e-3,1969-12-31,1999-01-01 00:00:01,false
"two
lines",,NA,,,
plain, 3 ,.25,1970-01-02,2024-12-31T23:59:59,TRUE
"""


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def column(source, name):
    index = source.schema.names.index(name)
    return np.concatenate([batch.X.column(index) for batch in source])


def test_csv_as_pandas_reads_it(csv):
    frame = pd.read_csv(csv, parse_dates=["when", "seen"], date_format="ISO8601")
    source = surefit.read(csv)
    kinds = {c.name: c.kind for c in source.schema.columns}
    assert kinds == {
        "name": "category",
        "count": "number",
        "share": "number",
        "when": "date",
        "seen": "date",
        "member": "boolean",
    }
    for name in ("count", "share"):
        np.testing.assert_array_equal(column(source, name), frame[name].to_numpy(float))
    for name in ("when", "seen"):
        days = (frame[name] - pd.Timestamp(0)) / pd.Timedelta(days=1)
        np.testing.assert_allclose(column(source, name), days, rtol=1e-15)
    np.testing.assert_array_equal(column(source, "member"), [1.0, 0.0, np.nan, 1.0])
    levels = source.schema.columns[0].levels
    assert levels[column(source, "name")].tolist() == frame["name"].tolist()


def test_csv_as_polars_reads_it(csv):
    frame = pl.read_csv(csv, null_values=["NA"])
    np.testing.assert_array_equal(column(surefit.read(csv), "share"), frame["share"].to_numpy())


def test_every_number_type_of_arrow():
    numbers = [0, 1, 100]
    types = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    types += [pa.float16(), pa.float32(), pa.float64(), pa.decimal128(10, 2), pa.decimal256(50, 3)]
    table = pa.table(
        [_cells(numbers, kind) for kind in types], names=[f"{n}-{kind}" for n, kind in enumerate(types)]
    )
    (batch,) = surefit.read(table)
    np.testing.assert_array_equal(
        batch.X.numbers, np.array([[0.0], [1.0], [100.0], [np.nan]]).repeat(13, axis=1)
    )


def _cells(numbers, kind):
    if pa.types.is_decimal(kind):
        return pa.array([*map(decimal.Decimal, numbers), None], kind)
    if kind == pa.float16():
        return pa.array([*map(np.float16, numbers), None], kind)
    return pa.array([*numbers, None], kind)


@pytest.mark.parametrize(
    "kind",
    [
        pa.date32(),
        pa.date64(),
        *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
        pa.timestamp("s", "Asia/Tokyo"),
    ],
    ids=str,
)
def test_every_date_type_of_arrow(kind):
    moment = datetime.datetime(2001, 9, 9, tzinfo=datetime.UTC)
    cell = moment.date() if pa.types.is_date(kind) else moment
    (batch,) = surefit.read(pa.table({"d": pa.array([cell, None], kind)}))
    np.testing.assert_array_equal(batch.X.numbers[:, 0], [11574.0, np.nan])


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(["b", None, "a"], pa.large_string()),
        pa.array(["b", None, "a"], pa.string_view()),
        pa.array(["b", None, "a"]).dictionary_encode(),
    ],
    ids=["large", "view", "dictionary"],
)
def test_every_string_type_of_arrow(cells):
    source = surefit.read(pa.table({"c": cells}))
    assert source.schema.columns[0].levels.tolist() == ["a", "b"]
    assert column(source, "c").tolist() == [1, -1, 0]


def test_whole_numbers_as_categories():
    frame = pd.DataFrame({"grade": pd.Categorical([3, 1, None, 3], categories=[3, 2, 1], ordered=True)})
    source = surefit.read(frame)
    assert source.schema.columns[0].levels.tolist() == [3, 2, 1]
    assert column(source, "grade").tolist() == [0, 2, -1, 0]


def test_types_without_a_kind_are_named():
    with pytest.raises(DataError, match="column 't' holds time64"):
        surefit.read(pa.table({"t": pa.array([datetime.time(1)])}))


def test_a_partitioned_folder_has_its_keys_as_columns(tmp_path):
    table = pa.table({"x": [1.0, 2.0, 3.0], "year": [2023, 2024, 2024], "land": ["b", "a", "b"]})
    pa.dataset.write_dataset(
        table, tmp_path, format="parquet", partitioning=["year", "land"], partitioning_flavor="hive"
    )
    source = surefit.read(tmp_path, target="x")
    assert [(c.name, c.kind) for c in source.schema.columns] == [("year", "number"), ("land", "category")]
    assert column(source, "year").tolist() == [2023, 2024, 2024]
    assert np.concatenate([batch.y for batch in source]).tolist() == [1.0, 2.0, 3.0]
    assert len(source.parts()) == 3


def test_a_filtered_dataset_keeps_its_filter(tmp_path):
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0]}), tmp_path / "t.parquet")
    filtered = pa.dataset.dataset(tmp_path).filter(pa.dataset.field("a") > 1)
    assert column(surefit.read(filtered), "a").tolist() == [2.0, 3.0]


@pytest.fixture
def asked(monkeypatch):
    """The columns of each reading of a Parquet file."""
    asked = []
    read = pq.ParquetFile.read_row_groups

    def counted(self, groups, columns, **settings):
        asked.append(tuple(columns))
        return read(self, groups, columns, **settings)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", counted)
    return asked


def test_only_the_columns_asked_for_are_read(tmp_path, asked):
    pq.write_table(pa.table({name: [1.0, 2.0] for name in "abcdef"}), tmp_path / "t.parquet")
    source = surefit.read(tmp_path / "t.parquet", target="f", weight="e", columns=["b", "a"])
    surefit.MeanRegressor().fit(source)
    assert asked == [("b", "a", "f", "e")]  # one pass, for numbers have no levels to find


def test_levels_and_labels_are_found_in_counted_passes(tmp_path, asked):
    table = pa.table({"c": ["u", "v"], "x": [1.0, 2.0], "label": ["p", "q"]})
    pq.write_table(table, tmp_path / "t.parquet")
    model = surefit.MajorityClassifier().fit(
        surefit.read(tmp_path / "t.parquet", target="label", columns=["x"])
    )
    assert asked == [("label",), ("x", "label")]
    model.predict(tmp_path / "t.parquet")
    assert asked[2:] == [("x",)]


def test_folders_are_read_in_the_order_of_names_and_hidden_files_passed_over(tmp_path):
    (tmp_path / "sub").mkdir()
    for number, name in enumerate(["b.parquet", "a.parquet", "sub/c.parquet"]):
        pq.write_table(pa.table({"x": [float(number)]}), tmp_path / name)
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_metadata.parquet", "notes.txt"):
        (tmp_path / name).write_text("no table")
    assert column(surefit.read(tmp_path), "x").tolist() == [1.0, 0.0, 2.0]
    assert column(surefit.read(f"{tmp_path}/**/[abc].parquet"), "x").tolist() == [1.0, 0.0, 2.0]


def test_what_dask_reads_stays_lazy_until_a_part_is_read():
    import dask

    ran = []

    @dask.delayed
    def partition(number):
        ran.append(number)
        return pd.DataFrame({"x": [float(number)], "c": ["ab"[number % 2]], "y": [1.0]})

    import dask.dataframe as dd

    meta = pd.DataFrame({"x": [0.0], "c": ["a"], "y": [0.0]}).iloc[:0]
    with dask.config.set(scheduler="synchronous"):
        source = surefit.read(
            dd.from_delayed([partition(n) for n in range(3)], meta=meta), target="y", columns=["x"]
        )
        parts = source.parts()
        ran.clear()  # reading the schema has counted the rows
        (batch,) = parts[1]
    assert ran == [1]
    assert (batch.start, batch.X.numbers.tolist(), batch.y.tolist()) == (1, [[1.0]], [1.0])


def test_dask_levels_are_found_where_the_data_are():
    import dask.dataframe as dd

    frame = pd.DataFrame({"c": list("bacab"), "y": [1.0, 0.0, 1.0, 0.0, 1.0]})
    source = surefit.read(dd.from_pandas(frame, npartitions=2, sort=False), target="y")
    assert source.schema.columns[0].levels.tolist() == ["a", "b", "c"]
    assert [batch.X.codes[:, 0].tolist() for part in source.parts() for batch in part] == [[1, 0, 2], [0, 1]]


def test_dask_parts_can_be_pickled():
    import pickle

    import dask.array as da

    X = np.arange(12.0).reshape(6, 2)
    source = surefit.read(da.from_array(X, chunks=(4, 1)), target=X[:, 0])
    again = [pickle.loads(pickle.dumps(part)) for part in source.parts()]
    np.testing.assert_array_equal(np.concatenate([batch.X for part in again for batch in part]), X)


@pytest.mark.parametrize("what", ["table.parquet", "table.csv", "folder of spilled batches"])
def test_parts_can_be_pickled(what, tmp_path):
    import pickle

    table = pa.table({"x": [1.0, 2.0, 3.0]})
    if what == "table.parquet":
        pq.write_table(table, tmp_path / what, row_group_size=1)
        source = surefit.read(tmp_path / what)
    elif what == "table.csv":
        table.to_pandas().to_csv(tmp_path / what, index=False)
        source = surefit.read(tmp_path / what)
    else:
        source = surefit.read(iter([table, table]))
    again = [pickle.loads(pickle.dumps(part)) for part in source.parts()]
    found = [cell for part in again for batch in part for cell in batch.X.column(0)]
    assert found[:3] == [1.0, 2.0, 3.0]
    del again
    assert sum(map(len, source)) == len(found)  # a copy that goes does not take the files along
