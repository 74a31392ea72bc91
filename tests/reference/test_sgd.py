"""Stochastic gradient descent and the perceptron, against scikit-learn, step for step, and against theory."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

import surefit
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import DataError, ParameterError, RefusalError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5))
SIGNAL = X @ RNG.normal(size=5) + 0.3 * RNG.normal(size=150)
CLASSES = np.digitize(SIGNAL, [-1.0, 1.0])
TWO = (SIGNAL > 0).astype(int)

CLASSIFIERS = {
    "hinge": {},
    "log loss": {"loss": "log_loss", "alpha": 0.1},
    "modified Huber": {"loss": "modified_huber", "alpha": 1.0},
    "squared hinge": {"loss": "squared_hinge", "learning_rate": "invscaling", "eta0": 0.01},
    "perceptron": {"loss": "perceptron"},
    "squared error": {"loss": "squared_error", "learning_rate": "constant", "eta0": 0.01},
    "Huber": {"loss": "huber", "learning_rate": "invscaling"},
    "l1": {"penalty": "l1", "alpha": 0.01},
    "elastic net": {"penalty": "elasticnet", "alpha": 0.01},
    "averaged": {"average": True},
    "averaged late": {"average": 60},
    "adaptive": {"learning_rate": "adaptive", "eta0": 0.1},
    "passive-aggressive 1": {"learning_rate": "pa1", "eta0": 1.0, "penalty": None},
    "passive-aggressive 2": {"learning_rate": "pa2", "eta0": 1.0},
    "in order": {"shuffle": False},
    "no intercept": {"fit_intercept": False},
    "no rule": {"tol": None, "max_iter": 7},
}
REGRESSORS = {
    "squared error": {},
    "huber": {"loss": "huber"},
    "tube": {"loss": "epsilon_insensitive"},
    "squared tube": {"loss": "squared_epsilon_insensitive"},
    "averaged": {"average": 10},
    "held out": {"early_stopping": True},
    "adaptive": {"learning_rate": "adaptive"},
    "l1": {"penalty": "l1", "alpha": 0.01},
    "passive": {"loss": "epsilon_insensitive", "learning_rate": "pa1", "eta0": 1.0},
}


def assert_equal_fits(ours, theirs):
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-10)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)


@pytest.mark.parametrize("y", [TWO, CLASSES], ids=["two", "three"])
@pytest.mark.parametrize("settings", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())
def test_classifiers_take_scikit_learns_steps(settings, y):
    ours = surefit.SGDClassifier(random_state=3, **settings).fit(X, y)
    theirs = linear_model.SGDClassifier(random_state=3, **settings).fit(X, y)
    assert_equal_fits(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-7, atol=1e-9)
    if hasattr(theirs, "predict_proba"):
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("settings", REGRESSORS.values(), ids=REGRESSORS.keys())
def test_regressors_take_scikit_learns_steps(settings):
    ours = surefit.SGDRegressor(random_state=3, **settings).fit(X, SIGNAL)
    theirs = linear_model.SGDRegressor(random_state=3, **settings).fit(X, SIGNAL)
    assert_equal_fits(ours, theirs)


def test_sparse_rows_take_scikit_learns_steps():
    settings = {"random_state": 3, "max_iter": 5, "tol": None}
    ours = surefit.SGDClassifier(**settings).fit(csr_array(X), TWO)
    assert_equal_fits(ours, linear_model.SGDClassifier(**settings).fit(csr_matrix(X), TWO))


def test_partial_fit_goes_on_as_scikit_learns_does():
    ours, theirs = surefit.SGDClassifier(random_state=1), linear_model.SGDClassifier(random_state=1)
    for start in range(0, 150, 50):
        rows = slice(start, start + 50)
        for model in (ours, theirs):
            model.partial_fit(X[rows], CLASSES[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert ours.t_ == theirs.t_
    assert ours.certificate_.claim == "estimated"
    with pytest.raises(RefusalError, match="keeps no rows"):
        surefit.verify(ours, X, CLASSES)
    with pytest.raises(DataError, match="first call"):
        surefit.SGDClassifier().partial_fit(X, TWO)
    with pytest.raises(ParameterError, match="early_stopping should be False with partial_fit"):
        surefit.SGDClassifier(early_stopping=True).partial_fit(X, TWO)
    with pytest.warns(ConvergenceWarning, match="Consider increasing max_iter to improve the fit"):
        surefit.SGDClassifier(max_iter=2, tol=1e-9).fit(X, TWO)


@pytest.mark.parametrize("average", [False, True, 40])
def test_rows_in_pieces_are_an_epoch_over_all(average):
    whole = surefit.SGDClassifier(shuffle=False, average=average, max_iter=1, tol=None).fit(X, CLASSES)
    pieces = surefit.SGDClassifier(shuffle=False, average=average)
    for start in range(0, 150, 50):
        rows = slice(start, start + 50)
        pieces.partial_fit(X[rows], CLASSES[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-9)
    np.testing.assert_allclose(pieces.intercept_, whole.intercept_, rtol=1e-9)


def test_the_certificate_bounds_what_is_left_to_gain():
    from surefit.losses import Squared
    from surefit.penalties import L2
    from surefit.solvers.objective.base import Objective
    from surefit.solvers.objective.solver import choose

    model = surefit.SGDRegressor(alpha=0.1).fit(X, SIGNAL)
    objective = Objective.of_arrays(X, SIGNAL, Squared(), L2(0.1))
    least = choose(objective, tolerance=1e-12).solve(objective).value
    here = objective.value(np.append(model.coef_, model.intercept_))
    parts = model.certificate_.parts
    assert parts["objective"] == pytest.approx(here, rel=1e-12)
    assert 0 < here - least <= parts["gap"]
    assert surefit.verify(model, X, SIGNAL).holds
    other = surefit.verify(model, X, SIGNAL + 0.01 * X[:, 0])
    assert not other.holds
    assert other.claim == "measured"


def test_a_run_that_its_rule_did_not_end_warns():
    with pytest.warns(CertificateWarning, match="limit of iterations"):
        surefit.SGDClassifier(max_iter=2).fit(X, TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert surefit.SGDClassifier(max_iter=2, tol=None).fit(X, TWO).certificate_.holds


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "modified_huber", "squared_hinge", "huber"])
def test_polish_reaches_the_minimum(loss):
    model = surefit.SGDClassifier(loss, alpha=0.05, polish=True, tol=1e-6, learning_rate="invscaling").fit(
        X, TWO
    )
    assert model.certificate_.holds
    assert model.certificate_.tolerance == 1e-6
    assert surefit.verify(model, X, TWO).holds


def test_a_source_is_learnt_batch_by_batch(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(np.vstack([X] * 20), columns=list("abcde"))
    frame["y"] = np.tile(SIGNAL, 20)
    for k in range(3):
        frame[k * 1000 : (k + 1) * 1000].to_parquet(tmp_path / f"{k}.parquet")
    model = surefit.SGDRegressor(alpha=1e-6).fit(f"{tmp_path}/*.parquet", "y")
    best = surefit.LinearRegression().fit(X, SIGNAL)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=0.03)
    assert model.t_ == 1 + 3000 * model.n_iter_
    with pytest.raises(RefusalError, match="in memory"):
        surefit.SGDRegressor(early_stopping=True).fit(f"{tmp_path}/*.parquet", "y")


def test_equal_weights_change_nothing_and_zeros_are_no_rows():
    plain = surefit.SGDClassifier().fit(X, TWO)
    same = surefit.SGDClassifier().fit(X, TWO, np.full(150, 1e6))
    np.testing.assert_allclose(same.coef_, plain.coef_, rtol=1e-9)
    weight = np.repeat([1.0, 0.0], 75)
    half = surefit.SGDClassifier(shuffle=False).fit(X[:75], TWO[:75])
    rest = surefit.SGDClassifier(shuffle=False).fit(X, TWO, weight)
    np.testing.assert_allclose(rest.coef_, half.coef_, rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": 0.0}, "alpha must be > 0"),
        ({"learning_rate": "pa1", "loss": "log_loss"}, "only works with loss 'hinge'"),
        ({"penalty": "elasticnet", "l1_ratio": None}, "l1_ratio must be set"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings, words):
    with pytest.raises(ParameterError, match=words):
        surefit.SGDClassifier(**settings).fit(X, TWO)


def test_steps_beyond_all_bounds_are_told():
    with pytest.raises(DataError, match="Scaling input data"):
        surefit.SGDRegressor().fit(1e200 * X, SIGNAL)


def test_the_perceptron_takes_scikit_learns_steps():
    for settings in ({}, {"penalty": "l2"}, {"eta0": 0.3, "shuffle": False}):
        ours, theirs = surefit.Perceptron(**settings), linear_model.Perceptron(**settings)
        assert_equal_fits(ours.fit(X, CLASSES), theirs.fit(X, CLASSES))


@pytest.mark.covers("ml_lecture_notes:7.3", by="Perceptron")
def test_a_perceptron_unit_answers_one_where_its_score_reaches_the_threshold():
    model = surefit.Perceptron(shuffle=False).fit(
        [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 0, 0, 1]
    )
    w, b = model.coef_[0], model.intercept_[0]
    grid = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    np.testing.assert_array_equal(model.predict(grid), (grid @ w > -b).astype(int))
    assert model.score(grid, [0, 0, 0, 1]) == 1.0  # the conjunction is separable; the exclusive or is not
    parity = surefit.Perceptron(max_iter=50).fit(grid, [0, 1, 1, 0])
    assert parity.certificate_.value > 0


def test_mistakes_stay_below_the_bound_of_radius_over_margin_squared():
    rng = np.random.default_rng(5)
    for seed in range(5):
        rows = rng.normal(size=(60, 3))
        rows = rows[np.abs(rows @ [1.0, -2.0, 0.5] + 0.3) > 0.4]
        y = (rows @ [1.0, -2.0, 0.5] + 0.3 > 0).astype(int)
        model = surefit.Perceptron(random_state=seed, tol=None, max_iter=300).fit(rows, y)
        proof = model.certificate_
        assert (proof.value, proof.holds) == (0.0, True)
        # The margin of any separating plane will do; the generating one is known.
        sides = np.where(y == 1, 1.0, -1.0)
        gamma = np.min(sides * (rows @ [1.0, -2.0, 0.5] + 0.3)) / np.linalg.norm([1.0, -2.0, 0.5, 0.3])
        radius = np.sqrt(np.max((rows**2).sum(axis=1)) + 1)
        assert proof.parts["radius"] == pytest.approx(radius, rel=1e-12)
        assert proof.parts["steps"] <= (radius / gamma) ** 2
        assert proof.parts["steps"] <= proof.parts["bound"]


def test_the_bound_on_mistakes_is_stated_only_where_it_holds():
    """Novikoff's theorem is about single steps of one size from zeros; none of these takes such steps."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 3))
    rows = rows[np.abs(rows @ [1.0, -2.0, 0.5] + 0.3) > 0.4]
    y = (rows @ [1.0, -2.0, 0.5] + 0.3 > 0).astype(int)
    weight = rng.uniform(0.01, 1.0, size=len(rows))
    asked = {"tol": None, "max_iter": 300}
    plain = surefit.Perceptron(**asked).fit(rows, y)
    other = {
        "weights": surefit.Perceptron(**asked).fit(rows, y, weight),
        "classes": surefit.Perceptron(class_weight={0: 0.1, 1: 1.0}, **asked).fit(rows, y),
        "penalty": surefit.Perceptron(penalty="l2", alpha=1e-6, **asked).fit(rows, y),
        "sparse": surefit.Perceptron(**asked).fit(csr_array(rows), y),
        "start": surefit.Perceptron(**asked).fit(rows, y, coef_init=np.full(3, 9.0)),
        "batch": surefit.Perceptron(batch=True, tol=None, max_iter=3000).fit(rows, y),
        "warm": surefit.Perceptron(warm_start=True, **asked).fit(rows, y).fit(rows, y),
    }
    for case, model in other.items():
        assert model.certificate_.value == 0.0, case
        assert not {"bound", "steps"} & set(model.certificate_.parts), case
    through_zero = rows[np.abs(rows[:, 1]) > 0.2]
    alike = {
        "plain": plain,
        "equal weights": surefit.Perceptron(**asked).fit(rows, y, np.full(len(y), 3.0)),
        "no strength": surefit.Perceptron(penalty="l2", alpha=0.0, **asked).fit(rows, y),
        "no intercept": surefit.Perceptron(fit_intercept=False, **asked).fit(
            csr_array(through_zero), through_zero[:, 1] > 0
        ),
    }
    for case, model in alike.items():
        assert model.certificate_.parts["steps"] <= model.certificate_.parts["bound"], case
    assert surefit.verify(plain, rows, y).parts["bound"] == plain.certificate_.parts["bound"]
    for case in ("weights", "start"):
        again = surefit.verify(other[case], rows, y, weight if case == "weights" else None)
        assert again.holds, case
        assert "bound" not in again.parts, case


