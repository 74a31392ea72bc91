"""A fit of few rows stays cheap: Python calls are counted, not seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.tree
from tests.budget.calls import entered

import surefit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 5))
NUMBERS = X @ np.arange(5.0) + RNG.normal(size=100)
CLASSES = (NUMBERS > 0).astype(np.int64)
PAIRS: dict[str, tuple[Any, Any, Any]] = {
    "LinearRegression": (surefit.LinearRegression(), sklearn.linear_model.LinearRegression(), NUMBERS),
    "Ridge": (surefit.Ridge(), sklearn.linear_model.Ridge(), NUMBERS),
    "Lasso": (surefit.Lasso(alpha=0.1), sklearn.linear_model.Lasso(alpha=0.1), NUMBERS),
    "LogisticRegression": (
        surefit.LogisticRegression(),
        sklearn.linear_model.LogisticRegression(),
        CLASSES,
    ),
    "GaussianNB": (surefit.GaussianNB(), sklearn.naive_bayes.GaussianNB(), CLASSES),
    "DecisionTreeClassifier": (
        surefit.DecisionTreeClassifier(),
        sklearn.tree.DecisionTreeClassifier(),
        CLASSES,
    ),
}
ENSEMBLES: dict[str, tuple[Any, Any]] = {
    "BaggingClassifier": (surefit.BaggingClassifier(n_estimators=8, n_jobs=1), CLASSES),
    "BaggingRegressor": (surefit.BaggingRegressor(n_estimators=8, n_jobs=1), NUMBERS),
    "AdaBoostClassifier": (surefit.AdaBoostClassifier(n_estimators=8), CLASSES),
    "AdaBoostRegressor": (surefit.AdaBoostRegressor(n_estimators=8), NUMBERS),
}


@pytest.mark.parametrize("name", PAIRS)
def test_no_more_calls_than_the_peer(name: str) -> None:
    model, peer, y = PAIRS[name]
    ours, theirs = entered(lambda: model.fit(X, y)), entered(lambda: peer.fit(X, y))
    assert len(ours) <= len(theirs), (len(ours), len(theirs))


@pytest.mark.parametrize("name", PAIRS)
def test_plain_arrays_are_not_sent_through_all_checks(name: str) -> None:
    model, _, y = PAIRS[name]
    assert "validate_data" not in entered(lambda: model.fit(X, y))
    assert "validate_data" in entered(lambda: model.fit(X.tolist(), y))


@pytest.mark.parametrize("name", ENSEMBLES)
def test_members_come_through_the_door_of_their_ensemble(name: str) -> None:
    model, y = ENSEMBLES[name]
    seen = entered(lambda: model.fit(X, y))
    assert seen.count("tree_grow") == len(model.estimators_) > 1
    assert seen.count("admit") == seen.count("diagnose") == 1


@pytest.mark.parametrize("name", ENSEMBLES)
def test_members_are_what_they_are_when_fitted_alone(name: str) -> None:
    model, y = ENSEMBLES[name]
    member = model.fit(X, y)[0]
    assert member.certificate_.holds
    assert member.n_features_in_ == X.shape[1]
    assert member.diagnosis_.ran == ()  # the ensemble's rules have seen the rows
    assert surefit.verify(model, X, y).holds
    if hasattr(member, "classes_"):
        np.testing.assert_array_equal(member.classes_, [0, 1])


def test_a_member_with_a_wrong_parameter_is_refused_before_any_is_fitted() -> None:
    base = surefit.DecisionTreeClassifier(max_depth=-1)
    with pytest.raises(ValueError, match="max_depth=-1"):
        surefit.BaggingClassifier(base).fit(X, CLASSES)
    with pytest.raises(ValueError, match="max_depth=-1"):
        surefit.AdaBoostClassifier(base).fit(X, CLASSES)
