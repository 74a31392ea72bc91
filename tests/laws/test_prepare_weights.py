"""Weights in memory: for encoders and imputers weight 2 is the row twice and weight 0 is no row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import surefit
from surefit.core.errors import DataError

RNG = np.random.default_rng(0)
ROWS = 90
FRAME = pd.DataFrame(
    {
        "word": RNG.choice(np.array(["red", "blue", "green", "rare", None], dtype=object), ROWS),
        "number": RNG.integers(0, 6, ROWS),
    }
)
GAPS = pd.DataFrame(np.where(RNG.random((ROWS, 3)) < 0.3, np.nan, RNG.integers(0, 9, (ROWS, 3)) / 2))
GAPS.columns = ["a", "b", "c"]
Y = RNG.normal(size=ROWS) + (FRAME["word"] == "red")
TIMES = RNG.integers(0, 4, ROWS)
TIMES[(FRAME["word"] == "rare") | (FRAME["number"] == 5)] = 0
AGAIN = np.repeat(np.arange(ROWS), TIMES)
FORMS = {
    "array": lambda frame: frame.to_numpy(),
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.from_pandas(frame),
}
CASES = {
    "one-hot": (surefit.OneHotEncoder(sparse_output=False), FRAME),
    "one-hot, least count": (surefit.OneHotEncoder(min_frequency=25, sparse_output=False), FRAME),
    "one-hot, least share": (surefit.OneHotEncoder(min_frequency=0.2, sparse_output=False), FRAME),
    "one-hot, most levels": (surefit.OneHotEncoder(max_categories=3, sparse_output=False), FRAME),
    "ordinal": (surefit.OrdinalEncoder(min_frequency=25), FRAME),
    "target": (surefit.TargetEncoder(), FRAME),
    "target, smooth": (surefit.TargetEncoder(smooth=3.0), FRAME),
    "mean": (surefit.SimpleImputer(), GAPS),
    "median": (surefit.SimpleImputer(strategy="median"), GAPS),
    "most frequent": (surefit.SimpleImputer(strategy="most_frequent"), GAPS),
    "most frequent word": (surefit.SimpleImputer(strategy="most_frequent"), FRAME[["word"]]),
    "indicator": (surefit.MissingIndicator(), GAPS),
    "preparer": (surefit.TablePreparer("count", max_categories=3), FRAME.assign(gap=GAPS["a"])),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES)
def test_weight_is_repetition_in_memory(case, form):
    model, frame = CASES[case]
    make = FORMS[form]
    y = None if model.accepts.target == "none" else Y.to_numpy()
    if case == "most frequent word" and form == "polars":
        model = surefit.SimpleImputer(strategy="most_frequent", missing_values=None)
    model = clone(model)
    weighted = model.fit(make(frame), y, sample_weight=TIMES)
    repeated = clone(model).fit(make(frame.iloc[AGAIN]), None if y is None else y[AGAIN])
    assert weighted.n_samples_seen_ == repeated.n_samples_seen_ == TIMES.sum()
    rows = make(frame.iloc[AGAIN])
    one, two = weighted.transform(rows), repeated.transform(rows)
    one, two = np.asarray(one), np.asarray(two)
    if one.dtype == object:
        assert one.tolist() == two.tolist()
    else:
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
    assert surefit.verify(weighted, make(frame), y, TIMES).holds
    changed = np.where(np.arange(ROWS) == np.argmax(TIMES), TIMES + 2, TIMES)
    assert not surefit.verify(weighted, make(frame), y, changed).holds


def test_levels_of_rows_without_weight_are_none():
    model = surefit.OneHotEncoder().fit(FRAME, sample_weight=TIMES)
    assert "rare" not in model.categories_[0].tolist()
    assert model.categories_[1].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(DataError, match="unknown categories"):
        model.transform(FRAME)


def test_fractions_and_later_rows():
    weight = RNG.uniform(0.1, 2.0, ROWS)
    whole = surefit.TargetEncoder().fit(FRAME, Y, weight)
    parts = surefit.TargetEncoder().partial_fit(FRAME[:40], Y[:40], weight[:40])
    parts.partial_fit(FRAME[40:], Y[40:], weight[40:])
    np.testing.assert_allclose(parts.transform(FRAME), whole.transform(FRAME), rtol=1e-12)
    red = (FRAME["word"] == "red").to_numpy()
    plain = surefit.TargetEncoder(smooth=0.0).fit(FRAME, Y, weight)
    place = plain.categories_[0].tolist().index("red")
    assert plain.encodings_[0][place] == pytest.approx(np.average(Y[red], weights=weight[red]), rel=1e-12)
    table = pa.Table.from_pandas(FRAME.assign(y=Y, w=weight), preserve_index=False)
    streamed = surefit.TargetEncoder().fit(surefit.read(table, target="y", weight="w"))
    np.testing.assert_allclose(streamed.encodings_[1], whole.encodings_[1], rtol=1e-12)


def test_cross_fitting_leaves_rows_without_weight_out():
    """They get a code, and give nothing to the others."""
    halves = [(np.arange(45, 90), np.arange(45)), (np.arange(45), np.arange(45, 90))]
    weight = RNG.uniform(0.0, 2.0, ROWS)
    weight[::3] = 0
    made = surefit.TargetEncoder(cv=halves).fit_transform(FRAME, Y, sample_weight=weight)
    for train, test in halves:
        kept = train[weight[train] > 0]
        expected = surefit.TargetEncoder().fit(FRAME.iloc[kept], Y.iloc[kept], weight[kept])
        np.testing.assert_allclose(made[test], expected.transform(FRAME.iloc[test]), rtol=1e-12)
    with pytest.raises(DataError, match="leaves no row with a positive sample_weight"):
        surefit.TargetEncoder(cv=halves).fit_transform(FRAME, Y, sample_weight=np.arange(ROWS) < 45)


def test_bad_weights_are_refused():
    for weight, message in ((np.full(ROWS, -1.0), "not negative"), (np.zeros(ROWS), "every sample_weight")):
        with pytest.raises(DataError, match=message):
            surefit.OneHotEncoder().fit(FRAME, sample_weight=weight)