def test_adding_all_mistakes_at_once_keeps_the_best_plane():
    model = surefit.Perceptron(batch=True).fit(X, TWO)
    order = np.random.default_rng(1).permutation(150)
    again = surefit.Perceptron(batch=True).fit(X[order], TWO[order])
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-9)
    assert model.certificate_.value <= 0.1
    assert model.certificate_.value == pytest.approx(1 - model.score(X, TWO))


def test_a_fit_that_led_up_claims_nothing_and_says_so() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    down = surefit.SGDClassifier(random_state=0).fit(X, y)
    assert down.certificate_.claim == "optimal"
    assert down.certificate_.tolerance == 1.0
    up = surefit.SGDClassifier(loss="squared_hinge", random_state=0).fit(X, y)  # as scikit-learn's steps do
    assert up.certificate_.claim == "measured"
    assert "worse-than-nothing" in {finding.code for finding in up.diagnosis_}
    assert "worse-than-nothing" not in {finding.code for finding in down.diagnosis_}
    assert surefit.verify(up, X, y).holds
    assert not surefit.verify(up, X, 1 - y).holds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_held_out_are_scikit_learns_for_any_number_of_classes(classes, seed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.digitize(X @ rng.normal(size=4), [0.0] if classes == 2 else [-0.7, 0.7])
    options = {"early_stopping": True, "penalty": None, "random_state": seed, "max_iter": 200}
    ours, theirs = surefit.SGDClassifier(**options).fit(X, y), linear_model.SGDClassifier(**options).fit(X, y)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12)
