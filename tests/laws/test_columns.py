"""Columns that lie apart: the same bits as from a matrix, without one, and the same refusals."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefit
from surefit.core.errors import DataError
from surefit.core.native.sums.gram import centred_gram, centred_gram_twin
from surefit.data.batches.batch import Batch
from surefit.data.batches.column_batch import ColumnBatch
from surefit.data.batches.columns import Columns
from surefit.stats.moments import Moments

SHAPES = [(0, 3), (1, 1), (2, 30), (129, 24), (300, 101), (40, 250), (9001, 13)]


def apart(X: np.ndarray) -> Columns:
    return Columns([column.copy() for column in X.T], len(X))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_columns_give_the_bits_of_a_matrix(shape, weighted, threads):
    rng = np.random.default_rng(0)
    X, Y = 1e6 + rng.normal(size=shape), rng.normal(size=(shape[0], 2))
    weight = rng.integers(0, 3, shape[0]).astype(float) if weighted else None
    one = centred_gram(np.asfortranarray(X), Y, weight, _threads=threads)
    two = centred_gram(apart(X), Y, weight, _threads=threads)
    for name in ("weight", "mean", "scatter", "low"):
        np.testing.assert_array_equal(getattr(two, name), getattr(one, name))


def test_the_twin_takes_columns_as_well():
    X = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_allclose(centred_gram_twin(apart(X)).scatter, centred_gram(X).scatter, rtol=1e-12)


def test_moments_of_columns_never_make_a_matrix(monkeypatch):
    X = np.random.default_rng(0).normal(size=(500, 7))
    y, weight = X @ np.arange(7.0), np.linspace(0.5, 2.0, 500)
    expected = Moments.of(Batch(np.asfortranarray(X), y, weight))
    monkeypatch.setattr(Columns, "toarray", lambda self: pytest.fail("a matrix was made"))
    found = Moments.of(ColumnBatch(apart(X), y, weight))
    np.testing.assert_array_equal(found.scatter, expected.scatter)
    np.testing.assert_array_equal(found.centre, expected.centre)


def test_a_batch_makes_its_matrix_once_and_checks_it():
    looked: list[int] = []
    batch = ColumnBatch(apart(np.ones((3, 2))), np.zeros(3), check=lambda X: looked.append(len(X)))
    assert len(batch) == 3
    assert looked == []
    assert batch.X is batch.X
    assert looked == [3]
    other = replace(batch, y=np.ones(3))
    assert other.X is batch.X
    assert other.y is not None
    assert other.y.tolist() == [1.0, 1.0, 1.0]


def test_a_pickled_batch_is_a_plain_one_and_columns_leave_their_matrix_behind():
    columns = apart(np.arange(6.0).reshape(3, 2))
    size = len(pickle.dumps(columns))
    batch = ColumnBatch(columns, np.zeros(3), check=lambda X: None)
    copy = pickle.loads(pickle.dumps(batch))
    assert type(copy) is Batch
    np.testing.assert_array_equal(copy.X, batch.X)
    assert len(pickle.dumps(columns)) == size


def table(rows: int = 400) -> pa.Table:
    """Every type that becomes a number."""
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "double": rng.normal(size=rows),
            "single": rng.normal(size=rows).astype(np.float32),
            "whole": rng.integers(-5, 5, rows),
            "short": rng.integers(0, 9, rows).astype(np.int8),
            "truth": rng.random(rows) < 0.5,
            "y": rng.normal(size=rows),
            "w": rng.integers(0, 3, rows).astype(float),
        }
    )


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_file_of_mixed_numbers_gives_the_fit_of_the_matrix(tmp_path, weight):
    pq.write_table(table(), tmp_path / "t.parquet", row_group_size=150)
    names = ["double", "single", "whole", "short", "truth"]
    frame = table().to_pandas()
    source = surefit.read(tmp_path / "t.parquet", "y", weight, names)
    found = surefit.Ridge().fit(source)
    X = frame[names].astype(float).to_numpy()
    expected = surefit.Ridge().fit(X, frame["y"], None if weight is None else frame[weight])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "Ridge cannot use missing values, and 1 cells are missing .*'double' .1."),
        (np.inf, "column 'double' holds an infinite value in row 7"),
        (-np.inf, "column 'double' holds an infinite value in row 7"),
        (1e200, r"the numbers in column 'double' are beyond 1e\+148"),
    ],
    ids=["missing", "infinite", "negative", "huge"],
)
def test_a_bad_cell_is_named(tmp_path, value, words, weight):
    cells = table().to_pydict()
    cells["double"][7] = value
    cells["w"][7] = 0.0 if value != 1e200 else 1.0
    pq.write_table(pa.table(cells), tmp_path / "t.parquet")
    source = surefit.read(tmp_path / "t.parquet", "y", weight, ["double", "whole"])
    with pytest.raises(DataError, match=words):
        surefit.Ridge().fit(source)


def test_squares_that_overflow_between_pieces_are_refused(tmp_path):
    far = np.repeat([0.0, 1e200], 40)
    pq.write_table(pa.table({"far": far, "y": np.arange(80.0)}), tmp_path / "t.parquet", row_group_size=40)
    parts = [Moments.of(Batch(far[rows, None], far[rows] * 0)) for rows in (slice(40), slice(40, 80))]
    with pytest.raises(DataError, match=r"column 0 of X are beyond 1e\+148"):
        parts[0] + parts[1]
    with pytest.raises(DataError, match=r"column 'far' are beyond 1e\+148"):
        surefit.LinearRegression().fit(tmp_path / "t.parquet", "y")
