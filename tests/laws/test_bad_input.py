"""Bad input gets one clear sentence that names the culprit, and changes nothing."""

from __future__ import annotations

import gzip
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import surefit
from surefit.core.errors import DataError
from surefit.data.source import is_source

TABLE = pa.table({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0], "y": [7.0, 8.0, 9.0]})


@pytest.fixture
def model():
    return surefit.MeanRegressor().fit([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0])


def refused(model, message, *arguments, **settings):
    """The fit fails with this one sentence, and the model is as it was."""
    before = dict(model.__dict__)
    with pytest.raises(DataError, match=message) as caught:
        model.fit(*arguments, **settings)
    sentence = str(caught.value)
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence
    assert model.__dict__ == before
    assert model.predict([[0.0, 0.0]]).tolist() == [5.5]


def changed(column, cells):
    return TABLE.set_column(TABLE.schema.names.index(column), column, pa.array(cells))


def write(folder, **tables):
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return folder


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (changed("a", ["1", "x", "3"]), r"'a' would be numbers but for 'x': correct or empty"),
        (changed("a", ["1", "x", "3"]), "MeanRegressor works on numbers, but 1 of the columns are not: 'a'"),
        (changed("a", [1.0, np.inf, 3.0]), "column 'a' holds an infinite value in row 1: "),
        (changed("a", [None, None, None]), r"cannot use missing values, and 3 cells are missing.*'a' \(3\)"),
        (changed("a", [1.0, None, 3.0]), r"1 cells are missing in rows 0 to 2: 'a' \(1\)\. Fill them"),
        (changed("y", [1.0, None, 3.0]), "the target of row 1 is missing"),
        (
            changed("y", ["u", "v", "w"]),
            "predicts numbers, but the target 'y' is a category: use a classifier",
        ),
        (changed("a", [[1], [2], [3]]), "column 'a' holds list<.*which surefit does not support"),
        (TABLE.slice(0, 0), "the table has no rows"),
        (TABLE.select(["y"]), "no column left for X"),
        (pa.table([TABLE["a"], TABLE["b"], TABLE["y"]], names=["a", "a", "y"]), "two columns named 'a'"),
        (TABLE.rename_columns(["a", "b", "yy"]), "no target named 'y': did you mean 'yy'"),
    ],
)
@pytest.mark.parametrize("form", ["table", "Parquet", "reader"])
def test_a_bad_table(model, table, message, form, tmp_path):
    if form == "Parquet":
        pq.write_table(table, tmp_path / "t.parquet")
        table = tmp_path / "t.parquet"
    elif form == "reader":
        table = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    refused(model, message, table, "y")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0, 1.0], "sample_weight of row 1 is -1; weights must be finite and not negative"),
        ([1.0, 1.0, np.nan], "sample_weight of row 2 is nan"),
        ([np.inf, 1.0, 1.0], "sample_weight of row 0 is inf"),
        ([0.0, 0.0, 0.0], "every sample_weight is zero, so no row counts"),
        (["x", "y", "z"], "the weight 'w' holds string: weights must be numbers"),
    ],
)
def test_bad_weights(model, weights, message):
    refused(model, message, TABLE.append_column("w", pa.array(weights)), "y", sample_weight="w")


