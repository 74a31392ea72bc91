"""Bagging: where it helps, where it hurts, what members are worth, and members of any kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

import surefit
from surefit import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EarlyStopping,
    LinearRegression,
    LogisticRegression,
    MeanRegressor,
    Ridge,
)
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError
from surefit.models.tree.ensembles.bagging.errors import MemberErrors

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


@pytest.mark.covers("ml_for_data_science:2.3", by="BaggingRegressor")
def test_bagging_the_mean_does_nothing():
    y = np.random.default_rng(0).normal(size=30)
    X = np.zeros((30, 1))
    for members in (10, 300):
        found = BaggingRegressor(MeanRegressor(), members).fit(X, y).predict(X[:1])[0]
        assert abs(found - y.mean()) <= 4 * y.std() / np.sqrt(30 * members)


def lines(extra: tuple[float, float], noise: float, times: int) -> tuple[np.ndarray, np.ndarray]:
    """The errors on [0, 9] against y = x of a line, and of bagged lines, with one more point."""
    plain, bagged = [], []
    grid = np.linspace(0.0, 9.0, 50)[:, None]
    x = np.append(np.arange(10.0), extra[0])[:, None]
    for time in range(times):
        y = np.append(np.arange(10.0) + np.random.default_rng(time).normal(0, noise, 10), extra[1])
        models = [LinearRegression(), BaggingRegressor(LinearRegression(), 60, random_state=time)]
        for model, errors in zip(models, (plain, bagged), strict=True):
            errors.append(np.mean((model.fit(x, y).predict(grid) - grid[:, 0]) ** 2))
    return np.array(plain), np.array(bagged)


@pytest.mark.covers("ml_for_data_science:2.3", by="BaggingRegressor")
def test_bagging_evens_out_the_influence_of_points():
    plain, bagged = lines((25.0, 0.0), 0.5, 4)  # a bad point of high leverage loses influence
    assert (bagged < plain).all()
    assert plain.mean() == pytest.approx(7.22, rel=0.15)
    assert bagged.mean() == pytest.approx(3.34, rel=0.25)
    plain, bagged = lines((4.5, 20.0), 0.5, 4)  # a bad point of low leverage gains some
    assert bagged.mean() > 1.1 * plain.mean()
    plain, bagged = lines((25.0, 25.0), 2.0, 12)  # a good point of high leverage loses some
    assert bagged.mean() > plain.mean()
    assert np.mean(bagged > plain) > 0.6


@pytest.mark.covers("course_summary:5.8", by="BaggingRegressor")
def test_averages_of_overgrown_trees_are_better_than_one():
    X, y = DIABETES
    train, test = np.arange(300), np.arange(300, 442)
    one = DecisionTreeRegressor(random_state=0).fit(X[train], y[train])
    many = BaggingRegressor(n_estimators=60).fit(X[train], y[train])
    assert many.score(X[test], y[test]) > one.score(X[test], y[test]) + 0.2
    assert many.loss_curve_[-1] < 0.75 * many.loss_curve_[0]
    truth = np.mean((many.predict(X[test]) - y[test]) ** 2)
    assert abs(truth - many.certificate_.value) < 4 * many.certificate_.parts["standard error"]


@pytest.mark.covers("intro_to_ml:6.5", by="BaggingRegressor")
def test_the_share_of_rows_that_a_bootstrap_leaves_out():
    for rows, wanted in ((10, 0.3486784), (100, 0.3660323)):
        model = BaggingRegressor(MeanRegressor(), 150).fit(np.zeros((rows, 1)), np.arange(float(rows)))
        left = [1 - len(np.unique(drawn)) / rows for drawn in model.estimators_samples_]
        assert abs(np.mean(left) - wanted) < 4 * np.std(left) / np.sqrt(150)
        assert (1 - 1 / rows) ** rows == pytest.approx(wanted, abs=1e-7)


@pytest.mark.covers("course_summary:5.9", by="BaggingClassifier")
def test_one_member_with_all_rows_and_columns_is_the_model_itself():
    X, y = IRIS
    model = BaggingClassifier(n_estimators=1, bootstrap=False).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), DecisionTreeClassifier().fit(X, y).predict_proba(X))


@pytest.mark.covers("ml_for_data_science:2.4", by="BaggingRegressor.averaged_error")
def test_the_error_of_an_average_by_the_correlation_of_its_members():
    rng = np.random.default_rng(0)
    truth, weight = rng.normal(size=(40, 2)), rng.uniform(0.5, 2.0, 40)
    answers = truth + rng.normal(size=(40, 2)) + 0.7 * rng.normal(size=(8, 40, 2))
    errors = MemberErrors(truth, weight, by_class=False)
    for one in answers:
        errors.add(np.ones(40, dtype=bool), one)
    alone, rho = errors.decomposition()
    squared = ((answers.mean(axis=0) - truth) ** 2).mean(axis=1)
    assert rho * alone + (1 - rho) / 8 * alone == pytest.approx(np.average(squared, weights=weight))
    assert errors.loss()[0] == pytest.approx(np.average(squared, weights=weight))
    model = BaggingRegressor(n_estimators=2).fit(*DIABETES)
    model.member_error_, model.member_correlation_ = 1.0, 0.3
    for members, wanted in ((1, 1.0), (10, 0.37), (100, 0.307)):
        assert model.averaged_error(members) == pytest.approx(wanted)


def test_members_that_err_alike_are_diagnosed_with_their_correlation():
    steady = BaggingRegressor(Ridge()).fit(*DIABETES)
    assert steady.diagnosis_.codes() == ("correlated-members",)
    assert steady.diagnosis_[0].evidence["correlation"] == pytest.approx(steady.member_correlation_)
    trees = BaggingRegressor().fit(*DIABETES)
    assert trees.diagnosis_.codes() == ()
    assert trees.member_correlation_ < 0.7 < 0.95 < steady.member_correlation_ <= 1


@pytest.mark.parametrize(
    "member", [TheirGaussianNB(), KNeighborsClassifier(), SVC()], ids=["nb", "knn", "svc"]
)
def test_members_of_another_library(member):
    X, y = IRIS
    model = BaggingClassifier(member, 5, max_samples=0.6, max_features=2).fit(X, y)
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert surefit.verify(model, X, y).holds
    assert not surefit.verify(model, X, np.roll(y, 1)).holds
    with pytest.raises(FormatError, match="a model file cannot hold"):
        surefit.save(model, "never.safetensors")


def test_answers_out_of_bag_are_those_of_members_that_have_not_seen_the_row():
    X, y = DIABETES
    model = BaggingRegressor(n_estimators=40, oob_score=True).fit(X, y)
    sums, counts = np.zeros(len(y)), np.zeros(len(y))
    for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(y)), drawn)
        sums[out] += member.predict(X[out])
        counts[out] += 1
    seen = counts > 0
    np.testing.assert_allclose(model.oob_prediction_[seen], (sums / counts)[seen])
    assert model.certificate_.value == pytest.approx(np.mean(((sums / counts)[seen] - y[seen]) ** 2))
    assert model.loss_curve_[-1] == model.certificate_.value
    errors = ((sums / counts)[seen] - y[seen]) ** 2
    wanted = errors.std() / np.sqrt(seen.sum())
    assert model.certificate_.parts["standard error"] == pytest.approx(wanted)


def test_the_score_out_of_bag_is_that_of_rows_not_seen():
    X, y = IRIS
    model = BaggingClassifier(n_estimators=40, oob_score=True).fit(X, y)
    assert model.oob_score_ == pytest.approx(1 - model.certificate_.value)
    assert model.oob_decision_function_.shape == (150, 3)
    with pytest.raises(AttributeError, match="oob_score=True"):
        BaggingClassifier().fit(X, y).oob_score_  # noqa: B018
    with pytest.raises(ParameterError, match="only available if bootstrap=True"):
        BaggingClassifier(oob_score=True, bootstrap=False).fit(X, y)


def test_a_warm_start_adds_the_members_that_one_fit_would_have():
    X, y = IRIS
    warm = BaggingClassifier(n_estimators=3, warm_start=True).fit(X, y)
    first = list(warm.estimators_)
    warm.set_params(n_estimators=8).fit(X, y)
    assert warm.estimators_[:3] == first
    whole = BaggingClassifier(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(warm.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(warm.loss_curve_, whole.loss_curve_)
    with pytest.warns(UserWarning, match="without increasing"):
        warm.fit(X, y)
    with pytest.raises(ParameterError, match="larger or equal"):
        warm.set_params(n_estimators=2).fit(X, y)


def test_weight_equals_repetition_where_the_number_of_rows_drawn_is_given():
    X, y = DIABETES
    times = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    one = BaggingRegressor(max_samples=1.0).fit(X, y, times.astype(float))
    two = BaggingRegressor(max_samples=1.0).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict(X), two.predict(X))


def test_rows_are_drawn_in_proportion_to_their_weights():
    weight = np.array([0.0, 1.0, 2.0, 5.0])
    model = BaggingRegressor(MeanRegressor(), 150).fit(np.zeros((4, 1)), np.arange(4.0), weight)
    counts = np.bincount(np.concatenate(model.estimators_samples_), minlength=4)
    shares = weight / weight.sum()
    assert (np.abs(counts / 600 - shares) <= 4 * np.sqrt(shares * (1 - shares) / 600)).all()


@pytest.mark.parametrize("cls", [BaggingClassifier, BaggingRegressor])
def test_verify_draws_again_and_proves_every_member(cls, tmp_path):
    X, y = IRIS if cls is BaggingClassifier else DIABETES
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = cls(n_estimators=4).fit(X, y, weight)
    surefit.save(model, tmp_path / "model")
    assert surefit.verify(tmp_path / "model", X, y, weight).holds
    assert surefit.verify(model, X, y, weight) == model.certificate_
    other = weight.copy()
    other[0] *= 3
    assert not surefit.verify(model, X, y, other).holds
    assert not surefit.verify(model, X, np.roll(y, 1), weight).holds
    model.estimators_[2].node_threshold_[0] += 0.01
    assert not surefit.verify(model, X, y, weight).holds
    with pytest.raises(DataError, match="drew from"):
        surefit.verify(model, X[1:], y[1:], weight[1:])


def test_a_bag_that_lacks_classes():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    y = np.array(["a", "b", "b", "c", "c", "c"])
    model = BaggingClassifier(LogisticRegression(), 30, max_samples=3).fit(X, y)
    assert {len(member.classes_) for member in model.estimators_} == {1, 2, 3}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.isfinite(model.decision_function(X)).all()
    assert set(model.predict(X)) == {"b", "c"}  # few bags hold the row of a
    two = BaggingClassifier(LogisticRegression(), 30, max_samples=2).fit(X, y == "c")
    assert two.decision_function(X).shape == (6,)
    assert two.predict([[0.0], [5.0]]).tolist() == [False, True]
    assert not hasattr(BaggingClassifier(), "decision_function")


def test_sparse_rows_columns_and_missing_cells():
    X, y = DIABETES
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert np.isfinite(BaggingRegressor().fit(holes, y).predict(holes)).all()
    with pytest.raises(DataError, match="missing"):
        BaggingRegressor(Ridge()).fit(holes, y)
    dense = BaggingRegressor(Ridge(), max_features=0.5, bootstrap_features=True).fit(X, y)
    for make in (sparse.csr_array, sparse.csc_matrix):
        found = BaggingRegressor(Ridge(), max_features=0.5, bootstrap_features=True).fit(make(X), y)
        np.testing.assert_allclose(found.predict(make(X)), dense.predict(X), rtol=1e-6)
    assert {len(chosen) for chosen in dense.estimators_features_} == {5}
    with pytest.raises(DataError, match="max_features must be <= n_features"):
        BaggingRegressor(max_features=11).fit(X, y)


def test_pipelines_that_fill_missing_cells():
    X, y = DIABETES
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    for pipeline in (surefit.make_pipeline, make_pipeline):
        base = pipeline(surefit.SimpleImputer(), Ridge(0.1))
        assert BaggingRegressor(base, 4).fit(holes, y).score(holes, y) > 0.3
        assert surefit.OneVsRestClassifier(base).fit(holes, y > 140).score(holes, y > 140) > 0.6


def test_several_targets():
    X, y = DIABETES
    both = np.column_stack([y, -y])
    model = BaggingRegressor(n_estimators=3, oob_score=True)
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        model.fit(X, both)
    found = model.predict(X)
    np.testing.assert_allclose(found[:, 0], -found[:, 1])
    assert model.oob_prediction_.shape == (442, 2)
    assert surefit.verify(model, X, both).holds


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_units_of_the_target_change_nothing_else(scale):
    X, y = DIABETES
    plain = BaggingRegressor(n_estimators=3).fit(X[:80], y[:80])
    model = BaggingRegressor(n_estimators=3).fit(X[:80], scale * y[:80] + 1e6 * scale)
    np.testing.assert_allclose(model.predict(X) / scale - 1e6, plain.predict(X), rtol=1e-6)
    np.testing.assert_allclose(model.member_correlation_, plain.member_correlation_, rtol=1e-5)
    assert surefit.verify(model, X[:80], scale * y[:80] + 1e6 * scale).holds


def test_one_row_a_constant_target_and_float32():
    model = BaggingRegressor().fit([[1.0]], [3.0])
    assert model.predict([[2.0]])[0] == 3.0
    assert model.certificate_.claim == "measured"
    assert surefit.verify(model, [[1.0]], [3.0]).holds
    flat = BaggingClassifier().fit(np.arange(6.0)[:, None], ["a"] * 6)
    assert flat.predict([[9.0]]).tolist() == ["a"]
    X, y = IRIS
    X = X.astype(np.float32)
    X.flags.writeable = False
    assert BaggingClassifier().fit(np.asfortranarray(X)[::2], y[::2]).score(X, y) > 0.9


def test_weights_without_replacement_reach_the_members():
    X, y = DIABETES
    weight = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    model = BaggingRegressor(Ridge(), 2, bootstrap=False).fit(X, y, weight)
    np.testing.assert_allclose(model.predict(X), Ridge().fit(X, y, weight).predict(X))
    halves = BaggingRegressor(Ridge(), 4, bootstrap=False, max_samples=0.5).fit(X, y)
    assert halves.certificate_.claim == "estimated"
    assert [len(np.unique(drawn)) for drawn in halves.estimators_samples_] == [221] * 4
    with pytest.raises(DataError, match="doesn't support sample_weight"):
        BaggingRegressor(KNeighborsRegressor(), bootstrap=False).fit(X, y, weight)


def test_a_table_that_is_too_large_for_memory_is_refused(monkeypatch):
    X, y = DIABETES
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
    monkeypatch.setattr("surefit.models.ensemble.MOST_BYTES", 1000)
    with pytest.raises(RefusalError, match="use a single model that reads in batches"):
        BaggingRegressor().fit(surefit.read(pa.table(columns), target="y"))


def test_a_callback_stops_the_members():
    model = BaggingRegressor(DummyRegressor(), 50).set_callbacks(EarlyStopping(patience=2, min_delta=1e9))
    model.fit(*DIABETES)
    assert len(model) == len(list(model)) == len(model.loss_curve_) == 3
    assert model[0] is model.estimators_[0]


@pytest.mark.parametrize("classify", [False, True])
@pytest.mark.parametrize("member", ["tree", "pipeline"])
def test_frames_with_categories_reach_the_members_as_they_are(member, classify, tmp_path):
    rng = np.random.default_rng(0)
    kind = pd.Categorical(rng.choice(["u", "v", "w"], 80))
    frame = pd.DataFrame({"kind": kind, "size": rng.normal(size=80)})
    frame.loc[::9, "size"] = np.nan
    score = 2.0 * (frame["kind"] == "u") + frame["size"].fillna(0)
    y = np.where(score > 0.5, "high", "low") if classify else score
    encoded = make_column_transformer((OneHotEncoder(), ["kind"]), (SimpleImputer(), ["size"]))
    last = surefit.LogisticRegression() if classify else surefit.Ridge()
    base = None if member == "tree" else make_pipeline(encoded, last)
    make = surefit.BaggingClassifier if classify else surefit.BaggingRegressor
    model = make(base, 10, random_state=0, oob_score=True).fit(frame, y)
    assert model.oob_score_ > 0.85
    assert surefit.verify(model, frame, y).holds
    assert not surefit.verify(model, frame, np.roll(y, 1)).holds
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"size": "weight"}))
    if member == "tree":
        surefit.save(model, tmp_path / "model.safetensors")
        again = surefit.load(tmp_path / "model.safetensors").predict(frame)
        np.testing.assert_array_equal(again, model.predict(frame))
    with pytest.raises(DataError, match="works on numbers"):
        make(last, 2).fit(frame, y)
