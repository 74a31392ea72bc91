"""AdaBoost against scikit-learn's, a worked example, its bound, and plain loops."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.ensemble as peers
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier as TheirTree

import surefit
from surefit import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from surefit.core.errors import DataError, FormatError, ParameterError

TABLES = {"cancer": load_breast_cancer, "wine": load_wine}  # in which no two columns part the rows alike
DIABETES = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("name", TABLES)
def test_votes_errors_and_answers_are_scikit_learns(name, rate):
    X, y = TABLES[name](return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    ours = AdaBoostClassifier(n_estimators=15, learning_rate=rate).fit(X, y, weight)
    theirs = peers.AdaBoostClassifier(
        n_estimators=15, learning_rate=rate, estimator=TheirTree(max_depth=1), random_state=0
    ).fit(X, y, weight)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        np.testing.assert_allclose(
            getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-9, atol=1e-12
        )
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    for method in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
        for one, two in zip(getattr(ours, method)(X), getattr(theirs, method)(X), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
    staged = list(theirs.staged_score(X, y, weight))
    np.testing.assert_allclose(list(ours.staged_score(X, y, weight)), staged)


@pytest.mark.covers("intro_to_ml:6.8", by="AdaBoostClassifier")
def test_the_example_of_ten_points_by_hand():
    X, y = np.arange(10.0)[:, None], np.array([1, 1, 1, -1, -1, -1, 1, 1, 1, -1])
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    np.testing.assert_allclose(model.estimator_errors_, [0.3, 3 / 14, 2 / 11], rtol=1e-12)
    np.testing.assert_allclose(model.estimator_weights_ / 2, [0.42364893, 0.64964149, 0.75203870], rtol=1e-7)
    assert model.score(X, y) == 1.0
    bound = np.prod([2 * np.sqrt(e * (1 - e)) for e in (0.3, 3 / 14, 2 / 11)])
    assert model.certificate_.tolerance == pytest.approx(bound)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [2, 4])
def test_the_training_error_is_never_above_its_bound(classes, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 3)), rng.integers(classes, size=80)
    y[X[:, 0] > 0] = 0
    weight = rng.uniform(0.0, 1.0, 80)
    for members in (1, 2, 5, 20):
        model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=members).fit(
            X, y, weight
        )
        error = 1 - model.score(X, y, weight)
        assert model.certificate_.value == pytest.approx(error)
        assert error <= model.certificate_.tolerance
        if classes == 2:
            e = model.estimator_errors_[: len(model.estimators_)]
            assert model.certificate_.tolerance == pytest.approx(np.prod(2 * np.sqrt(e * (1 - e))))
        assert surefit.verify(model, X, y, weight) == model.certificate_


def test_a_bound_below_one_row_leaves_no_error():
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=30).fit(X, y)
    assert model.certificate_.tolerance < 1 / len(y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("change", ["label", "weight", "vote", "member"])
def test_verify_catches_what_was_changed(change):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    for cls in (AdaBoostClassifier, AdaBoostRegressor):
        model = cls(n_estimators=4).fit(X, y, weight)
        labels, weights = y.copy(), weight.copy()
        assert surefit.verify(model, X, labels, weights).holds
        if change == "label":
            labels[3] = 2
        elif change == "weight":
            weights[3] *= 2
        elif change == "vote":
            model.estimator_weights_[1] *= 1.001
        else:
            model.estimators_[1].node_threshold_[0] += 0.02
        assert not surefit.verify(model, X, labels, weights).holds


def test_members_without_an_error_or_no_better_than_chance_end_the_fit():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 1, 1])
    model = AdaBoostClassifier().fit(X, y)
    assert len(model.estimators_) == 1
    assert (model.certificate_.value, model.certificate_.tolerance) == (0.0, 0.0)
    assert model.certificate_.holds
    xor = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    with pytest.raises(DataError, match="worse than random"):
        AdaBoostClassifier().fit(xor, [0, 1, 1, 0])
    deeper = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2)).fit(xor, [0, 1, 1, 0])
    assert deeper.score(xor, [0, 1, 1, 0]) == 1.0
    alone = AdaBoostClassifier().fit(X, ["a"] * 8)
    np.testing.assert_array_equal(alone.predict_proba(X), np.ones((8, 1)))


def test_any_classifier_that_takes_weights():
    X, y = load_iris(return_X_y=True)
    ours = AdaBoostClassifier(TheirLogistic(max_iter=500), n_estimators=4).fit(X, y)
    theirs = peers.AdaBoostClassifier(TheirLogistic(max_iter=500), n_estimators=4).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9)
    assert surefit.verify(ours, X, y).holds
    with pytest.raises(FormatError, match="a model file cannot hold"):
        surefit.save(ours, "never.safetensors")
    with pytest.raises(AttributeError, match="feature_importances_"):
        ours.feature_importances_  # noqa: B018
    with pytest.raises(ParameterError, match="doesn't support sample_weight"):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ParameterError, match="resample=True"):
        AdaBoostRegressor(KNeighborsRegressor(), resample=False).fit(X, y)


def boosted(X, y, loss, members):
    """The members' votes and answers, by the formulas alone."""
    weight, votes, answers = np.full(len(y), 1 / len(y)), [], []
    for _ in range(members):
        tree = DecisionTreeRegressor(max_depth=3).fit(X, y, weight)
        answers.append(tree.predict(X))
        share = np.abs(answers[-1] - y) / np.abs(answers[-1] - y).max()
        share = {"linear": share, "square": share**2, "exponential": 1 - np.exp(-share)}[loss]
        mean = weight @ share
        beta = mean / (1 - mean)
        votes.append(np.log(1 / beta))
        weight = weight * beta ** (1 - share)
        weight /= weight.sum()
    return np.array(votes), np.array(answers)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_regression_by_its_formulas(loss):
    X, y = DIABETES
    model = AdaBoostRegressor(n_estimators=5, loss=loss, resample=False).fit(X, y)
    votes, answers = boosted(X, y, loss, 5)
    np.testing.assert_allclose(model.estimator_weights_, votes, rtol=1e-9)
    below = [(votes * (answers[:, i] <= model.predict(X)[i] + 1e-9)).sum() for i in range(20)]
    under = [(votes * (answers[:, i] < model.predict(X)[i] - 1e-9)).sum() for i in range(20)]
    assert (np.array(below) >= votes.sum() / 2 - 1e-9).all()
    assert (np.array(under) < votes.sum() / 2).all()


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_regression_as_good_as_scikit_learns(loss):
    X, y = DIABETES
    train, test = np.arange(300), np.arange(300, 442)
    scores = {}
    for cls in (AdaBoostRegressor, peers.AdaBoostRegressor):
        models = [cls(n_estimators=15, loss=loss, random_state=s).fit(X[train], y[train]) for s in range(4)]
        scores[cls] = np.array([model.score(X[test], y[test]) for model in models])
    ours, theirs = scores.values()
    assert abs(ours.mean() - theirs.mean()) < 4 * np.hypot(ours.std(), theirs.std()) / 2 + 0.01


def test_the_median_of_the_same_members_is_scikit_learns():
    X, y = DIABETES
    theirs = peers.AdaBoostRegressor(n_estimators=12, random_state=0).fit(X, y)
    ours = AdaBoostRegressor(n_estimators=12).fit(X, y)
    ours.estimators_, ours.estimator_weights_ = theirs.estimators_, theirs.estimator_weights_
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for one, two in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)))


def test_sparse_rows_scales_and_one_row():
    X, y = load_iris(return_X_y=True)
    dense = AdaBoostClassifier(n_estimators=4).fit(X, y)
    for make in (sparse.csr_array, sparse.csc_array):
        found = AdaBoostClassifier(n_estimators=4).fit(make(X), y)
        np.testing.assert_array_equal(found.predict_proba(make(X)), dense.predict_proba(X))
    X, y = DIABETES
    plain = AdaBoostRegressor(n_estimators=3).fit(X[:90], y[:90])
    for scale in (1e-12, 1e12):
        model = AdaBoostRegressor(n_estimators=3).fit(X[:90], scale * y[:90])
        np.testing.assert_allclose(model.estimator_weights_, plain.estimator_weights_, rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert AdaBoostRegressor().fit([[1.0]], [2.0]).predict([[5.0]])[0] == 2.0
