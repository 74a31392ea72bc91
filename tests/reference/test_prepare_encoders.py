"""Encoders against scikit-learn's: every parameter, any type of cell, missing values, unknown levels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import preprocessing

import surefit
from surefit.core.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
ROWS = 120
WORDS = np.array(["red", "blue", "grün", "a b"], dtype=object)[RNG.integers(0, 4, ROWS)]
GAPPY = WORDS.copy()
GAPPY[::7] = None
GAPPY[1::9] = np.nan
NUMBERS = RNG.integers(-3, 4, (ROWS, 3))
FLOATS = np.where(RNG.random((ROWS, 2)) < 0.1, np.nan, RNG.integers(0, 3, (ROWS, 2)) / 2)
FRAME = {"word": WORDS.astype(str), "number": NUMBERS[:, 0], "flag": NUMBERS[:, 1] > 0, "half": FLOATS[:, 0]}
TABLES = {
    "whole numbers": NUMBERS,
    "floats with gaps": FLOATS,
    "strings": np.column_stack([WORDS.astype(str), NUMBERS[:, 0].astype(str)]),
    "objects with gaps": np.column_stack([GAPPY, WORDS]),
    "booleans": NUMBERS > 0,
    "pandas": pd.DataFrame(FRAME),
    "pandas category": pd.DataFrame(FRAME).astype({"word": "category"}),
    "list": [["a", 1], ["b", 2], ["a", 2]],
}


def same_levels(ours, theirs):
    for mine, its in zip(ours.categories_, theirs.categories_, strict=True):
        assert mine.dtype == its.dtype
        same(mine, its)


def same(one, two):
    """Equal cell by cell, where NaN equals NaN and nothing else, in arrays of objects too."""
    one, two = np.asarray(one), np.asarray(two)
    assert one.shape == two.shape
    for a, b in zip(one.ravel(), two.ravel(), strict=True):
        assert a == b or (a is not None and b is not None and a != a and b != b), (a, b)


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else rows


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("drop", [None, "first", "if_binary"])
@pytest.mark.parametrize("rare", [{}, {"min_frequency": 25}, {"min_frequency": 0.2}, {"max_categories": 2}])
@pytest.mark.parametrize("sparse", [True, False])
def test_one_hot_encoder(table, drop, rare, sparse):
    X = TABLES[table]
    arguments = {"drop": drop, "sparse_output": sparse, **rare}
    ours = surefit.OneHotEncoder(**arguments).fit(X)
    theirs = preprocessing.OneHotEncoder(**arguments).fit(X)
    same_levels(ours, theirs)
    Z, expected = ours.transform(X), theirs.transform(X)
    assert type(Z) is type(expected)
    assert Z.dtype == expected.dtype
    np.testing.assert_array_equal(dense(Z), dense(expected))
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    if Z.shape[1] > 0:
        same(ours.inverse_transform(Z), theirs.inverse_transform(expected))
    else:  # scikit-learn cannot come back from no columns at all
        assert ours.inverse_transform(Z).tolist() == [["a", 1]] * 3
    if drop is None:
        assert ours.drop_idx_ is theirs.drop_idx_ is None
    else:
        assert list(ours.drop_idx_) == list(theirs.drop_idx_)
    if rare:
        for mine, its in zip(ours.infrequent_categories_, theirs.infrequent_categories_, strict=True):
            same(mine, its)


@pytest.mark.filterwarnings("ignore::surefit.core.errors.SurefitWarning", "ignore:Found unknown")
@pytest.mark.parametrize("how", ["ignore", "infrequent_if_exist", "warn"])
@pytest.mark.parametrize("rare", [{}, {"max_categories": 3}])
@pytest.mark.parametrize("drop", [None, "first"])
def test_one_hot_encoder_with_unknown_levels(how, rare, drop):
    arguments = {"handle_unknown": how, "drop": drop, **rare}
    for X, new in [
        (NUMBERS, NUMBERS + 2),
        (TABLES["objects with gaps"], np.array([["red", "pink"], ["pink", "red"]], dtype=object)),
        (FLOATS[:60], np.array([[9.0, np.nan], [0.5, 1.0]])),
    ]:
        ours = surefit.OneHotEncoder(**arguments).fit(X)
        theirs = preprocessing.OneHotEncoder(**arguments).fit(X)
        Z, expected = ours.transform(new), theirs.transform(new)
        np.testing.assert_array_equal(Z.toarray(), expected.toarray())
        if not (drop and rare and how == "ignore"):  # scikit-learn shows a level that is not the dropped one
            same(ours.inverse_transform(Z), theirs.inverse_transform(expected))


def test_a_row_of_zeros_comes_back_as_the_level_that_was_dropped():
    X = [["a"]] + [["b"]] * 5 + [["c"]] * 5 + [["d"]]
    model = surefit.OneHotEncoder(handle_unknown="ignore", drop="first", min_frequency=2).fit(X)
    with pytest.warns(surefit.core.errors.SurefitWarning, match="all zeros"):
        Z = model.transform([["b"], ["c"], ["a"], ["z"]])
    back = model.inverse_transform(Z)
    assert back.ravel().tolist() == ["b", "c", "infrequent_sklearn", "b"]


def test_an_unknown_level_is_named_or_warned_of():
    model = surefit.OneHotEncoder().fit([["a", 1], ["b", 2]])
    with pytest.raises(DataError, match=r"unknown categories \['z'\] in column 0 during transform"):
        model.transform([["z", 1]])
    with pytest.raises(DataError, match=r"unknown categories \[7\] in column 1 during fit"):
        surefit.OneHotEncoder(categories=[["a"], [1]]).fit(np.array([["a", 7]], dtype=object))
    model = surefit.OneHotEncoder(handle_unknown="warn").fit([["a"], ["b"]])
    with pytest.warns(surefit.core.errors.SurefitWarning, match=r"columns \[0\].*infrequent category"):
        model.transform([["z"]])


@pytest.mark.parametrize("drop", [["blue", -1], np.array(["red", 0], dtype=object)])
def test_one_hot_encoder_drops_what_it_is_told(drop):
    X = np.empty((ROWS, 2), dtype=object)
    X[:, 0], X[:, 1] = WORDS, NUMBERS[:, 0]
    ours = surefit.OneHotEncoder(drop=drop).fit(X)
    theirs = preprocessing.OneHotEncoder(drop=drop).fit(X)
    assert list(ours.drop_idx_) == list(theirs.drop_idx_)
    np.testing.assert_array_equal(ours.transform(X).toarray(), theirs.transform(X).toarray())
    with pytest.raises(ParameterError, match="not found"):
        surefit.OneHotEncoder(drop=["pink", 0]).fit(X)
    with pytest.raises(ParameterError, match="because it is infrequent"):
        surefit.OneHotEncoder(drop=["blue", 3], max_categories=2).fit(X)


LISTS = {
    "numbers": (NUMBERS[:, :2], [[-3, -2, -1, 0, 1, 2, 3, 4]] * 2),
    "words": (WORDS[:, None], [["red", "grün", "pink", "blue", "a b"]]),
    "missing": (FLOATS[:, :1], [[0.0, 0.5, 1.0, 2.0, np.nan]]),
}


@pytest.mark.parametrize("case", LISTS)
@pytest.mark.parametrize("encoder", ["OneHotEncoder", "OrdinalEncoder"])
def test_given_categories(case, encoder):
    X, levels = LISTS[case]
    ours = getattr(surefit, encoder)(categories=levels).fit(X)
    theirs = getattr(preprocessing, encoder)(categories=levels).fit(X)
    same_levels(ours, theirs)
    np.testing.assert_array_equal(dense(ours.transform(X)), dense(theirs.transform(X)))
    assert surefit.verify(ours, X).holds


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([[1, 2]], "of shape"),
        ([[3, 1], [1]], "Unsorted"),
        ([[1, 1], [1]], "duplicate"),
        ([[np.nan, 1.0], [1]], "Nan should be the last"),
    ],
)
def test_bad_categories_are_named(levels, message):
    X = np.array([[1.0, 1.0], [3.0, 1.0]])
    with pytest.raises(ParameterError, match=message):
        surefit.OneHotEncoder(categories=levels).fit(X)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("rare", [{}, {"min_frequency": 25}, {"min_frequency": 0.2}, {"max_categories": 2}])
@pytest.mark.parametrize("missing", [np.nan, -1])
def test_ordinal_encoder(table, rare, missing):
    X = TABLES[table]
    arguments = {"encoded_missing_value": missing, **rare}
    ours = surefit.OrdinalEncoder(**arguments).fit(X)
    theirs = preprocessing.OrdinalEncoder(**arguments).fit(X)
    same_levels(ours, theirs)
    Z = ours.transform(X)
    np.testing.assert_array_equal(Z, theirs.transform(X))
    if not rare:
        same(ours.inverse_transform(Z), theirs.inverse_transform(Z.copy()))


def test_ordinal_encoder_comes_back_from_missing_and_rare_levels():
    """scikit-learn's inverse fails where a column has both."""
    X = np.array([["a"], ["b"], ["b"], ["c"], ["c"], [np.nan]], dtype=object)
    model = surefit.OrdinalEncoder(min_frequency=2).fit(X)
    Z = model.transform(X)
    same(Z.ravel(), [2, 0, 0, 1, 1, np.nan])
    back = np.array(["infrequent_sklearn", "b", "b", "c", "c", np.nan], dtype=object)
    same(model.inverse_transform(Z).ravel(), back)


