"""Pipelines: the same answers over arrays, frames and sources, scikit-learn's own pipeline included."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline as SklearnPipeline
from sklearn.pipeline import make_pipeline as sklearn_pipeline

import surefit
from surefit.core.errors import DataError
from surefit.data.source import is_source

RNG = np.random.default_rng(0)
ROWS = 300
FRAME = pd.DataFrame(
    {
        "size": np.where(RNG.random(ROWS) < 0.1, np.nan, RNG.normal(50, 10, ROWS)),
        "age": RNG.integers(0, 40, ROWS).astype(float),
    }
)
PRICE = FRAME["age"].to_numpy() * 3 + RNG.normal(size=ROWS)
KIND = np.where(PRICE > 60, "dear", "cheap")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "table"
    folder.mkdir()
    whole = FRAME.assign(price=PRICE, kind=KIND)
    for part in range(3):
        table = pa.Table.from_pandas(whole.iloc[part * 100 : part * 100 + 100], preserve_index=False)
        pa.parquet.write_table(table, folder / f"part{part}.parquet")
    return folder


def steps():
    return surefit.SimpleImputer(), surefit.StandardScaler(), surefit.PolynomialFeatures(2)


def rows_of(source):
    assert is_source(source)
    return np.concatenate([batch.X for batch in source])


def test_files_give_the_numbers_of_arrays(folder):
    names = ["size", "age"]
    memory = surefit.make_pipeline(*steps(), surefit.MeanRegressor()).fit(FRAME, PRICE)
    streamed = surefit.make_pipeline(*steps(), surefit.MeanRegressor())
    source = surefit.read(folder, target="price", columns=names)
    streamed.fit(source)
    np.testing.assert_allclose(streamed.predict(source), memory.predict(FRAME), rtol=1e-12)
    np.testing.assert_allclose(
        rows_of(streamed[:-1].transform(source)), memory[:-1].transform(FRAME), rtol=1e-9
    )
    assert list(streamed[:-1].get_feature_names_out()) == list(memory[:-1].get_feature_names_out())


def test_the_short_form_and_answers_in_a_file(folder, tmp_path):
    model = surefit.make_pipeline(
        surefit.OrdinalEncoder(), surefit.SimpleImputer(), surefit.MajorityClassifier()
    )
    model.fit(str(folder / "*.parquet"), "kind")
    assert list(model.classes_) == ["cheap", "dear"]
    model.predict(str(folder / "*.parquet"), to=tmp_path / "out.parquet")
    assert pa.parquet.read_table(tmp_path / "out.parquet").num_rows == ROWS
    weighted = surefit.make_pipeline(surefit.StandardScaler(), surefit.MeanRegressor())
    weighted.fit(surefit.read(folder, target="price", weight="age", columns=["age"]))
    assert weighted[-1].mean_[0] == pytest.approx(np.average(PRICE, weights=FRAME["age"]))


def test_a_transformed_source_trains_another_model(folder):
    """Target and weights stay beside their rows; classes are found behind the map."""
    scaled = surefit.StandardScaler().fit_transform(surefit.read(folder, target="kind", columns=["age"]))
    model = surefit.MajorityClassifier().fit(scaled)
    assert list(model.classes_) == ["cheap", "dear"]
    assert model.class_prior_[0] == pytest.approx((KIND == "cheap").mean())


@pytest.mark.parametrize("make", [surefit.make_pipeline, sklearn_pipeline])
def test_frames_and_search_as_in_scikit_learn(make):
    for frame in (FRAME, pl.DataFrame(FRAME.to_dict("list"))):
        model = make(*steps(), LogisticRegression()).fit(frame, KIND)
        assert model.score(frame, KIND) > 0.9
    search = GridSearchCV(
        make(*steps(), LogisticRegression()),
        {"polynomialfeatures__degree": [1, 2]},
        cv=3,
        error_score="raise",
    ).fit(FRAME, KIND)
    assert search.best_score_ > 0.8
    assert isinstance(clone(make(*steps())), SklearnPipeline)


def test_frames_out_and_a_source_stays_a_source(folder):
    model = surefit.make_pipeline(*steps()).set_output(transform="pandas")
    assert list(model.fit_transform(FRAME).columns[:3]) == ["1", "size", "age"]
    source = surefit.read(folder, columns=["size", "age"])
    np.testing.assert_allclose(
        rows_of(model.transform(source)), model.transform(FRAME).to_numpy(), rtol=1e-12
    )
    assert is_source(model.fit_transform(source))
    polars = surefit.StandardScaler().set_output(transform="polars").fit(FRAME)
    assert isinstance(polars.transform(FRAME), pl.DataFrame)
    assert is_source(polars.transform(source))


def test_steps_left_out_and_a_fit_that_fails(folder):
    source = surefit.read(folder, target="price", columns=["age"])
    model = surefit.make_pipeline("passthrough", surefit.StandardScaler(), surefit.MeanRegressor()).fit(
        source
    )
    before = [id(step) for _, step in model.steps]
    with pytest.raises(DataError, match="works on numbers"):
        model.fit(folder, "price")
    assert [id(step) for _, step in model.steps] == before
    model.predict(source)


def test_what_cannot_read_a_source_says_so(folder):
    model = surefit.make_pipeline(surefit.StandardScaler(), LogisticRegression())
    source = surefit.read(folder, target="kind", columns=["age"])
    with pytest.raises(DataError, match=r"'logisticregression' is a LogisticRegression, which cannot read"):
        model.fit(source)
    with pytest.raises(DataError, match="takes no sample_weight"):
        surefit.make_pipeline(surefit.StandardScaler()).fit(source, sample_weight="age")
