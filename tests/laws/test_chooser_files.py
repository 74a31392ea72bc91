"""Searches and selectors in one file: the same answers, tables and choices after loading, and verified."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.model_selection import KFold

import surefit
from surefit.core.errors import DataError, FormatError, RefusalError
from surefit.core.registry import members
from surefit.evaluate.select.column_scores import f_regression
from surefit.io.model_file import read, write
from surefit.metrics import mean_squared_error

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = X[:, 0] - X[:, 3] + 0.1 * RNG.normal(size=60)
GRID = {"alpha": [0.1, 1.0]}
RIDGE = surefit.Ridge()
MADE = {
    "AnnealingSelector": surefit.AnnealingSelector(RIDGE, n_steps=5, cv=2),
    "BayesianModelAverage": surefit.BayesianModelAverage([surefit.LinearRegression(), surefit.Lasso(0.2)]),
    "ConformalClassifier": surefit.ConformalClassifier(surefit.GaussianNB(), method="aps", random_state=3),
    "ConformalRegressor": surefit.ConformalRegressor(RIDGE),
    "ExhaustiveSelector": surefit.ExhaustiveSelector(RIDGE, max_features=1, cv=2),
    "FixedThresholdClassifier": surefit.FixedThresholdClassifier(surefit.LogisticRegression(), threshold=0.4),
    "GeneticSelector": surefit.GeneticSelector(RIDGE, population=4, generations=1, cv=2),
    "GridSearch": surefit.GridSearch(RIDGE, GRID, split=KFold(3), scoring=mean_squared_error),
    "HalvingSearch": surefit.HalvingSearch(RIDGE, {"alpha": [0.1, 1.0, 9.0]}, min_rows=5, split=2),
    "OversampledClassifier": surefit.OversampledClassifier(surefit.GaussianNB(), random_state=1),
    "RandomSearch": surefit.RandomSearch(RIDGE, {"alpha": loguniform(0.1, 10)}, n_iter=2, split=2),
    "SelectByPermutation": surefit.SelectByPermutation("correlation", draws=20),
    "SelectFdr": surefit.SelectFdr(f_regression),
    "SelectFpr": surefit.SelectFpr("f_regression"),
    "SelectFromModel": surefit.SelectFromModel(surefit.Lasso(0.1)),
    "SelectFromPath": surefit.SelectFromPath(n_features=2),
    "SelectFwe": surefit.SelectFwe("f_regression"),
    "SelectKBest": surefit.SelectKBest(f_regression, k=2),
    "SelectPercentile": surefit.SelectPercentile("correlation", percentile=40),
    "SequentialFeatureSelector": surefit.SequentialFeatureSelector(RIDGE, n_features_to_select=2, cv=2),
    "VarianceThreshold": surefit.VarianceThreshold(),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.safetensors"


def target(name):
    return np.where(Y > 0, "high", "low") if name.endswith("Classifier") else Y


def fitted(name):
    return copy.deepcopy(MADE[name]).fit(X, target(name))


def answers(model, rows=X):
    return model.predict(rows) if hasattr(model, "predict") else model.transform(rows)


@pytest.mark.parametrize("name", members("chooser"))
def test_a_file_gives_the_same_answers_and_is_verified(name, path):
    model = fitted(name)
    surefit.save(model, path)
    loaded = surefit.load(path)
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(answers(loaded), answers(model))
    always, sometimes = type(model).attributes()
    learnt = {key for key in vars(model) if key.endswith("_") and key != "best_params_"}
    assert always <= learnt <= always | sometimes  # so nothing that a fit leaves is lost
    found = surefit.verify(path, X, target(name))
    assert found.holds
    other = np.zeros_like(X) + np.arange(60)[:, None] * [1, 0, 0, 0, 0] if name == "VarianceThreshold" else X
    assert not surefit.verify(loaded, other, target(name)[::-1].copy()).holds
    assert surefit.inspect(path)["columns"] == 5
    surefit.save(loaded, path)  # and again
    np.testing.assert_array_equal(answers(surefit.load(path)), answers(model))


@pytest.mark.parametrize("name", ["GridSearch", "RandomSearch", "HalvingSearch"])
def test_the_table_and_the_score_of_a_search_are_kept(name, path):
    model = fitted(name)
    surefit.save(model, path)
    loaded = surefit.load(path)
    assert list(loaded.cv_results_) == list(model.cv_results_)
    for key, column in model.cv_results_.items():
        same = loaded.cv_results_[key]
        assert same == column if key == "params" else repr(same) == repr(column)
    assert loaded.best_params_ == model.best_params_
    assert loaded.best_score_ == model.best_score_
    assert str(loaded.best_score_.interval) == str(model.best_score_.interval)
    assert loaded.best_score_.caveat == model.best_score_.caveat
    assert loaded.score(X, Y) == model.score(X, Y)
    assert repr(loaded.get_params()["split"]) == repr(
        surefit.resample.KFold(3) if name == "GridSearch" else 2
    )
    refitted = loaded.fit(X, Y)  # all that a fit needs is there
    np.testing.assert_array_equal(refitted.predict(X), model.predict(X))


def test_pipelines_hold_them_and_are_held(path):
    scaled = surefit.make_pipeline(surefit.StandardScaler(), surefit.Ridge())
    search = surefit.GridSearch(scaled, {"ridge__alpha": [0.1, 1.0]}, split=2)
    model = surefit.make_pipeline(surefit.SelectKBest("f_regression", k=3), search).fit(X, Y)
    surefit.save(model, path)
    loaded = surefit.load(path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    good = surefit.verify(path, X, Y)
    assert good.holds
    assert good.parts["selectkbest"] == 0.0
    loaded[0].support_ = np.roll(loaded[0].support_, 1)
    changed = surefit.verify(loaded, X, Y)
    assert not changed.holds
    assert "columns that the same rows choose otherwise" in changed.measure
    listed = surefit.inspect(path)["parameters"]["steps"]
    assert [step["class"] for _, step in listed] == ["SelectKBest", "GridSearch"]
    assert listed[1][1]["best_estimator_"]["class"] == "Pipeline"


def test_frames_keep_their_names(path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = surefit.SelectKBest("f_regression", k=2).set_output(transform="pandas").fit(frame, Y)
    surefit.save(model, path)
    assert list(surefit.load(path).transform(frame).columns) == ["a", "d"]


def test_a_search_whose_model_is_not_the_one_chosen_is_caught(path):
    model = fitted("GridSearch")
    model.best_index_ = 1 - model.best_index_
    surefit.save(model, path)
    assert "not those chosen: alpha" in surefit.verify(path, X, Y).measure
    assert not surefit.verify(path, X, Y).holds


def test_what_cannot_be_saved_or_verified_says_so(path):
    with pytest.raises(NotFittedError):
        surefit.save(surefit.GridSearch(RIDGE, GRID), path)
    with pytest.raises(FormatError, match=r"GridSearch\.estimator is a Ridge"):
        surefit.save(surefit.GridSearch(SklearnRidge(), GRID).fit(X, Y), path)
    with pytest.raises(FormatError, match="score_func is a function"):
        surefit.save(surefit.SelectKBest(lambda A, b: A[0], k=1).fit(X, Y), path)
    assert not path.exists()
    drawn = surefit.SelectByPermutation("correlation", draws=9, random_state=None).fit(X, Y)
    with pytest.raises(RefusalError, match="without a fixed random_state"):
        surefit.verify(drawn, X, Y)
    with pytest.raises(DataError, match="takes no weights"):
        surefit.verify(fitted("SelectKBest"), X, Y, np.ones(60))
    with pytest.raises(RefusalError, match="refit=False"):
        surefit.verify(surefit.GridSearch(RIDGE, GRID, refit=False).fit(X, Y), X, Y)


@pytest.mark.parametrize("method", ["split", "cross", "jackknife+", "cqr"])
def test_intervals_are_loaded_and_their_calibration_is_measured_again(method, path):
    inner = surefit.QuantileRegressor(alpha=0.0) if method == "cqr" else RIDGE
    model = surefit.ConformalRegressor(inner, method=method, folds=3).fit(X, Y)
    surefit.save(model, path)
    loaded = surefit.load(path)
    np.testing.assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    assert surefit.verify(path, X, Y).holds
    loaded.errors_ = loaded.errors_ * 0.9  # narrower than what was measured
    found = surefit.verify(loaded, X, Y)
    assert not found.holds
    assert "errors of rows set aside" in found.measure


def test_sets_and_averages_are_loaded_and_checked(path):
    model = fitted("ConformalClassifier")
    surefit.save(model, path)
    loaded = surefit.load(path)
    np.testing.assert_array_equal(loaded.predict_set(X), model.predict_set(X))
    loaded.threshold_ -= 0.01
    assert not surefit.verify(loaded, X, target("ConformalClassifier")).holds
    average = surefit.BayesianModelAverage([surefit.LogisticRegression(), surefit.LogisticRegression(C=0.1)])
    surefit.save(average.fit(X, target("ConformalClassifier")), path)
    loaded = surefit.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), average.predict_proba(X))
    loaded.weights_ = loaded.weights_[::-1]
    assert "probabilities" in surefit.verify(loaded, X, target("ConformalClassifier")).measure
    with pytest.raises(FormatError, match=r"ConformalRegressor\.model is a Ridge"):
        surefit.save(surefit.ConformalRegressor(SklearnRidge()).fit(X, Y), path)


LIES = {
    "errors that are none": ("ConformalRegressor", lambda h: h["state"].update(errors_="few")),
    "models that are none": ("ConformalRegressor", lambda h: h["state"].update(models_=[1])),
    "a model that is none": ("ConformalClassifier", lambda h: h["state"].update(model_="os")),
    "weights for other models": ("BayesianModelAverage", lambda h: h["state"].update(models_=[])),
    "a mask of another length": ("SelectKBest", lambda h: h["state"].update(n_features_in_=9)),
    "no mask": ("SelectKBest", lambda h: h["state"].pop("support_")),
    "more than a fit leaves": ("SelectKBest", lambda h: h["state"].update(fit=1)),
    "another parameter": ("SelectKBest", lambda h: h["parameters"].update(other=1)),
    "nothing found": ("SelectKBest", lambda h: h.update(state={})),
    "an output that is none": (
        "SelectKBest",
        lambda h: h["state"].update(_sklearn_output_config={"transform": "os"}),
    ),
    "a choice out of the table": ("GridSearch", lambda h: h["state"].update(best_index_=99)),
    "a score that is none": ("GridSearch", lambda h: h["state"].update(best_score_=[])),
    "a distribution that is none": (
        "RandomSearch",
        lambda h: h["parameters"]["param_distributions"]["alpha"].update({"$scipy": "norm_gen"}),
    ),
    "a distribution of words": (
        "RandomSearch",
        lambda h: h["parameters"]["param_distributions"]["alpha"].update(args=["a"]),
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_is_refused(lie, path):
    name, change = LIES[lie]
    surefit.save(fitted(name), path)
    header, arrays = read(path)
    header = copy.deepcopy(header)
    change(header)
    write(path, {key: value for key, value in header.items() if key != "format"}, arrays)
    with pytest.raises(FormatError) as caught:
        surefit.load(path)
    assert "\n" not in str(caught.value)
