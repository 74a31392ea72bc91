"""TargetEncoder against scikit-learn's, and the leak that cross-fitting prevents."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn import preprocessing
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

import surefit
from surefit.core.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
ROWS = 200
WORDS = np.array(["a", "b", "c", "d", "e"], dtype=object)[RNG.integers(0, 5, ROWS)]
X = np.empty((ROWS, 3), dtype=object)
X[:, 0], X[:, 1], X[:, 2] = WORDS, np.where(RNG.random(ROWS) < 0.2, np.nan, RNG.integers(0, 3, ROWS)), "same"
TARGETS = {
    "continuous": RNG.normal(size=ROWS) + (WORDS == "a"),
    "offset": RNG.normal(size=ROWS) + 1e6,
    "binary": np.where(RNG.random(ROWS) < 0.4, "yes", "no"),
    "multiclass": RNG.integers(0, 3, ROWS),
    "constant": np.full(ROWS, 2.5),
}
NEW = np.array([["a", 1, "same"], ["z", 7, "same"], ["b", np.nan, "other"]], dtype=object)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("smooth", ["auto", 0.0, 5.0])
def test_encodings(target, smooth):
    y = TARGETS[target]
    ours = surefit.TargetEncoder(smooth=smooth).fit(X, y)
    theirs = preprocessing.TargetEncoder(smooth=smooth).fit(X, y)
    assert ours.target_type_ == theirs.target_type_
    close(ours.target_mean_, theirs.target_mean_)
    assert len(ours.encodings_) == len(theirs.encodings_)
    for mine, its in zip(ours.encodings_, theirs.encodings_, strict=True):
        close(mine, its)
    for rows in (X, NEW):
        close(ours.transform(rows), theirs.transform(rows))
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert surefit.verify(ours, X, y).holds


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("smooth", ["auto", 3.0])
def test_cross_fitting(target, smooth):
    y = TARGETS[target]
    folds = KFold(4, shuffle=True, random_state=3)
    ours = surefit.TargetEncoder(smooth=smooth, cv=folds).fit_transform(X, y)
    theirs = preprocessing.TargetEncoder(smooth=smooth, cv=folds).fit_transform(X, y)
    close(ours, theirs)


def test_cross_fitting_with_whole_numbers_of_folds():
    y = TARGETS["binary"]
    with pytest.warns(FutureWarning, match="deprecated"):
        theirs = preprocessing.TargetEncoder(cv=3, random_state=0).fit_transform(X, y)
    close(surefit.TargetEncoder(cv=3, random_state=0).fit_transform(X, y), theirs)
    splits = [(np.arange(100, 200), np.arange(100)), (np.arange(100), np.arange(100, 200))]
    close(
        surefit.TargetEncoder(cv=splits).fit_transform(X, y),
        preprocessing.TargetEncoder(cv=splits).fit_transform(X, y),
    )
    groups = np.arange(ROWS) % 7
    assert surefit.TargetEncoder(cv=GroupKFold(3)).fit_transform(X, y, groups=groups).shape == (ROWS, 3)
    with pytest.raises(ParameterError, match="exactly once"):
        surefit.TargetEncoder(cv=ShuffleSplit(3)).fit_transform(X, y)


@pytest.mark.parametrize("target_type", ["continuous", "multiclass"])
def test_the_type_of_the_target_can_be_said(target_type):
    y = TARGETS["multiclass"]
    ours = surefit.TargetEncoder(target_type=target_type).fit(X, y)
    theirs = preprocessing.TargetEncoder(target_type=target_type).fit(X, y)
    close(ours.transform(X), theirs.transform(X))
    with pytest.raises(DataError, match="Unknown label type"):
        surefit.TargetEncoder().fit(X, np.zeros((ROWS, 2)))


def test_given_categories():
    levels = [["a", "b", "c", "d", "e", "f"], [0, 1, 2, np.nan], ["same"]]
    ours = surefit.TargetEncoder(categories=levels).fit(X, TARGETS["continuous"])
    theirs = preprocessing.TargetEncoder(categories=levels).fit(X, TARGETS["continuous"])
    for mine, its in zip(ours.encodings_, theirs.encodings_, strict=True):
        close(mine, its)


def test_a_unique_value_does_not_leak_its_target():
    """Every row its own category: encoded by its own target it would give the answer away."""
    y = RNG.normal(size=300)
    rows = np.arange(300)[:, None]
    leaking = surefit.TargetEncoder().fit(rows, y).transform(rows)[:, 0]
    honest = surefit.TargetEncoder(random_state=0).fit_transform(rows, y)[:, 0]
    assert np.corrcoef(leaking, y)[0, 1] > 0.99
    assert abs(np.corrcoef(honest, y)[0, 1]) < 0.3


@pytest.mark.parametrize("target", ["continuous", "binary"])
def test_over_a_source_no_row_sees_its_own_target(target):
    """The codes of one fold are those of a fit to the rows of the others."""
    y = TARGETS[target]
    table = pa.table({"word": WORDS.tolist(), "size": RNG.integers(0, 3, ROWS), "y": y})
    encoder = surefit.TargetEncoder(cv=4)
    source = encoder.fit_transform(table, "y")
    assert source.schema.names == ("word", "size")
    (batch,) = source
    assert len(batch.y) == ROWS
    frame = table.to_pandas()
    from surefit.resample.row_rule import RowRule

    for fold in range(4):
        held = RowRule(4, fold, others=False, seed=0).keeps(0, ROWS)
        others = surefit.TargetEncoder().fit(frame[~held][["word", "size"]], y[~held])
        close(batch.X[held], others.transform(frame[held][["word", "size"]]))
    plain = surefit.TargetEncoder().fit(frame[["word", "size"]], y)
    (rows,) = encoder.transform(table)
    close(rows.X, plain.transform(frame[["word", "size"]]))


def test_frames_out():
    frame = pd.DataFrame({"word": WORDS})
    out = surefit.TargetEncoder().set_output(transform="pandas").fit_transform(frame, TARGETS["continuous"])
    assert list(out.columns) == ["word"]
