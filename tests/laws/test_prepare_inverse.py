"""The way back from a preparer's numbers to the typed table, and what cannot come back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.laws.test_prepare import EXPECTED, typed

import surefit
from surefit.core.errors import DataError
from surefit.data.source import is_source

each_purpose = pytest.mark.parametrize("purpose", EXPECTED)
LOST = ["key", "serial", "nothing"]  # identifiers, and a column without a value


def assert_same(back, frame, lost=LOST):
    """The table of a frame, up to rounding; what was lost is missing."""
    assert list(back.columns) == list(frame.columns)
    assert back[lost].isna().all(axis=None)
    for name in frame.columns.difference(lost):
        expected, found = frame[name], back[name]
        np.testing.assert_array_equal(found.isna(), expected.isna(), err_msg=name)
        there = expected.notna()
        if expected.dtype == float:
            np.testing.assert_allclose(found[there].astype(float), expected[there], rtol=1e-12)
        else:
            assert (found[there] == expected[there]).all(), name


@each_purpose
@pytest.mark.parametrize("sparse", [False, True])
def test_the_table_comes_back(purpose, sparse):
    frame = typed()
    model = surefit.TablePreparer(purpose, sparse_output=sparse).fit(frame)
    back = model.inverse_transform(model.transform(frame))
    assert isinstance(back, pa.Table)
    assert back.schema.field("new").type == pa.bool_()
    assert back.schema.field("sold").type == pa.timestamp("ms")
    assert back.schema.field("colour").type == pa.string()
    assert_same(back.to_pandas(), frame)


@each_purpose
def test_over_a_source_typed_rows_come_back(purpose, tmp_path):
    frame = typed()
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    for part in range(2):
        pa.parquet.write_table(arrow.slice(part * 40, 40), tmp_path / f"{part}.parquet")
    model = surefit.TablePreparer(purpose).fit(tmp_path)
    back = model.inverse_transform(model.transform(tmp_path))
    assert is_source(back)
    assert back.schema.names == tuple(frame.columns)
    again = surefit.TablePreparer(purpose).fit(back)
    keep = [name for name in model.get_feature_names_out() if not name.startswith(tuple(LOST))]
    assert [name for name in again.get_feature_names_out() if not name.startswith(tuple(LOST))] == keep
    np.testing.assert_allclose(
        again.transform(frame[list(again.feature_names_in_)])[:, : len(keep)],
        model.transform(frame),
        atol=1e-9,
    )
    with pytest.raises(DataError, match="that transform returned"):
        model.inverse_transform(str(tmp_path))


def test_frames_come_back_as_asked():
    frame = typed()
    model = surefit.TablePreparer().fit(frame)
    rows = model.transform(frame)
    assert_same(model.set_output(transform="pandas").inverse_transform(rows), frame)
    assert isinstance(model.set_output(transform="polars").inverse_transform(rows), pl.DataFrame)
    prepared = model.set_output(transform="pandas").transform(frame)
    assert_same(model.inverse_transform(prepared), frame)


def test_a_matrix_without_names_and_one_row():
    X = np.array([[1.0, 5.0], [2.0, np.nan], [4.0, 7.0]])
    model = surefit.TablePreparer().fit(X)
    back = model.inverse_transform(model.transform(X)).to_pandas()
    assert list(back.columns) == ["x0", "x1"]
    np.testing.assert_allclose(back.to_numpy(), X, rtol=1e-12)
    one = surefit.TablePreparer().fit(X[:1])
    np.testing.assert_allclose(one.inverse_transform(one.transform(X[:1])).to_pandas(), X[:1])


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_any_scale_comes_back(scale):
    X = scale * (np.random.default_rng(0).normal(size=(50, 2)) + 1e6)
    model = surefit.TablePreparer("distance").fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)).to_pandas(), X, rtol=1e-12)


def test_what_is_lost():
    """Gaps without an indicator keep their filling, or are the reference."""
    frame = pd.DataFrame({"size": [1.0, None, 3.0, 5.0], "town": ["A", None, "A", "B"]})
    model = surefit.TablePreparer(add_indicator=False).fit(frame)
    back = model.inverse_transform(model.transform(frame)).to_pandas()
    np.testing.assert_allclose(back["size"], [1, 3, 3, 5], rtol=1e-12)
    assert back["town"].tolist() == ["A", "A", "A", "B"]
    tree = surefit.TablePreparer("tree").fit(frame)
    new = tree.inverse_transform(tree.transform(frame.assign(town="never seen"))).to_pandas()
    assert new["town"].isna().all()


def test_constant_columns_come_back_with_their_gaps():
    frame = pd.DataFrame(
        {"word": ["a", None, "a"], "number": [2.5, 2.5, None], "flag": [True] * 3, "x": [1.0, 2, 4]}
    )
    model = surefit.TablePreparer().fit(frame)
    assert model.roles_ == ["dropped", "dropped", "dropped", "number"]
    back = model.inverse_transform(model.transform(frame))
    assert back["word"].to_pylist() == ["a", None, "a"]
    assert back["number"].to_pylist() == [2.5, 2.5, None]
    assert back["flag"].to_pylist() == [True] * 3


def test_rare_levels_are_refused_and_others_come_back():
    frame = pd.DataFrame({"town": ["A"] * 9 + ["B"] * 7 + ["C", "D"]})
    for purpose in ("linear", "distance", "count"):
        model = surefit.TablePreparer(purpose, max_categories=3).fit(frame)
        rows = model.transform(frame)
        assert model.inverse_transform(rows[:16])["town"].to_pylist() == frame["town"][:16].tolist()
        with pytest.raises(DataError, match=r"column 'town'.*stands for 2 rare levels.*max_categories=None"):
            model.inverse_transform(rows)
    every = surefit.TablePreparer(max_categories=None).fit(frame)
    assert every.inverse_transform(every.transform(frame))["town"].to_pylist() == frame["town"].tolist()


def test_rows_that_are_none_of_its_own_are_refused():
    frame = typed()
    model = surefit.TablePreparer("tree").fit(frame)
    rows = model.transform(frame)
    with pytest.raises(DataError, match=r"X has 3 columns, and transform returns 9"):
        model.inverse_transform(rows[:, :3])
    for code in (7.0, 0.5, -2.0):
        rows[4, 2] = code
        with pytest.raises(
            DataError, match=r"column 'colour' holds numbers that are not codes of its 3 levels"
        ):
            model.inverse_transform(rows)
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform(np.full((1, 9), np.nan))
