"""Typed tables survive every form: kinds, levels, missing cells, dates, booleans, unicode throughout."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.forms import NAMED

import surefit

FORMS = [
    "arrow table",
    "pandas",
    "polars",
    "polars lazy",
    "Parquet",
    "CSV",
    "Feather",
    "iterator of tables",
    "JSON lines",
]
MICROSECOND = datetime.timedelta(microseconds=1)
EPOCH = datetime.datetime(1970, 1, 1)
LETTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))
# Text files know types by their looks alone, so a word must not look like a number, a date or a missing cell.
words = st.text(LETTERS | st.sampled_from(',"\n;\t '), max_size=8).map(lambda text: f"w{text}w")
CELLS = {
    "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53).map(float),
    "boolean": st.booleans(),
    "date": st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1)),
    "category": words,
}
TYPES = {"number": pa.float64(), "boolean": pa.bool_(), "date": pa.timestamp("us"), "category": pa.string()}


@st.composite
def tables(draw):
    """Columns of any kind, by name: kind and cells, None where missing."""
    names = draw(st.lists(st.text(LETTERS, min_size=1, max_size=6), min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(1, 12))
    columns = {}
    for name in names:
        kind = draw(st.sampled_from(sorted(CELLS)))
        columns[name] = kind, draw(st.lists(CELLS[kind] | st.none(), min_size=rows, max_size=rows))
    return columns


def arrow_of(columns):
    arrays = [pa.array(cells, type=TYPES[kind]) for kind, cells in columns.values()]
    return pa.table(arrays, names=list(columns))


def cells_of(source, index):
    """The cells of a column as Python values, decoded by the schema."""
    column = source.schema.columns[index]
    found = []
    for batch in source:
        stored, gone = batch.X.column(index), batch.X.missing(index)
        for value, missing in zip(stored.tolist(), gone, strict=True):
            found.append(None if missing else _decoded(column, value))
    return found


def _decoded(column, value):
    if column.kind == "category":
        return column.levels[value]
    if column.kind == "boolean":
        return bool(value)
    return (
        EPOCH + datetime.timedelta(microseconds=round(value * 86_400_000_000))
        if column.kind == "date"
        else value
    )


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30, deadline=None)
@given(columns=tables())
def test_a_typed_table_survives(form, columns):
    with tempfile.TemporaryDirectory() as folder:
        # A name may be a number, which a CSV file is asked about.
        header = True if form.startswith(("CSV", "TSV")) else None
        source = surefit.read(NAMED[form](arrow_of(columns), Path(folder)), header=header)
        assert source.schema.names == tuple(columns)
        for index, (kind, cells) in enumerate(columns.values()):
            found = cells_of(source, index)
            if any(cell is not None for cell in cells):
                column = source.schema.columns[index]
                assert column.kind == kind
                if kind == "category":
                    assert column.levels.tolist() == sorted({cell for cell in cells if cell is not None})
            if kind == "date":
                # A float64 of days resolves a microsecond, which rounding may move by one.
                assert [cell is None for cell in found] == [cell is None for cell in cells]
                assert all(
                    abs(a - b) <= MICROSECOND for a, b in zip(found, cells, strict=True) if a is not None
                )
            else:
                assert found == cells
        parts = [batch for part in source.parts() for batch in part]
        assert sum(map(len, parts)) == len(next(iter(columns.values()))[1])


@pytest.mark.parametrize(
    "form", ["arrow table", "pandas", "Parquet", "Feather", "iterator of tables", "arrow reader"]
)
def test_an_ordered_dictionary_keeps_its_order(form, tmp_path):
    sizes = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, None, 2] * 15, pa.int8()), pa.array(["small", "medium", "large"]), ordered=True
    )
    source = surefit.read(NAMED[form](pa.table({"size": sizes}), tmp_path))
    assert source.schema.columns[0].levels.tolist() == ["small", "medium", "large"]
    assert np.concatenate([batch.X.codes[:, 0] for batch in source]).tolist() == [2, 0, -1, 2] * 15


def test_levels_are_one_set_over_all_files(tmp_path):
    for name, cells in {"1": ["b", "c"], "2": [None, "a"], "3": [None, None]}.items():
        pa.parquet.write_table(pa.table({"c": pa.array(cells, pa.string())}), tmp_path / f"{name}.parquet")
    source = surefit.read(tmp_path)
    assert source.schema.columns[0].levels.tolist() == ["a", "b", "c"]
    assert [batch.X.codes[:, 0].tolist() for batch in source] == [[1, 2], [-1, 0], [-1, -1]]


def test_many_distinct_strings_are_text(tmp_path):
    cells = [f"id-{number}" for number in range(10_001)]
    source = surefit.read(NAMED["Parquet"](pa.table({"id": [*cells, None]}), tmp_path))
    assert source.schema.columns[0].kind == "text"
    assert [text for batch in source for text in batch.X.texts[0]] == [*cells, None]


def test_a_model_reads_new_text_by_the_kinds_that_it_was_fitted_on(tmp_path):
    from surefit.data.read import read_like

    (tmp_path / "old.csv").write_text("zip,size\nA1,1\n07,2.5\n")
    (tmp_path / "new.csv").write_text("size,zip,more\n3,07,x\n,99,y\n")
    fitted = surefit.read(tmp_path / "old.csv").schema.columns
    assert [column.kind for column in fitted] == ["category", "number"]
    (batch,) = read_like(tmp_path / "new.csv", fitted)
    assert batch.X.codes[:, 0].tolist() == [
        0,
        -2,
    ]  # 07 is a level, though all of its column look like numbers
    np.testing.assert_array_equal(batch.X.numbers[:, 0], [3.0, np.nan])


def test_a_column_that_changes_its_looks_late_is_one_kind_throughout(tmp_path, monkeypatch):
    monkeypatch.setattr("surefit.data.readers.csv.BLOCK", 256)
    lines = ["code,flag,day", *(f"{n},true,2024-02-{n % 28 + 1:02d}" for n in range(500)), "x7,maybe,soon"]
    (tmp_path / "late.csv").write_text("\n".join(lines))
    source = surefit.read(tmp_path / "late.csv")
    assert [column.kind for column in source.schema.columns] == ["category"] * 3
    assert source.schema.rows == 501
    assert len(list(source)) > 10  # so that the change comes in another block than the first
    assert sum(int((batch.X.codes < 0).sum()) for batch in source) == 0


@pytest.mark.parametrize("spelt", ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", '""'])
def test_missing_cells_of_text_files(spelt, tmp_path):
    (tmp_path / "t.csv").write_text(f"a,b,c\n1,true,x\n{spelt},{spelt},{spelt}\n")
    source = surefit.read(tmp_path / "t.csv")
    assert [column.kind for column in source.schema.columns] == ["number", "boolean", "category"]
    (batch,) = source
    assert [batch.X.missing(index).tolist() for index in range(3)] == [[False, True]] * 3


def test_an_array_of_text_is_a_table():
    array = np.array([["a", 1.5, True], ["b", None, False]], dtype=object)
    source = surefit.read(array)
    assert [(column.name, column.kind) for column in source.schema.columns] == [
        ("x0", "category"),
        ("x1", "number"),
        ("x2", "boolean"),
    ]
    records = np.array([("a", 2.0)], dtype=[("name", "U1"), ("size", "f8")])
    assert [column.kind for column in surefit.read(records).schema.columns] == ["category", "number"]
