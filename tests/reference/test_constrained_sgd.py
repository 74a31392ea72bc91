"""Models that learn row by row keep constraints: against a general convex solver, at every step and form."""

from __future__ import annotations

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import surefit
from surefit import LogisticRegression, Perceptron, SGDClassifier, SGDRegressor
from surefit.core.callbacks.base import Callback
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import DataError, ParameterError
from surefit.penalties import Box, Monotone, NonNegative

ROWS = 120
RNG = np.random.default_rng(7)
X = RNG.normal(size=(ROWS, 8))
X[:, :5] = np.eye(5)[RNG.integers(0, 5, ROWS)]
Y = X @ np.array([1.0, 0.5, 3.0, 2.0, 2.5, 1.0, -1.0, 0.1]) + RNG.normal(size=ROWS)
SIDE = np.where(Y > 2, 1.0, -1.0)
THREE = np.digitize(Y, [0.5, 3.0])
ORDER = Monotone([[0, 1, 2, 3, 4]])

CONSTRAINTS = {
    "bounds": (Box(-0.4, 0.6), lambda w: [w >= -0.4, w <= 0.6]),
    "bounds without zero": (Box(0.1, 0.6), lambda w: [w >= 0.1, w <= 0.6]),
    "signs": (NonNegative(), lambda w: [w >= 0]),
    "order": (ORDER, lambda w: [cp.diff(w[:5]) >= 0]),
    "order within bounds": ([ORDER, Box(-0.5, 0.7)], lambda w: [cp.diff(w[:5]) >= 0, w >= -0.5, w <= 0.7]),
}
each_constraint = pytest.mark.parametrize("constraint", CONSTRAINTS)
PENALTIES = {
    "l2": ({}, lambda w: 0.005 * cp.sum_squares(w)),
    "l1": ({"penalty": "l1"}, lambda w: 0.01 * cp.norm1(w)),
    "elastic net": (
        {"penalty": "elasticnet", "l1_ratio": 0.5},
        lambda w: 0.005 * cp.norm1(w) + 0.0025 * cp.sum_squares(w),
    ),
    "none": ({"penalty": None}, lambda w: 0.0),
}
LOSSES = {
    "squared_error": (SGDRegressor, Y, lambda z: cp.sum_squares(Y - z) / (2 * ROWS)),
    "huber": (SGDRegressor, Y, lambda z: cp.sum(cp.huber(Y - z, 0.1)) / (2 * ROWS)),
    "epsilon_insensitive": (SGDRegressor, Y, lambda z: cp.sum(cp.pos(cp.abs(Y - z) - 0.1)) / ROWS),
    "log_loss": (SGDClassifier, SIDE, lambda z: cp.sum(cp.logistic(-cp.multiply(SIDE, z))) / ROWS),
    "hinge": (SGDClassifier, SIDE, lambda z: cp.sum(cp.pos(1 - cp.multiply(SIDE, z))) / ROWS),
    "squared_hinge": (
        SGDClassifier,
        SIDE,
        lambda z: cp.sum_squares(cp.pos(1 - cp.multiply(SIDE, z))) / ROWS,
    ),
}


def within(constraints, model):
    """Whether every coefficient is in the set, to the last digit."""
    asked = constraints if isinstance(constraints, list) else [constraints]
    for row in np.atleast_2d(model.coef_):
        for each in asked:
            if isinstance(each, Monotone):
                if any(np.any(np.diff(row[group]) < 0) for group in each.groups):
                    return False
            else:
                table = each.table(len(row))
                if not np.all((row >= table.lower) & (row <= table.upper)):
                    return False
    return True


def quietly(model, *data, **also):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data, **also)


