"""Shuffled columns and shuffled targets: the short ways give what predicting and fitting anew gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, permutation_test_score
from sklearn.naive_bayes import GaussianNB

import surefit
from surefit import resample
from surefit.core.native.linear.linear_shuffle import linear_shuffle, linear_shuffle_twin
from surefit.evaluate.cross_validation import permutation_test
from surefit.evaluate.explain import permutation_importance as importance

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 9))
Y = X[:, 0] - 2 * X[:, 1] + 0.3 * RNG.normal(size=120)
LABELS = np.array(["no", "yes"])[(Y > 0).astype(int)]
MODELS = {
    "forest": (surefit.RandomForestRegressor(n_estimators=8, random_state=0), Y),
    "forest of classes": (surefit.RandomForestClassifier(n_estimators=8, random_state=0), LABELS),
    "extra trees": (surefit.ExtraTreesRegressor(n_estimators=5, random_state=0), Y),
    "tree": (surefit.DecisionTreeRegressor(max_depth=4), Y),
    "tree of classes": (surefit.DecisionTreeClassifier(max_depth=4), LABELS),
    "line": (surefit.Ridge(), Y),
    "line of classes": (surefit.LogisticRegression(), LABELS),
}
METRICS = {
    False: ["r2_score", "mean_squared_error", "mean_absolute_error", "max_error"],
    True: ["accuracy_score", "log_loss"],
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("form", ["array", "frame", "single floats"])
def test_importance_is_that_of_asking_the_model_again(name, form, monkeypatch):
    model, y = MODELS[name]
    rows = {"array": X, "frame": pd.DataFrame(X).add_prefix("c"), "single floats": X.astype(np.float32)}[form]
    model = model.fit(rows, y)
    for metric in METRICS[y is LABELS]:
        given = {"metric": metric, "repeats": 3, "columns": [0, 1, 5]}
        quick = surefit.permutation_importance(model, rows, y, **given)
        with monkeypatch.context() as patch:
            patch.setattr(importance, "_fast", lambda *all_of_it: None)
            slow = surefit.permutation_importance(model, rows, y, **given)
        np.testing.assert_allclose(quick.importances, slow.importances, rtol=1e-6, atol=1e-7)
        assert quick.baseline == pytest.approx(slow.baseline, rel=1e-6)


def test_forests_of_ours_are_walked_and_not_asked(monkeypatch):
    model = surefit.RandomForestClassifier(n_estimators=4, random_state=0).fit(X, LABELS)
    calls = []
    ask = type(model).predict_proba
    monkeypatch.setattr(type(model), "predict_proba", lambda *a: calls.append(1) or ask(*a))
    surefit.permutation_importance(model, X, LABELS, repeats=3)
    assert len(calls) == 1


@pytest.mark.parametrize("columns", [1, 8, 19])
@pytest.mark.parametrize("rows", [1, 2, 500])
def test_the_kernel_equals_its_twin(rows, columns):
    rng = np.random.default_rng(rows)
    terms, error = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    order = np.array([rng.permutation(rows) for _ in range(4)])
    found = [linear_shuffle(terms, error, order, _threads=k) for k in (1, 3)]
    for one, three, twin in zip(*found, linear_shuffle_twin(terms, error, order), strict=True):
        np.testing.assert_array_equal(one, three)
        np.testing.assert_allclose(one, twin, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("model", [surefit.Ridge(2.0), surefit.LinearRegression(fit_intercept=False)])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights"])
def test_learning_all_draws_at_once_is_learning_them_one_by_one(model, weighted, monkeypatch):
    weight = np.random.default_rng(1).integers(1, 4, 120).astype(float) if weighted else None
    given = {"draws": 12, "sample_weight": weight, "metric": "mean_absolute_error"}
    quick = surefit.permutation_test(model, X, Y, **given)
    monkeypatch.setattr(permutation_test, "CELLS", 500)
    several = surefit.permutation_test(model, X, Y, **given)
    monkeypatch.setattr(permutation_test, "_learns_many", lambda *all_of_it: False)
    slow = surefit.permutation_test(model, X, Y, **given)
    assert quick.score == pytest.approx(slow.score, rel=1e-9)
    np.testing.assert_allclose(quick.shuffled, slow.shuffled, rtol=1e-9)
    np.testing.assert_allclose(several.shuffled, slow.shuffled, rtol=1e-9)
    assert quick.p_value == slow.p_value == 1 / 13


@pytest.mark.parametrize(("ours", "theirs", "y"), [(surefit.Ridge(), Ridge(), Y)], ids=["ridge"])
def test_the_score_is_scikit_learns_and_so_is_the_law_of_the_draws(ours, theirs, y):
    found = surefit.permutation_test(ours, X, y, split=KFold(4), draws=100)
    score, draws, p = permutation_test_score(theirs, X, y, cv=KFold(4), n_permutations=100, random_state=1)
    assert found.score == pytest.approx(score, rel=1e-9)
    assert found.p_value == p == 1 / 101
    # The means of two samples of 100 differ by more than four standard errors in one of 15 000 cases.
    apart = abs(found.shuffled.mean() - draws.mean())
    assert apart < 4 * np.hypot(found.shuffled.std(), draws.std()) / np.sqrt(100)
    assert "p = 0.0099" in str(found)


def test_p_values_of_no_skill_are_uniform():
    rng = np.random.default_rng(7)
    p = [
        surefit.permutation_test(
            surefit.Ridge(), A, rng.normal(size=30), draws=19, split=3, random_state=k
        ).p_value
        for k, A in enumerate(rng.normal(size=(200, 30, 2)))
    ]
    # A p-value of at most 0.1 or 0.5 has that probability; three standard errors of 200 draws.
    for level in (0.1, 0.5):
        assert abs(np.mean(np.array(p) <= level + 1e-9) - level) < 3 * np.sqrt(level * (1 - level) / 200)


def test_classes_groups_and_pipelines():
    search = surefit.make_pipeline(surefit.SelectKBest("f_classif", k=2), surefit.GaussianNB())
    found = surefit.permutation_test(search, X, LABELS, draws=19, n_jobs=2)
    assert found.metric == "accuracy_score"
    assert found.p_value == 0.05
    alone = surefit.permutation_test(search, X, LABELS, draws=19, n_jobs=1)
    np.testing.assert_array_equal(alone.shuffled, found.shuffled)
    theirs = surefit.permutation_test(GaussianNB(), X, LABELS, draws=5, split=resample.StratifiedKFold(3))
    assert theirs.p_value == 1 / 6
    groups = np.repeat(np.arange(40), 3)
    constant = surefit.permutation_test(surefit.Ridge(), X, groups * 1.0, groups=groups, draws=7)
    np.testing.assert_allclose(constant.shuffled, constant.score, rtol=1e-9)  # within groups nothing changes
    assert surefit.permutation_test(LogisticRegression(), X, LABELS, draws=2, split=2).score > 0.8
