"""Many logistic regressions learnt together are those that are learnt one by one, each with its proof."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

import surefit
from surefit.evaluate.cross_validation.permutation_test import TasksAtOnce
from surefit.solvers.likelihood import many_logits
from surefit.solvers.likelihood.many_logits import ManyLogits

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
SKILL = X[:, 0] + 0.5 * RNG.normal(size=150) > 0.4
TARGETS = np.stack([SKILL, *(RNG.permutation(SKILL) for _ in range(6))])
WEIGHTS = RNG.integers(0, 4, size=TARGETS.shape).astype(float)
TABLES = {
    "plain": X,
    "far from 0": X + 1e6,
    "scales": X * [1e-6, 1.0, 1e6, 1.0],
    "collinear": np.column_stack([X, X[:, 0], X[:, 1] - X[:, 0]]),
    "constant": np.column_stack([X, np.full(150, 3.0), np.zeros(150)]),
    "told apart": np.column_stack([X, 5.0 * SKILL]),
}


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("table", TABLES)
def test_each_target_is_learnt_and_proved_as_if_alone(table, C):
    _same_alone(surefit.LogisticRegression(C=C), TABLES[table])


def test_without_an_intercept():
    _same_alone(surefit.LogisticRegression(fit_intercept=False), X + 0.5)


def _same_alone(model, rows):
    scores, proved = model._targets_at_once(rows, SKILL, None)(TARGETS, WEIGHTS)
    assert proved.all()
    for target, weight, score in zip(TARGETS, WEIGHTS, scores, strict=True):
        alone = clone(model).fit(rows, target, weight)
        np.testing.assert_allclose(expit(score), alone.predict_proba(rows)[:, 1], rtol=0, atol=1e-6)


def test_the_gap_bounds_what_is_left_wherever_it_stops(monkeypatch):
    learner = ManyLogits.of(X, np.ones(150), C=1.0, share=float(SKILL.mean()))
    monkeypatch.setattr(many_logits, "SMALL", np.inf)
    monkeypatch.setattr(many_logits, "CLOSE", np.inf)  # every target is done before its first step
    early = learner(TARGETS, WEIGHTS)
    for target, weight, score, gap in zip(TARGETS, WEIGHTS, *early, strict=True):
        model = surefit.LogisticRegression(tol=1e-10).fit(X, target, weight)
        certificate = model.certificate_
        reached = np.average(np.logaddexp(0.0, score) - target * score, weights=weight)
        best = certificate.parts["objective"]
        assert 0 < (reached - best) / certificate.parts["scale"] <= gap


def test_a_target_of_one_class_proves_nothing():
    learner = ManyLogits.of(X, np.ones(150), C=1.0, share=0.5)
    targets = np.stack([SKILL, np.ones(150, dtype=bool)])
    gap = learner(targets, np.ones(targets.shape)).gap
    assert gap[0] < 1e-8
    assert not gap[1] < 1e-6


FORMS = {
    "array": lambda: X,
    "frame": lambda: pd.DataFrame(X).add_prefix("c"),
    "single floats": lambda: X.astype(np.float32),
    "fortran": lambda: np.asfortranarray(X),
    "strided": lambda: np.repeat(X, 2, axis=0)[::2],
}


@pytest.mark.parametrize(
    ("metric", "form"),
    [("accuracy_score", "array"), ("roc_auc_score", "array"), *(("log_loss", form) for form in FORMS)],
)
def test_a_permutation_test_is_that_of_single_fits(form, metric, monkeypatch):
    labels = np.array(["no", "yes"])[SKILL.astype(int)]
    given = {"metric": metric, "draws": 3, "split": StratifiedKFold(3), "sample_weight": WEIGHTS[0] + 1.0}
    together = surefit.permutation_test(surefit.LogisticRegression(), FORMS[form](), labels, **given)
    monkeypatch.setattr(TasksAtOnce, "of", lambda *about: None)
    alone = surefit.permutation_test(surefit.LogisticRegression(), FORMS[form](), labels, **given)
    np.testing.assert_allclose(together.shuffled, alone.shuffled, rtol=0, atol=1e-6)
    assert together.score == pytest.approx(alone.score, abs=1e-6)


def test_rounding_of_huge_columns_is_not_taken_for_a_proof(monkeypatch):
    rows = X * [1e-12, 1.0, 1e12, 1.0]
    given = {"metric": "log_loss", "draws": 4, "split": KFold(3)}
    together = surefit.permutation_test(surefit.LogisticRegression(), rows, SKILL, **given)
    monkeypatch.setattr(TasksAtOnce, "of", lambda *about: None)
    alone = surefit.permutation_test(surefit.LogisticRegression(), rows, SKILL, **given)
    np.testing.assert_allclose(together.shuffled, alone.shuffled, rtol=0, atol=1e-6)


def test_what_is_not_proved_is_learnt_alone(monkeypatch):
    given = {"metric": "log_loss", "draws": 4, "split": KFold(3)}
    together = surefit.permutation_test(surefit.LogisticRegression(), X, SKILL, **given)
    monkeypatch.setattr(many_logits, "STEPS", 1)
    stopped = surefit.permutation_test(surefit.LogisticRegression(), X, SKILL, **given)
    np.testing.assert_allclose(together.shuffled, stopped.shuffled, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        surefit.LogisticRegression(l1_ratio=1.0),
        surefit.LogisticRegression(C=np.inf),
        surefit.LogisticRegression(solver="liblinear"),
        surefit.LogisticRegression(correction="firth"),
        surefit.LogisticRegression(class_weight="balanced"),
        surefit.LogisticRegression(constraints=surefit.penalties.NonNegative()),
        surefit.LogisticRegression(warm_start=True),
    ],
    ids=["l1", "no penalty", "liblinear", "firth", "class weights", "constraints", "warm start"],
)
def test_models_of_another_objective_learn_one_by_one(model):
    assert model._targets_at_once(X, SKILL, None) is None


@pytest.mark.parametrize(
    ("rows", "target"),
    [
        (sparse.csr_array(X), SKILL),
        (X[:12], SKILL[:12]),
        (X, np.arange(150) % 3),
        (X * 1e200, SKILL),
    ],
    ids=["sparse", "few rows", "three classes", "out of range"],
)
def test_tables_that_are_learnt_one_by_one(rows, target):
    assert surefit.LogisticRegression()._targets_at_once(rows, target, None) is None


def test_errors_are_those_of_a_fit():
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        surefit.permutation_test(surefit.LogisticRegression(), bad, SKILL, draws=2)
    lonely = np.arange(150) < 50  # the first of three folds in order holds all of a class
    with pytest.raises(ValueError, match="one class"):
        surefit.permutation_test(surefit.LogisticRegression(), X, lonely, draws=2, split=KFold(3))


def test_a_model_that_is_asked_stays_as_it_was():
    model = surefit.LogisticRegression()
    assert model._targets_at_once(X, SKILL, None) is not None
    assert not hasattr(model, "n_features_in_")
