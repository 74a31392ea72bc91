"""Bagging and AdaBoost over frames of any library with categories, which reach their members as they came."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import surefit
from surefit import AdaBoostClassifier, AdaBoostRegressor, BaggingClassifier, BaggingRegressor
from surefit.core.errors import DataError

FORMS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "table": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
}
ENSEMBLES = [AdaBoostClassifier, AdaBoostRegressor, BaggingClassifier, BaggingRegressor]


def rows(count=80, seed=0):
    """A frame with categories and missing cells, its target as numbers, and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    kind = pd.Categorical(rng.choice(["u", "v", "w"], count))
    frame = pd.DataFrame({"kind": kind, "size": rng.normal(size=count)})
    frame.loc[::9, "size"] = np.nan
    y = 2.0 * (frame["kind"] == "u").to_numpy() + frame["size"].fillna(0).to_numpy()
    return frame, y, rng.integers(0, 3, count).astype(float)


def target_of(cls, y):
    """Labels for a classifier, numbers for a regression."""
    return np.where(y > 0.5, "high", "low") if "Classifier" in cls.__name__ else y


def coded(frame):
    """The same frame, in which categories are numbers of levels."""
    return np.column_stack([frame["kind"].cat.codes.astype(float), frame["size"]])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cls", ENSEMBLES)
def test_trees_split_the_levels_of_frames_of_any_library(cls, form, tmp_path):
    frame, score, weight = rows()
    y, X = target_of(cls, score), FORMS[form](frame)
    tree = "DecisionTreeClassifier" if "Classifier" in cls.__name__ else "DecisionTreeRegressor"
    levels = getattr(surefit, tree)(max_depth=2, categorical_features=[0])
    plain = cls(levels, n_estimators=5, random_state=0).fit(coded(frame), y, weight)
    base = getattr(surefit, tree)(max_depth=2)
    model = cls(base, n_estimators=5, random_state=0).fit(X, y, weight)
    np.testing.assert_array_equal(model.predict(X), plain.predict(coded(frame)))
    assert surefit.verify(model, X, y, weight) == model.certificate_
    assert not surefit.verify(model, X, np.roll(y, 1), weight).holds
    assert not surefit.verify(model, X, y, np.roll(weight, 1)).holds
    surefit.save(model, tmp_path / "model.safetensors")
    again = surefit.load(tmp_path / "model.safetensors")
    for other in FORMS.values():  # a model does not care in which form its table comes
        np.testing.assert_array_equal(again.predict(other(frame)), model.predict(X))
    for method in [name for name in dir(cls) if name.startswith("staged_") and name != "staged_score"]:
        found, wanted = list(getattr(model, method)(X)), list(getattr(plain, method)(coded(frame)))
        assert len(found) == len(model.estimators_)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cls", ENSEMBLES)
def test_pipelines_encode_the_levels_of_frames_of_any_library(cls, form):
    frame, score, weight = rows()
    y, X = target_of(cls, score), FORMS[form](frame)
    classify = "Classifier" in cls.__name__
    last = surefit.LogisticRegression() if classify else surefit.Ridge()
    base = surefit.make_pipeline(surefit.TablePreparer(), last)
    model = cls(base, n_estimators=4, random_state=0).fit(X, y, weight)
    wanted = cls(base, n_estimators=4, random_state=0).fit(frame, y, weight)
    if classify:
        # The order of sums of a source is its own: two minima agree to the tolerance of a solver.
        np.testing.assert_array_equal(model.predict(X), wanted.predict(frame))
    else:
        np.testing.assert_allclose(model.predict(X), wanted.predict(frame), rtol=1e-9, atol=1e-9)
    assert surefit.verify(model, X, y, weight).holds
    assert not surefit.verify(model, X, np.roll(y, 1), weight).holds
    with pytest.raises(DataError, match="works on numbers"):
        cls(last, n_estimators=2).fit(X, y)


@pytest.mark.parametrize("form", ["pandas", "polars", "table"])
def test_boosting_teaches_every_step_of_a_pipeline_by_weights(form):
    frame, score, _ = rows()
    X, y = FORMS[form](frame), np.where(score > 0.5, "high", "low")
    encoded = make_column_transformer((OneHotEncoder(), ["kind"]), (SimpleImputer(), ["size"]))
    model = AdaBoostClassifier(make_pipeline(encoded, surefit.LogisticRegression()), n_estimators=4)
    model.fit(X, y)
    member, votes = model.estimators_[1], model.estimator_weights_[0]
    missed = model.estimators_[0].predict(X) != y
    weight = np.where(missed, np.exp(votes), 1.0)
    by_hand = make_pipeline(encoded, surefit.LogisticRegression())
    by_hand.fit(X, y, logisticregression__sample_weight=weight / weight.sum())
    np.testing.assert_allclose(member.predict_proba(X), by_hand.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("cls", ENSEMBLES)
def test_arrow_tables_name_their_columns(cls):
    frame, score, weight = rows()
    y, table = target_of(cls, score), FORMS["table"](frame)
    named = table.append_column("y", pa.array(y)).append_column("n", pa.array(weight))
    model = cls(n_estimators=3, random_state=0).fit(table, y, weight)
    found = cls(n_estimators=3, random_state=0).fit(named, "y", sample_weight="n")
    turned = named.select(["n", "size", "y", "kind"])
    np.testing.assert_array_equal(found.predict(turned), model.predict(table))
    assert surefit.verify(found, turned, "y", "n") == model.certificate_
    with pytest.raises(DataError, match="size"):
        model.predict(table.drop_columns(["size"]))
    with pytest.raises(ValueError, match="not fitted"):
        cls().predict(table)


@pytest.mark.parametrize("cls", [AdaBoostClassifier, AdaBoostRegressor])
def test_stages_of_arrow_tables_of_numbers(cls):
    score = rows()[1]
    y, table = target_of(cls, score), pa.table({"size": score, "twice": 2 * score**2})
    model = cls(n_estimators=3).fit(table, y)
    np.testing.assert_array_equal(list(model.staged_predict(table))[-1], model.predict(table))
