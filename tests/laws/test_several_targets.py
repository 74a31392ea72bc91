"""Several targets by a list of names: the fit of the matrix, and a sentence where there is no such fit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefit
from surefit.core.errors import DataError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = X @ RNG.normal(size=(3, 2)) + RNG.normal(size=(300, 2))
TABLE = pa.table(
    {
        "p": X[:, 0],
        "a": Y[:, 0],
        "q": X[:, 1],
        "b": Y[:, 1],
        "r": X[:, 2],
        "w": np.arange(300) % 3 * 1.0,
        "word": np.where(X[:, 0] > 0, "up", "down"),
    }
)
COLUMNS = ["p", "q", "r"]


@pytest.fixture
def path(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=90)
    return tmp_path / "t.parquet"


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", ["LinearRegression", "Ridge"])
def test_a_list_of_names_gives_the_fit_of_the_matrix(path, name, weight):
    source = surefit.read(path, ["a", "b"], weight, COLUMNS)
    assert (source.schema.targets, source.schema.target_is_flat) == (2, False)
    found = getattr(surefit, name)().fit(source)
    expected = getattr(surefit, name)().fit(X, Y, None if weight is None else TABLE["w"].to_numpy())
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-10, atol=1e-13)
    assert surefit.verify(found, source).holds
    np.testing.assert_allclose(found.predict(source), expected.predict(X), rtol=1e-10)


def test_targets_leave_the_columns_and_keep_their_order(path):
    source = surefit.read(path, ["b", "a"])
    assert source.schema.names == ("p", "q", "r", "w", "word")
    batch = next(iter(source))
    np.testing.assert_array_equal(batch.y, Y[: len(batch), ::-1])


@pytest.mark.parametrize("name", ["LinearRegression", "Ridge"])
def test_a_list_of_one_name_is_a_matrix_of_one_column(path, name):
    found = getattr(surefit, name)().fit(surefit.read(path, ["a"], columns=COLUMNS))
    assert found.coef_.shape == getattr(surefit, name)().fit(X, Y[:, :1]).coef_.shape


def test_a_source_can_be_given_other_targets(path):
    source = surefit.read(path, ["a", "b"], columns=COLUMNS)
    assert [column.name for column in surefit.read(source, weight="w").targets] == ["a", "b"]
    again = surefit.read(source, target="b")
    assert [column.name for column in again.targets] == ["b"]
    assert again.schema.target_is_flat


def test_labels_beside_a_table_in_memory_stay_labels():
    few = TABLE.select(COLUMNS).slice(0, 4)
    labels = next(iter(surefit.read(few, ["up", "up", "down", "up"]))).y
    assert labels is not None
    assert labels.tolist() == [1, 1, 0, 1]


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda path: surefit.read(path, ["a", "c"]), "no target named 'c'"),
        (lambda path: surefit.read(path, ["a", "a"]), "target names 'a' twice: leave one out"),
        (lambda path: surefit.Ridge().fit(path, ["a", "word"]), "the target 'word' is a category"),
        (lambda path: surefit.GaussianNB().fit(path, ["a", "b"]), "one target, but a list is given"),
    ],
    ids=["unknown", "twice", "words", "classes"],
)
def test_a_wrong_list_is_one_sentence(path, fit, words):
    with pytest.raises(DataError, match=words):
        fit(path)