@each_constraint
@pytest.mark.parametrize("loss", LOSSES)
def test_a_polished_fit_is_the_minimum_of_a_general_solver(loss, constraint):
    cls, target, mean_loss = LOSSES[loss]
    ours, theirs = CONSTRAINTS[constraint]
    w, b = cp.Variable(8), cp.Variable()
    for settings, penalty in (PENALTIES["l2"], PENALTIES["l1"]):
        objective = mean_loss(X @ w + b) + penalty(w)
        best = cp.Problem(cp.Minimize(objective), theirs(w)).solve(solver=cp.CLARABEL)
        options = {"alpha": 0.01, "learning_rate": "invscaling", "eta0": 0.01, "tol": 1e-7, **settings}
        model = quietly(cls(loss, constraints=ours, polish=True, **options), X, target)
        proof = model.certificate_
        assert proof.holds
        assert within(ours, model)
        w.value, b.value = np.ravel(model.coef_), float(model.intercept_[0])
        assert objective.value <= best + 1e-6 * abs(best)
        assert (
            proof.parts["stationarity"] <= 1e-3
        )  # the tolerance allows a gap, which is the square of a slope
        assert min(proof.witness[side].min() for side in ("lower", "upper")) >= 0
        assert proof.witness["lower"].shape == (8,)
        assert surefit.verify(model, X, target).holds
        model.coef_ = model.coef_ + 0.1 * (np.arange(8) == 5)
        assert not surefit.verify(model, X, target).holds


@each_constraint
@pytest.mark.parametrize("loss", LOSSES)
def test_steps_alone_end_within_the_gap_that_they_state(loss, constraint):
    cls, target, mean_loss = LOSSES[loss]
    ours, theirs = CONSTRAINTS[constraint]
    w, b = cp.Variable(8), cp.Variable()
    for (settings, penalty), average in itertools.product(PENALTIES.values(), (False, True)):
        objective = mean_loss(X @ w + b) + penalty(w)
        best = cp.Problem(cp.Minimize(objective), theirs(w)).solve(solver=cp.CLARABEL)
        options = {"alpha": 0.01, "learning_rate": "invscaling", "eta0": 0.02, "average": average, **settings}
        model = quietly(cls(loss, constraints=ours, **options), X, target)
        assert within(ours, model)
        w.value, b.value = np.ravel(model.coef_), float(model.intercept_[0])
        parts = model.certificate_.parts
        assert parts["objective"] == pytest.approx(objective.value, rel=1e-9)
        assert objective.value >= best - 1e-7 * abs(best)
        if model.certificate_.claim == "optimal":
            assert objective.value <= best + parts["gap"] + 1e-7 * abs(best)
        else:  # of a cone without a penalty there may be no bound, and the certificate says so
            assert settings["penalty"] is None
            assert model.certificate_.claim in ("stationary", "measured")
        assert surefit.verify(model, X, target).holds


def test_many_short_steps_come_to_the_constrained_minimum():
    """Not only within a gap that may be loose: averaged steps of falling length come to the minimum."""
    epochs, first, eta = 1500, 500 * ROWS, 0.1
    for constraint, penalty in itertools.product(CONSTRAINTS, ("l2", "l1")):
        ours, _ = CONSTRAINTS[constraint]
        options = {"alpha": 0.02, "penalty": penalty, "constraints": ours, "fit_intercept": False}
        best = quietly(SGDRegressor(polish=True, tol=1e-10, **options), X, Y)
        steps = SGDRegressor(eta0=eta, power_t=0.5, average=first, tol=None, max_iter=epochs, **options)
        near = quietly(steps, X, Y)
        # Steps of a length leave half of it times the mean square of a row's slope, once they have come.
        noise = eta / np.sqrt(first) / 2 * np.mean(((X * (Y - best.predict(X))[:, None]) ** 2).sum(axis=1))
        least = best.certificate_.parts["objective"]
        assert least * (1 - 1e-9) <= near.certificate_.parts["objective"] <= least + noise


@each_constraint
def test_each_class_keeps_the_constraints(constraint):
    ours, _ = CONSTRAINTS[constraint]
    for model in (SGDClassifier(constraints=ours), Perceptron(constraints=ours)):
        quietly(model, X, THREE)
        assert within(ours, model)
        assert surefit.verify(model, X, THREE).holds
    polished = SGDClassifier("log_loss", alpha=0.01, constraints=ours, polish=True, tol=1e-8)
    quietly(polished, X, THREE)
    assert polished.certificate_.witness["lower"].shape == (8, 3)
    assert all(each.shape == (4, 3) for each in polished.certificate_.witness["order"])
    alone = LogisticRegression(C=1 / (0.01 * ROWS), constraints=ours, tol=1e-10)
    for k, row in enumerate(polished.coef_):
        np.testing.assert_allclose(
            row, alone.fit(X, np.equal(THREE, k)).coef_[0], atol=1e-3
        )  # gaps are squares