@pytest.mark.parametrize("unknown", [-1, 99, np.nan])
@pytest.mark.parametrize("rare", [{}, {"max_categories": 3}])
def test_ordinal_encoder_with_unknown_levels(unknown, rare):
    arguments = {"handle_unknown": "use_encoded_value", "unknown_value": unknown, **rare}
    for X, new in [(NUMBERS, NUMBERS + 2), (WORDS[:, None], np.array([["pink"], ["red"]], dtype=object))]:
        ours = surefit.OrdinalEncoder(**arguments).fit(X)
        theirs = preprocessing.OrdinalEncoder(**arguments).fit(X)
        Z = ours.transform(new)
        np.testing.assert_array_equal(Z, theirs.transform(new))
        same(ours.inverse_transform(Z), theirs.inverse_transform(Z.copy()))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"unknown_value": 3}, TypeError, "should only be set"),
        ({"handle_unknown": "use_encoded_value"}, TypeError, "should be an integer or np.nan"),
        (
            {"handle_unknown": "use_encoded_value", "unknown_value": np.nan, "dtype": int},
            ValueError,
            "should be a float dtype",
        ),
        ({"handle_unknown": "use_encoded_value", "unknown_value": 0}, ValueError, "already used"),
        ({"dtype": int}, ValueError, "There are missing values in features"),
        ({"encoded_missing_value": 1}, ValueError, "already used to encode"),
    ],
)
def test_bad_codes_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        surefit.OrdinalEncoder(**arguments).fit(FLOATS)


