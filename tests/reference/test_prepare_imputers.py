"""Imputers and indicators against scikit-learn's: strategies, markers, sparse rows, words, empty columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import impute

import surefit
from surefit.core.errors import DataError

RNG = np.random.default_rng(0)
NUMBERS = RNG.integers(0, 6, (50, 4)).astype(float)
GAPS = np.where(RNG.random(NUMBERS.shape) < 0.3, np.nan, NUMBERS)
EMPTY = np.column_stack([GAPS, np.full(50, np.nan)])
MARKED = np.where(np.isnan(GAPS), -1, GAPS)
WORDS = RNG.choice(np.array(["red", "blue", "green"], dtype=object), (40, 2))
WORDS[::5, 0] = np.nan
WORDS[::7, 1] = np.nan
STRATEGIES = ["mean", "median", "most_frequent", "constant", np.max]


def same(one, two):
    one, two = np.asarray(one), np.asarray(two)
    assert one.shape == two.shape
    for a, b in zip(one.ravel(), two.ravel(), strict=True):
        assert a == pytest.approx(b, rel=1e-12, nan_ok=True) or a == b, (a, b)


@pytest.mark.filterwarnings("ignore:Skipping features")
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("indicator", [True, False])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("table", ["gaps", "empty column", "marked", "float32"])
def test_simple_imputer(table, strategy, indicator, keep):
    X, marker = {
        "gaps": (GAPS, np.nan),
        "empty column": (EMPTY, np.nan),
        "marked": (MARKED, -1),
        "float32": (GAPS.astype(np.float32), np.nan),
    }[table]
    if callable(strategy) and table == "empty column":
        X = GAPS  # scikit-learn hands a function an empty column
    arguments = {
        "strategy": strategy,
        "add_indicator": indicator,
        "keep_empty_features": keep,
        "missing_values": marker,
    }
    ours = surefit.SimpleImputer(**arguments).fit(X)
    theirs = impute.SimpleImputer(**arguments).fit(X)
    same(ours.statistics_, theirs.statistics_)
    Z, expected = ours.transform(X), theirs.transform(X)
    assert Z.dtype == expected.dtype
    np.testing.assert_allclose(Z, expected, rtol=1e-6 if X.dtype == np.float32 else 1e-12)
    if indicator:
        assert list(ours.indicator_.features_) == list(theirs.indicator_.features_)
        if table != "empty column":
            np.testing.assert_array_equal(ours.inverse_transform(Z), theirs.inverse_transform(expected))
            np.testing.assert_array_equal(ours.inverse_transform(Z), X)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert surefit.verify(ours, X).holds


@pytest.mark.parametrize("strategy", ["most_frequent", "constant"])
@pytest.mark.parametrize("fill", [None, "none"])
def test_simple_imputer_of_words(strategy, fill):
    for X in (WORDS, pd.DataFrame(WORDS, columns=["a", "b"])):
        ours = surefit.SimpleImputer(strategy=strategy, fill_value=fill).fit(X)
        theirs = impute.SimpleImputer(strategy=strategy, fill_value=fill).fit(X)
        assert ours.statistics_.tolist() == theirs.statistics_.tolist()
        assert ours.transform(X).tolist() == theirs.transform(X).tolist()
        assert surefit.verify(ours, X).holds


def test_whole_numbers_stay_whole():
    X = np.array([[1, 5], [2, 5], [-9, 6]])
    for strategy in ("most_frequent", "constant"):
        arguments = {"strategy": strategy, "missing_values": -9, "fill_value": 7}
        ours = surefit.SimpleImputer(**arguments).fit_transform(X)
        theirs = impute.SimpleImputer(**arguments).fit_transform(X)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(DataError, match="cannot be cast"):
        surefit.SimpleImputer(strategy="constant", fill_value="word").fit_transform(X.astype(float))


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
@pytest.mark.parametrize("indicator", [True, False])
def test_simple_imputer_of_sparse_rows(strategy, indicator):
    X = sparse.csr_array(np.where(RNG.random(GAPS.shape) < 0.5, 0, GAPS))
    arguments = {"strategy": strategy, "add_indicator": indicator}
    ours = surefit.SimpleImputer(**arguments).fit(X)
    theirs = impute.SimpleImputer(**arguments).fit(X)
    same(ours.statistics_, theirs.statistics_)
    np.testing.assert_allclose(ours.transform(X).toarray(), theirs.transform(X).toarray(), rtol=1e-12)
    assert surefit.verify(ours, X).holds
    with pytest.raises(DataError, match="missing_values=0"):
        surefit.SimpleImputer(missing_values=0).fit(sparse.csr_array(NUMBERS))


def test_an_empty_column_is_found_and_dropped():
    model = surefit.SimpleImputer().fit(EMPTY)
    assert model.diagnosis_.codes() == ("empty-columns",)
    assert model.diagnosis_[0].columns == ("x4",)
    assert model.transform(EMPTY).shape == (50, 4)


def test_the_inverse_needs_the_indicator():
    model = surefit.SimpleImputer().fit(GAPS)
    assert not hasattr(model, "inverse_transform")
    with pytest.raises(ValueError, match="add_indicator=True"):
        model.inverse_transform(GAPS)


def test_weights_repeat_rows():
    times = RNG.integers(0, 4, len(GAPS))
    rows = np.repeat(np.arange(len(GAPS)), times)
    for strategy in STRATEGIES:
        one = surefit.SimpleImputer(strategy=strategy).fit(GAPS, sample_weight=times)
        two = impute.SimpleImputer(strategy=strategy).fit(GAPS[rows])
        same(one.statistics_, two.statistics_)


@pytest.mark.parametrize("features", ["missing-only", "all"])
@pytest.mark.parametrize("as_sparse", [True, False, "auto"])
@pytest.mark.parametrize("form", ["dense", "sparse", "words", "marked"])
def test_missing_indicator(features, as_sparse, form):
    X = {"dense": GAPS.copy(), "sparse": sparse.csr_array(GAPS), "words": WORDS, "marked": MARKED}[form]
    marker = -1 if form == "marked" else np.nan
    arguments = {"features": features, "sparse": as_sparse, "missing_values": marker}
    ours = surefit.MissingIndicator(**arguments).fit(X)
    theirs = impute.MissingIndicator(**arguments).fit(X)
    np.testing.assert_array_equal(ours.features_, theirs.features_)
    Z, expected = ours.transform(X), theirs.transform(X)
    assert Z.dtype == expected.dtype == bool
    assert sparse.issparse(Z) == sparse.issparse(expected)
    dense = (Z.toarray(), expected.toarray()) if sparse.issparse(Z) else (Z, expected)
    np.testing.assert_array_equal(*dense)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert surefit.verify(ours, X).holds


def test_new_gaps_are_refused_or_not_shown():
    whole = np.column_stack([GAPS[:, 0], NUMBERS[:, 1]])
    with pytest.raises(DataError, match=r"features \[1\] have missing values"):
        surefit.MissingIndicator().fit(whole).transform(GAPS[:, :2])
    model = surefit.MissingIndicator(error_on_new=False).fit(whole)
    assert model.transform(GAPS[:, :2]).shape == (50, 1)


def test_words_fill_rows_that_have_none():
    X = np.array([["a", "b"], ["a", "c"], [np.nan, "b"]], dtype=object)
    imputer = surefit.SimpleImputer(strategy="most_frequent").fit(X)
    assert imputer.transform([[np.nan, np.nan]]).tolist() == [["a", "b"]]