class Watch(Callback):
    """Look at the coefficients after every epoch."""

    def __init__(self, constraints):
        self.constraints = constraints
        self.epochs = 0

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.task_name == "iteration":
            self.epochs += 1
            assert within(self.constraints, fitted_estimator)
        return False


@each_constraint
@pytest.mark.parametrize("average", [False, True, 40])
def test_no_epoch_and_no_piece_leaves_the_set(constraint, average):
    ours, _ = CONSTRAINTS[constraint]
    for cls, target in ((SGDRegressor, Y), (SGDClassifier, THREE)):
        for penalty in (None, "l2", "l1", "elasticnet"):
            model = cls(constraints=ours, average=average, penalty=penalty, alpha=0.01)
            for start in range(0, ROWS, 40):
                rows = slice(start, start + 40)
                also = {"classes": [0, 1, 2]} if cls is SGDClassifier else {}
                model.partial_fit(X[rows], target[rows], **also)
                assert within(ours, model)
            watch = Watch(ours)
            watched = cls(constraints=ours, average=average, penalty=penalty, max_iter=4, tol=None)
            watched.set_callbacks(watch)
            quietly(watched, X, target)
            assert watch.epochs == 4


@pytest.mark.parametrize("average", [False, True, 40])
def test_rows_in_pieces_are_an_epoch_over_all(average):
    options = {"shuffle": False, "average": average, "constraints": [ORDER, Box(-0.5, 0.7)]}
    whole = SGDClassifier(max_iter=1, tol=None, **options).fit(X, THREE)
    pieces = SGDClassifier(**options)
    for start in range(0, ROWS, 40):
        rows = slice(start, start + 40)
        pieces.partial_fit(X[rows], THREE[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


def test_slack_constraints_change_no_step():
    for cls, target in ((SGDRegressor, Y), (SGDClassifier, THREE), (Perceptron, THREE)):
        free = quietly(cls(random_state=1), X, target)
        held = quietly(cls(random_state=1, constraints=Box(-1e6, 1e6)), X, target)
        np.testing.assert_allclose(held.coef_, free.coef_, rtol=1e-8, atol=1e-10)
        assert held.n_iter_ == free.n_iter_


@each_constraint
def test_starts_are_led_into_the_set(constraint):
    ours, _ = CONSTRAINTS[constraint]
    far = np.array([9.0, 7.0, -5.0, 3.0, -1.0, 4.0, -4.0, 0.0])
    model = quietly(SGDRegressor(constraints=ours, max_iter=1), X[:1], Y[:1], coef_init=far)
    assert within(ours, model)
    at_once = Perceptron(batch=True, constraints=ours, max_iter=1)
    assert within(ours, quietly(at_once, X, SIDE, coef_init=far))
    free = quietly(SGDRegressor(warm_start=True), X, Y)
    assert within(ours, quietly(free.set_params(constraints=ours), X, Y))
    going = SGDRegressor(average=True).partial_fit(X, Y)
    assert within(ours, going.set_params(constraints=ours).partial_fit(X[:2], Y[:2]))


@pytest.mark.parametrize("form", ["float32", "sparse", "fortran", "weights", "streamed", "held out"])
def test_the_form_of_the_table_keeps_the_constraints(form, tmp_path):
    held = [ORDER, Box(-0.5, 0.7)]
    model = SGDRegressor(
        constraints=held, shuffle=False, tol=None, max_iter=30, early_stopping=form == "held out"
    )
    expected = quietly(SGDRegressor(constraints=held, shuffle=False, tol=None, max_iter=30), X, Y)
    given, target, weight, digits = X, Y, None, 1e-10
    if form == "float32":
        given, digits = X.astype(np.float32), 1e-5
    elif form == "sparse":
        given, digits = sparse.csr_array(X), None  # scikit-learn's intercept takes shorter steps there
    elif form == "fortran":
        given = np.asfortranarray(X)
    elif form == "held out":
        digits = None
    elif form == "weights":
        given, target = np.vstack([X, 9 * X[:5]]), np.r_[Y, np.full(5, 1e6)]
        weight = np.r_[np.ones(ROWS), np.zeros(5)]
    if form == "streamed":
        file = tmp_path / "rows.parquet"
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(y=Y)
        table.to_parquet(file, row_group_size=50)
        quietly(model, file, "y")
    else:
        quietly(model, given, target, weight)
    assert within(held, model)
    if digits is not None:
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=digits)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e12])
@pytest.mark.parametrize("rows", [ROWS, 6, 1])
def test_hard_tables_keep_the_constraints(scale, rows):
    """Units, a constant and a copied column, fewer rows than columns, one row."""
    hard = np.column_stack([scale * X, np.ones(ROWS), scale * X[:, 5]])[:rows]
    side = SIDE[:rows].copy()
    side[:1] = -side[-1]
    held = [Monotone([[0, 1, 2]]), Box(-2 / scale, 2 / scale)]
    for constraints in (held, NonNegative(), Box(0.25, 0.25)):
        for form in (hard, sparse.csr_array(hard)):
            regressor = SGDRegressor(constraints=constraints, eta0=0.01 / max(1.0, scale) ** 2)
            assert within(constraints, quietly(regressor, form, Y[:rows]))
            if constraints is not held and isinstance(constraints, Box):
                assert (regressor.coef_ == 0.25).all()
            if rows > 1:
                eta = 1e-26 if scale > 1 else 0.01
                classifier = SGDClassifier(constraints=constraints, learning_rate="constant", eta0=eta)
                assert within(constraints, quietly(classifier, form, side))
                assert within(constraints, quietly(Perceptron(constraints=constraints), form, side))


