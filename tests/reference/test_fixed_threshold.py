"""Thresholds of one's own: scikit-learn's answers, the other rule for ties, sources, and what is refused."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.model_selection import FixedThresholdClassifier as Theirs

import surefit
from surefit import FixedThresholdClassifier
from surefit.core.errors import DataError, ParameterError, RefusalError

X, CODES = load_breast_cancer(return_X_y=True)
X = X[:, :5]
Y = np.where(CODES == 1, "benign", "malignant")


@pytest.mark.covers("intro_to_ml:2.1", by="FixedThresholdClassifier")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"threshold": 0.2},
        {"threshold": 0.9, "pos_label": "benign"},
        {"threshold": 0.9, "pos_label": "malignant"},
        {"response_method": "decision_function", "threshold": -1.5, "pos_label": "malignant"},
        {"response_method": "decision_function", "pos_label": "benign"},
    ],
)
def test_the_answers_are_scikit_learns(options: dict[str, Any]) -> None:
    inner = surefit.LogisticRegression(C=10.0, max_iter=1000)
    ours = FixedThresholdClassifier(inner, **options).fit(X, Y)
    theirs = Theirs(inner, **options).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert ours.n_features_in_ == theirs.n_features_in_ == 5
    named = list(inspect.signature(Theirs).parameters)
    assert list(inspect.signature(FixedThresholdClassifier).parameters)[: len(named)] == named


@pytest.mark.covers("intro_to_ml:2.1", by="FixedThresholdClassifier")
@pytest.mark.parametrize("inner", [surefit.GaussianNB(), surefit.DecisionTreeClassifier(max_depth=3)])
def test_the_plug_in_rule_of_any_classifier(inner: Any) -> None:
    """1 if P(Y = 1 | x) > t and 0 otherwise; fewer rows are positive the higher t is."""
    counts = []
    for t in (0.0, 0.25, 0.5, 0.75, 1.0):
        model = FixedThresholdClassifier(inner, threshold=t, tie="negative").fit(X, CODES)
        np.testing.assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] > t)
        counts.append(model.predict(X).sum())
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0  # no probability is above 1
    all_of_them = FixedThresholdClassifier(inner, threshold=0.0).fit(X, CODES)
    assert all_of_them.predict(X).all()  # every probability is at least 0


def test_weights_sources_and_scores_without_probabilities() -> None:
    pa = pytest.importorskip("pyarrow")
    weight = np.arange(len(Y)) % 3
    model = FixedThresholdClassifier(surefit.GaussianNB(), threshold=0.3)
    copied = np.repeat(np.arange(len(Y)), weight)
    np.testing.assert_array_equal(
        model.fit(X, Y, sample_weight=weight).predict(X), model.fit(X[copied], Y[copied]).predict(X)
    )
    table = pa.table({**{f"x{j}": X[:, j] for j in range(5)}, "y": Y})
    streamed = FixedThresholdClassifier(surefit.GaussianNB(), threshold=0.3).fit(surefit.read(table, "y"))
    np.testing.assert_array_equal(streamed.predict(table.drop(["y"])), model.fit(X, Y).predict(X))
    scores = FixedThresholdClassifier(SklearnPerceptron(), threshold=5.0).fit(X, Y)
    np.testing.assert_array_equal(
        scores.predict(X), np.where(scores.decision_function(X) >= 5.0, "malignant", "benign")
    )
    assert not hasattr(scores, "predict_proba")


@pytest.mark.parametrize(
    ("model", "y", "error", "message"),
    [
        (surefit.GaussianNB(), np.arange(len(Y)) % 3, DataError, "divides two classes, but y has 3"),
        (surefit.RidgeClassifier(), CODES, RefusalError, "RidgeClassifier has no predict_proba, which"),
    ],
)
def test_what_a_threshold_cannot_divide_is_told(model: Any, y: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        FixedThresholdClassifier(model, response_method="predict_proba").fit(X, y)


def test_a_positive_class_that_is_none_is_told() -> None:
    with pytest.raises(ParameterError, match="pos_label='sick' must be one of the classes"):
        FixedThresholdClassifier(surefit.GaussianNB(), pos_label="sick").fit(X, Y)
    with pytest.raises(ParameterError, match="threshold"):
        FixedThresholdClassifier(surefit.GaussianNB(), threshold="high").fit(X, Y)