@pytest.mark.parametrize(
    ("what", "beside", "message"),
    [
        (np.ones((3, 2, 1)), {}, "the array has 3 dimensions: a table has two"),
        (np.ones(3), {}, "the array has 1 dimensions"),
        (np.ones((3, 2), dtype=complex), {}, "the array holds complex128"),
        (np.ones((3, 2)), {"target": [1.0, 2.0]}, r"the target has shape \(2,\), but X has 3 rows"),
        (np.ones((3, 2)), {"target": "price"}, "no column 'price', for an array has no names"),
        (np.array([["a", 1], [2.5, "b"]], dtype=object), {}, "column 'x0' mixes types"),
        (TABLE, {"target": [1.0]}, r"the target has shape \(1,\), but the table has 3 rows"),
        (TABLE, {"columns": ["a", "q"]}, "no column named 'q'"),
        (TABLE, {"columns": "ab"}, "columns is a list of names, not the text 'ab'"),
        (TABLE, {"columns": ["a", "a"]}, "columns names 'a' twice"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "the frame has two columns named 'a'"),
        (pd.DataFrame({"a": [1, "x"]}), {}, "column 'a' mixes types"),
        (object(), {}, "surefit cannot read a object; it reads "),
        (iter([]), {}, "the iterator gave no batch"),
        (iter([TABLE, np.ones((2, 3))]), {}, "batch 1 of the iterator is of another form than the first"),
        (
            iter([np.ones((2, 3)), np.ones((2, 4))]),
            {},
            "batch 1 of the iterator has 4 dense columns.*has 3 dense",
        ),
        (iter([(np.ones((2, 3)), [1.0])]), {}, r"batch 0 of the iterator: the target has shape \(1,\)"),
        (
            iter([TABLE, changed("a", ["x", "y", "z"])]),
            {},
            "disagree on column 'a': string in .*1.*double in .*0",
        ),
        (iter([3]), {}, "batch 0 of the iterator is a int"),
        (iter([TABLE]), {"target": [1.0, 2.0, 3.0]}, "the target must name a column"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read(what, beside, message):
    with pytest.raises(DataError, match=message) as caught:
        surefit.read(what, **beside)
    assert "\n" not in str(caught.value)


def test_bad_rows_of_plain_sources(model):
    X, y = np.ones((4, 2)), np.arange(4.0)
    endless, sparse = X.copy(), sp.csr_array(np.diag([1.0, 2.0, np.nan, 4.0])[:, 1:3])
    endless[2, 1] = np.inf
    refused(model, "column 'x1' holds an infinite value in row 2", surefit.read(endless, target=y))
    refused(model, "column 'x1' holds nan in row 2", surefit.read(sparse, target=y))
    refused(
        model, "the target of row 3 is missing", surefit.read(X, target=np.array([1.0, 2.0, 3.0, np.nan]))
    )
    refused(
        model, "the target holds something else than numbers", surefit.read(X, target=["a", "b", "c", "d"])
    )
    refused(model, "MeanRegressor requires y", surefit.read(X))
    with pytest.raises(DataError, match="takes one target a row"):
        surefit.MajorityClassifier().fit(surefit.read(X, target=X))
    with pytest.raises(DataError, match="has more than 1000 distinct numbers"):
        surefit.MajorityClassifier().fit(surefit.read(np.ones((1001, 1)), target=np.arange(1001) / 7))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            changed("b", ["p", "q", "r"]),
            "disagree on column 'b': string in .*2.parquet, but double in .*1.parquet",
        ),
        (changed("b", [True, False, True]), "disagree on column 'b': bool in .*2.parquet"),
        (TABLE.drop_columns(["b"]), "2.parquet has no column 'b', but .*1.parquet has"),
        (
            TABLE.append_column("extra", TABLE["a"]),
            "2.parquet has a column 'extra', but .*1.parquet has none",
        ),
    ],
)
def test_files_that_disagree(model, other, message, tmp_path):
    refused(model, message, write(tmp_path, **{"1": TABLE, "2": other}), "y")


def test_files_that_agree_well_enough(tmp_path):
    whole = changed("a", [1, 2, 3]).select(["y", "b", "a"])
    folder = write(tmp_path, **{"1": TABLE, "2": whole, "3": changed("b", pa.nulls(3)).slice(0, 0)})
    assert surefit.MeanRegressor().fit(folder, "y").n_features_in_ == 2