def test_the_bound_of_the_perceptron_is_stated_for_cones_alone():
    rng = np.random.default_rng(5)
    plane = np.array([0.5, 1.0, 2.0])  # which has positive signs, and rises
    cones = (NonNegative(), Monotone([[0, 1, 2]]), [NonNegative(), Monotone([[0, 1, 2]])])
    for seed, constraints in itertools.product(range(4), cones):
        rows = rng.normal(size=(80, 3))
        rows = rows[np.abs(rows @ plane + 0.3) > 0.2]
        y = np.where(rows @ plane + 0.3 > 0, 1, 0)
        model = Perceptron(random_state=seed, tol=None, max_iter=500, constraints=constraints).fit(rows, y)
        proof = model.certificate_
        assert (proof.value, proof.holds) == (0.0, True)
        assert within(constraints, model)
        sides = np.where(y == 1, 1.0, -1.0)
        gamma = np.min(sides * (rows @ plane + 0.3)) / np.linalg.norm([*plane, 0.3])
        radius = np.sqrt(np.max((rows**2).sum(axis=1)) + 1)
        assert proof.parts["steps"] <= (radius / gamma) ** 2  # of the plane that made the rows
        assert proof.parts["steps"] <= proof.parts["bound"]  # and of the one that was found
        boxed = Perceptron(tol=None, max_iter=500, constraints=Box(-1e3, 1e3)).fit(rows, y)
        assert boxed.certificate_.value == 0
        assert "bound" not in boxed.certificate_.parts


@each_constraint
def test_all_mistakes_at_once_keep_the_constraints(constraint):
    ours, _ = CONSTRAINTS[constraint]
    model = Perceptron(batch=True, constraints=ours).fit(X, SIDE)
    assert within(ours, model)
    order = np.random.default_rng(1).permutation(ROWS)
    again = Perceptron(batch=True, constraints=ours).fit(X[order], SIDE[order])
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-9, atol=1e-12)
    assert surefit.verify(model, X, SIDE).holds


@pytest.mark.parametrize("cls", [SGDRegressor, SGDClassifier, Perceptron])
def test_coefficients_outside_are_never_verified(cls):
    target = Y if cls is SGDRegressor else SIDE
    model = quietly(cls(constraints=NonNegative()), X, target)
    assert surefit.verify(model, X, target).holds
    model.coef_ = np.where(model.coef_ == 0, -1e-9, model.coef_)
    assert not surefit.verify(model, X, target).holds


