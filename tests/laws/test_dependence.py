"""Dependence on one column, and shuffled columns, of every kind of table: the answers of rows so changed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin

import surefit
from surefit.core.errors import DataError
from surefit.evaluate.rows.column_changes import column_of, shuffled, with_value

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=80),
        "count": RNG.integers(0, 300, 80),
        "kind": RNG.choice(["a", "b", "c"], 80),
        "known": RNG.random(80) < 0.5,
    }
)
FRAME["grade"] = pd.Categorical(RNG.choice(["low", "high"], 80), ["low", "high", "none"])
Y = FRAME["size"] + (FRAME["kind"] == "a") + 0.01 * FRAME["count"] + 2.0 * (FRAME["grade"] == "high")
MODEL = surefit.make_pipeline(surefit.TablePreparer(), surefit.Ridge(1e-6)).fit(FRAME, Y)
TABLES = {"pandas": lambda: FRAME, "polars": lambda: pl.from_pandas(FRAME)}


@pytest.mark.parametrize("table", TABLES)
def test_every_kind_of_column_can_be_set(table):
    X = TABLES[table]()
    kinds = surefit.partial_dependence(MODEL, X, "kind")
    assert kinds.values.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(kinds.mean[0] - kinds.mean[1:], 1.0, rtol=1e-4)
    grades = surefit.partial_dependence(MODEL, X, "grade", values=["low", "high"])
    assert np.diff(grades.mean)[0] == pytest.approx(2.0, rel=1e-4)
    counts = surefit.partial_dependence(MODEL, X, "count", values=5)
    assert counts.values.dtype.kind == "i"  # whole numbers are set to whole numbers
    np.testing.assert_allclose(np.diff(counts.mean) / np.diff(counts.values), 0.01, rtol=1e-4)
    between = surefit.partial_dependence(MODEL, X, "count", values=[1.0, 1.5])
    assert np.diff(between.mean)[0] == pytest.approx(0.005, rel=1e-4)


@pytest.mark.parametrize("rows", [7, 80])
def test_categories_of_a_table_that_is_read_are_set_as_in_memory(rows, tmp_path):
    pq.write_table(
        pa.Table.from_pandas(FRAME, preserve_index=False), tmp_path / "t.parquet", row_group_size=rows
    )
    for column in FRAME.columns:
        held = surefit.partial_dependence(MODEL, FRAME, column, values=6)
        read = surefit.partial_dependence(MODEL, tmp_path / "t.parquet", column, values=6)
        if column == "count":  # its stored numbers are floats, between which there is room
            read = surefit.partial_dependence(MODEL, tmp_path / "t.parquet", column, values=held.values)
        assert read.values.tolist() == held.values.tolist()
        np.testing.assert_allclose(read.individual, held.individual, rtol=1e-9, atol=1e-12)
    with pytest.raises(DataError, match="the column 'kind' has no category 'd'; it has a, b, c"):
        surefit.partial_dependence(MODEL, tmp_path / "t.parquet", "kind", values=["d"])


def test_missing_categories_are_not_asked_about(tmp_path):
    holes = FRAME.assign(kind=FRAME["kind"].where(FRAME.index % 5 > 0, None))
    model = surefit.make_pipeline(surefit.TablePreparer(), surefit.Ridge()).fit(holes, Y)
    pq.write_table(pa.Table.from_pandas(holes, preserve_index=False), tmp_path / "t.parquet")
    for table in (holes, pl.from_pandas(holes), tmp_path / "t.parquet"):
        assert surefit.partial_dependence(model, table, "kind").values.tolist() == ["a", "b", "c"]
    empty = FRAME.assign(size=np.nan)
    with pytest.raises(DataError, match="no value in any row"):
        surefit.partial_dependence(model, empty, "size")


def test_of_many_levels_the_most_frequent_are_asked_about():
    labels = np.repeat([f"k{j}" for j in range(20)], np.arange(1, 21))
    X = pd.DataFrame({"label": labels, "x": np.arange(len(labels)) * 1.0})
    model = surefit.make_pipeline(surefit.TablePreparer(), surefit.Ridge()).fit(X, X["x"])
    found = surefit.partial_dependence(model, X, "label", values=3)
    assert found.values.tolist() == ["k17", "k18", "k19"]


class TypedRule(RegressorMixin, BaseEstimator):
    """Answers by the codes of a category, and so wants one."""

    def fit(self, X, y):
        self.levels_ = X["grade"].cat.categories
        return self

    def predict(self, X):
        assert X["grade"].cat.categories.equals(self.levels_)
        return X["grade"].cat.codes.to_numpy().astype(float)


def test_a_category_stays_one_for_models_that_look_at_its_type():
    X = FRAME[["size", "grade"]]
    model = TypedRule().fit(X, Y)
    found = surefit.partial_dependence(model, X, "grade")
    assert found.values.tolist() == ["high", "low"]
    assert found.mean.tolist() == [1.0, 0.0]
    matters = surefit.permutation_importance(model, X, Y, metric="mean_squared_error", repeats=2)
    assert matters.mean[1] > 0.1
    assert matters.mean[0] == 0


@pytest.mark.parametrize(
    "table",
    [
        np.arange(12.0).reshape(4, 3),
        sparse.csr_array(np.arange(12.0).reshape(4, 3)),
        FRAME[:4],
        pl.from_pandas(FRAME[:4]),
    ],
    ids=["array", "sparse", "pandas", "polars"],
)
def test_tables_stay_as_they_were(table):
    before = [column_of(table, 0).tolist(), column_of(table, 1).tolist()]
    other = shuffled(table, 0, np.array([3, 2, 1, 0]))
    assert column_of(other, 0).tolist() == before[0][::-1]
    assert column_of(other, 1).tolist() == before[1]
    assert column_of(with_value(table, 1, 2.5), 1).tolist() == [2.5] * 4
    assert [column_of(table, 0).tolist(), column_of(table, 1).tolist()] == before
    assert type(other) is type(table)


def test_importance_of_every_frame_is_that_of_pandas():
    held, other = (
        surefit.permutation_importance(MODEL, table(), Y, repeats=2).importances for table in TABLES.values()
    )
    np.testing.assert_allclose(held, other, rtol=1e-12)