@pytest.mark.parametrize("encoder", ["OneHotEncoder", "OrdinalEncoder"])
def test_frames_and_sources_give_the_same_codes(encoder):
    cls = getattr(surefit, encoder)
    frame = pl.DataFrame(FRAME)
    plain = cls().fit(frame)
    streamed = cls().fit(surefit.read(frame.to_arrow()))
    rows = frame.select(list(reversed(frame.columns)))  # a source finds its columns by name
    (batch,) = streamed.transform(surefit.read(rows.to_arrow()))
    np.testing.assert_array_equal(dense(batch.X), dense(plain.transform(frame)))
    assert list(streamed.get_feature_names_out()) == list(plain.get_feature_names_out())
    assert surefit.verify(streamed, frame.to_arrow()).holds
    later = cls().partial_fit(frame[:30].to_arrow()).partial_fit(frame[30:].to_arrow())
    for one, two in zip(later.categories_, streamed.categories_, strict=True):
        same(one, two)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64, np.float32, bool])
def test_numbers_of_one_type_are_found_among_those_of_another(kind):
    """Levels below and above what the new type can hold are no trouble."""
    levels = np.array([[-5], [0], [1], [300], [2**40]])
    model = surefit.OneHotEncoder(handle_unknown="ignore").fit(levels)
    new = np.array([[0], [1], [7]]).astype(kind)
    expected = [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0] if kind is bool else [0] * 5]
    assert model.transform(new).toarray().tolist() == expected
    narrow = surefit.OneHotEncoder(handle_unknown="ignore").fit(levels[:4])
    assert narrow.transform(new).toarray().tolist() == [row[:4] for row in expected]


def test_mixed_cells_are_refused():
    with pytest.raises(TypeError, match="one column mixes int, str"):
        surefit.OneHotEncoder().fit(np.array([["a"], [1]], dtype=object))


def test_codes_are_never_sparse():
    encoder = surefit.OrdinalEncoder().fit([["a"], ["b"]])
    with pytest.raises(TypeError, match=r"use X\.toarray"):
        encoder.inverse_transform(sparse.csr_array([[0.0], [1.0]]))