def test_headers_that_disagree(model, tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n1,2\n")
    (tmp_path / "2.csv").write_text("b,y\n1,2\n")
    refused(model, "2.csv has no column 'a', but .*1.csv has", tmp_path, "y")
    (tmp_path / "2.csv").write_text("a,a\n1,2\n")
    refused(model, "2.csv has two columns named 'a'", tmp_path, "y")


def half(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    return path


def test_files_that_end_half_way(model, tmp_path):
    big = pa.table({name: np.arange(5000.0) for name in "aby"})
    pq.write_table(big, tmp_path / "t.parquet")
    refused(model, "t.parquet cannot be read; it is damaged, truncated", half(tmp_path / "t.parquet"), "y")
    for name, opened in {"t.arrow": pa.ipc.new_file, "t.arrows": pa.ipc.new_stream}.items():
        with opened(tmp_path / name, big.schema) as writer:
            writer.write_table(big, max_chunksize=100)
        refused(model, f"{name} cannot be read; it is damaged", half(tmp_path / name), "y")
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,3\n4,5")
    refused(model, "t.csv cannot be read; .*Expected 3 columns, got 2", tmp_path / "t.csv", "y")
    (tmp_path / "t.jsonl").write_text('{"a": 1, "y": 2}\n{"a": 1, "y"')
    refused(model, "t.jsonl cannot be read; .*JSON", tmp_path / "t.jsonl", "y")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b,y\n" + b"1,2,3\n" * 5000))
    refused(model, r"t.csv.gz cannot be read; .*", half(tmp_path / "t.csv.gz"), "y")


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.arrow", "t.jsonl"])
def test_an_empty_file(model, name, tmp_path):
    (tmp_path / name).touch()
    refused(model, f"{name} is empty: remove it", tmp_path / name, "y")


def test_a_header_alone(model, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n")
    refused(model, "the table has no rows", tmp_path / "t.csv", "y")


def test_paths_that_lead_nowhere(model, tmp_path):
    refused(model, "there is no file or folder .*nowhere", tmp_path / "nowhere", "y")
    refused(model, "the folder .* holds no data file", tmp_path, "y")
    refused(model, r"the pattern .*\*.parquet holds no data file", f"{tmp_path}/*.parquet", "y")
    pq.write_table(TABLE, tmp_path / "sales.parquet")
    refused(
        model,
        "there is no file or folder .*sale.parquet: did you mean 'sales.parquet'?",
        f"{tmp_path}/sale.parquet",
        "y",
    )
    pa.csv.write_csv(TABLE, tmp_path / "more.csv")
    refused(model, "mixes formats, more.csv and sales.parquet", tmp_path, "y")
    (tmp_path / "notes.txt").write_text("a,b")
    refused(model, "cannot tell the format of .*notes.txt", tmp_path / "notes.txt", "y")


def test_a_file_that_vanishes_or_changes_half_way(tmp_path):
    folder = write(tmp_path, **{"1": TABLE, "2": TABLE})
    source = surefit.read(folder, target="y")
    passing = iter(source)
    next(passing)
    (folder / "2.parquet").unlink()
    with pytest.raises(DataError, match=r"2.parquet is gone: it was removed"):
        list(passing)
    write(tmp_path, **{"2": TABLE.slice(1)})
    with pytest.raises(DataError, match=r"2.parquet was changed while it was being read"):
        list(source)


def test_a_wrong_cell_in_new_rows(tmp_path):
    (tmp_path / "old.csv").write_text("a,b,y\n1,2,3\n")
    model = surefit.MeanRegressor().fit(tmp_path / "old.csv", "y")
    (tmp_path / "new.csv").write_text("b,a\n1,2\n1,two\n")
    with pytest.raises(
        DataError, match=r"new.csv: column 'a' should hold a number, but has an invalid value 'two'"
    ):
        model.predict(tmp_path / "new.csv")
    with pytest.raises(DataError, match=r"the table lacks 1 of the columns .*: b"):
        model.predict(pa.table({"a": [1.0]}))
    with pytest.raises(
        DataError, match="column 'b' was a number when the model was fitted, but is a category here"
    ):
        model.predict(pa.table({"a": [1.0], "b": ["x"]}))
    with pytest.raises(DataError, match="the table has no rows"):
        model.predict(pa.table({"a": pa.array([], pa.float64()), "b": pa.array([], pa.float64())}))


EMPTY = {
    "table": lambda folder: TABLE.slice(0, 0),
    "source": lambda folder: surefit.read(TABLE.slice(0, 0), target="y"),
    "lazy frame": lambda folder: surefit.read(pl.LazyFrame(TABLE.slice(0, 0)), target="y"),
    "no batches": lambda folder: NoBatches(),
}


class NoBatches:
    """A source of the user's own, which does not know beforehand that it has no rows."""

    schema = replace(surefit.read(TABLE, target="y").schema, rows=None)

    def __iter__(self):
        return iter(())

    def parts(self):
        return (self,)


@pytest.mark.parametrize("form", [*EMPTY, "header alone", "Parquet"])
@pytest.mark.parametrize("cls", [surefit.MeanRegressor, surefit.LinearRegression, surefit.StandardScaler])
def test_nothing_to_verify_predict_or_transform(cls, form, tmp_path):
    """A table without rows is refused in the same words wherever it is handed in."""
    known = cls().fit(surefit.read(TABLE, target="y"))
    if form == "header alone":
        (tmp_path / "t.csv").write_text("a,b,y\n")
    elif form == "Parquet":
        pq.write_table(TABLE.slice(0, 0), tmp_path / "t.parquet")
    what = EMPTY[form](tmp_path) if form in EMPTY else next(tmp_path.iterdir())
    named = what if is_source(what) else surefit.read(what, target="y")
    ways = [lambda: surefit.verify(known, named), lambda: known.fit(named)]
    ways.append(lambda: (known.transform if cls is surefit.StandardScaler else known.predict)(what))
    for way in ways:
        with pytest.raises(DataError, match=r"^the table has no rows\.$"):
            way()


def test_a_lazy_frame_is_told_apart_without_asking_for_its_schema():
    """polars warns of the cost of asking."""
    frame = pl.LazyFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_source(frame)
        scaler = surefit.StandardScaler().fit(frame)
        assert is_source(scaler.transform(frame))
        with pytest.raises(DataError, match="inverse_transform takes"):
            scaler.inverse_transform(frame)


def test_types_that_clash_in_json_lines(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": "x"}\n')
    with pytest.raises(DataError, match=r"t.jsonl: column .a. |t.jsonl cannot be read"):
        surefit.read(tmp_path / "t.jsonl")


def test_damage_inside_of_a_parquet_file_is_noticed(model, tmp_path):
    """Where the pages have checksums."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: np.arange(5000.0) for name in "aby"}), path, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[2000:2100] = bytes(100)
    path.write_bytes(content)
    refused(model, "t.parquet cannot be read; it is damaged", path, "y")


def test_spilled_files_go_with_their_source(tmp_path, monkeypatch):
    import gc

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for what in (iter([np.ones((10, 3))]), pl.LazyFrame({"a": [1.0]})):
        source = surefit.read(what)
        (part,) = source.parts()
        assert len(list(tmp_path.glob("surefit-*/*"))) == 1
        del source
        gc.collect()
        assert sum(map(len, part)) >= 1  # a part keeps the files alive
        del part
        gc.collect()
        assert list(tmp_path.iterdir()) == []


def test_to_needs_a_known_ending(model, tmp_path):
    with pytest.raises(DataError, match=r"cannot tell what to write from 'out.txt'"):
        model.predict(np.ones((2, 2)), to=tmp_path / "out.txt")
    with pytest.raises(DataError, match=r"the folder .* does not exist"):
        model.predict(np.ones((2, 2)), to=tmp_path / "no" / "out.csv")