def test_no_coefficients_are_the_fewest_that_are_allowed():
    """Bounds may exclude zero, and then no fit can be held to be worse than it."""
    model = quietly(SGDRegressor(constraints=Box(30.0, 40.0), eta0=1e-3), X, Y)
    assert model.certificate_.claim == "optimal"
    assert "worse-than-nothing" not in {finding.code for finding in model.diagnosis_}
    long = {"learning_rate": "constant", "eta0": 0.5, "tol": None, "max_iter": 3}
    up = quietly(SGDRegressor(constraints=Box(0.5, 1e9), **long), X, Y)
    assert up.certificate_.claim == "measured"
    assert "worse-than-nothing" in {finding.code for finding in up.diagnosis_}


def test_what_is_no_set_is_refused():
    with pytest.raises(ParameterError, match="keep lower below upper"):
        Box(2.0, 1.0)
    unlike = Box(np.arange(8.0), 9.0)
    cases = [
        (SGDRegressor(constraints=[Box(1, 2), Box(3, 4)]), Y, ParameterError, "keep lower below upper"),
        (SGDRegressor(constraints=[ORDER, unlike]), Y, ParameterError, "differ in their penalty or bounds"),
        (SGDRegressor(constraints=Box(0.0, np.ones(3))), Y, DataError, "one entry a column"),
        (SGDClassifier(constraints=Monotone([[0, 8]])), SIDE, DataError, "groups name column 8"),
        (SGDClassifier(constraints="positive"), SIDE, ParameterError, "constraints"),
        (
            Perceptron(constraints=[surefit.penalties.L1(1.0)]),
            SIDE,
            ParameterError,
            "give Box, NonNegative or",
        ),
    ]
    for model, target, error, words in cases:
        with pytest.raises(error, match=words):
            model.fit(X, target)


def test_a_saved_model_keeps_its_constraints(tmp_path):
    ours = [ORDER, Box(-0.5, 0.7)]
    for model, target in (
        (SGDRegressor(constraints=ours), Y),
        (SGDClassifier("hinge", constraints=ours, polish=True, tol=1e-5, alpha=0.01), THREE),
        (Perceptron(constraints=ours), SIDE),
    ):
        quietly(model, X, target)
        surefit.save(model, tmp_path / "model.safetensors")
        again = surefit.load(tmp_path / "model.safetensors")
        assert surefit.verify(again, X, target).holds
        np.testing.assert_array_equal(again.coef_, model.coef_)
        for side in set(model.certificate_.witness) & {"lower", "upper"}:
            np.testing.assert_array_equal(again.certificate_.witness[side], model.certificate_.witness[side])
        assert within(ours, again.set_params(warm_start=True).fit(X, target))


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "modified_huber"])
@pytest.mark.parametrize("constraints", [NonNegative(), Monotone([[0, 1, 2]])], ids=["signs", "order"])
def test_without_a_penalty_a_gap_in_a_cone_is_a_bound(loss, constraints):
    """Slopes that pull along what nothing holds back bound nothing, and no tolerance excuses it."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 4))
    side = (rows @ [1.0, -1.0, 0.5, 2.0] + rng.normal(size=200) > 0).astype(int)
    named = {"hinge": "hinge", "log_loss": "logistic", "modified_huber": "modified_huber"}
    best = surefit.LinearModel(named[loss], constraints=constraints).fit(rows, side)
    assert best.certificate_.holds
    least = best.certificate_.parts["objective"]
    for epochs in (1, 1000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CertificateWarning)
            model = SGDClassifier(
                loss=loss, penalty=None, constraints=constraints, random_state=0, max_iter=epochs
            ).fit(rows, side)
        proof = model.certificate_
        assert proof.claim in ("optimal", "measured")
        assert proof.parts["objective"] - least <= proof.parts["gap"]
        assert proof.parts["left"] <= 1e-3  # the tolerance of the fit: beyond it there is no bound
        assert surefit.verify(model, rows, side).parts["gap"] == pytest.approx(proof.parts["gap"], rel=1e-9)
