"""Newton's method with one unknown a row: forms of rows, weights, hard tables, and how little it reads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surefit import LinearModel, LogisticRegression, verify
from surefit.losses import Huber, Logistic, Poisson, Softmax, Squared, SquaredHinge
from surefit.penalties import L1, L2
from surefit.solvers.newton.newton import Newton
from surefit.solvers.newton.row_newton import RowNewton
from surefit.solvers.newton.row_system import row_squares
from surefit.solvers.objective.base import Objective

RNG = np.random.default_rng(7)
ROWS, COLUMNS = 40, 90
X = RNG.normal(size=(ROWS, COLUMNS)) * (RNG.random((ROWS, COLUMNS)) < 0.3)
NUMBERS = X[:, :3].sum(axis=1) + RNG.normal(size=ROWS)
CLASSES = (NUMBERS > 0).astype(float)
COUNTS = RNG.poisson(np.exp(0.3 * NUMBERS)).astype(float)
LOSSES = {
    "logistic": (Logistic(), CLASSES),
    "squared_hinge": (SquaredHinge(), CLASSES),
    "poisson": (Poisson(), COUNTS),
    "huber": (Huber(0.3), NUMBERS),
    "squared": (Squared(), NUMBERS),
}


def solved(solver, X, y, loss, strength=0.01, tolerance=1e-10, **options):
    found = solver(tolerance=tolerance).solve(Objective.of_arrays(X, y, loss, L2(strength), **options))
    assert found.holds, found.certificate
    return found


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_the_answer_is_that_of_newton_by_columns(name, intercept):
    loss, y = LOSSES[name]
    expected = solved(Newton, X, y, loss, fit_intercept=intercept)
    found = solved(RowNewton, X, y, loss, fit_intercept=intercept)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-3, atol=2e-4)
    assert found.value == pytest.approx(expected.value, rel=1e-9)


@pytest.mark.parametrize("form", [np.asfortranarray, sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_forms_of_rows(form):
    expected = solved(RowNewton, X, CLASSES, Logistic())
    found = solved(RowNewton, form(X), CLASSES, Logistic())
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-6, atol=1e-7)
    assert found.passes == expected.passes
    half = solved(RowNewton, form(X.astype(np.float32)), CLASSES, Logistic())
    np.testing.assert_allclose(half.x, expected.x, rtol=1e-4, atol=1e-5)


def test_entries_stored_twice_count_once_each():
    twice = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), (2, 5))
    expected = solved(RowNewton, twice.toarray(), [0.0, 1.0], Logistic())
    np.testing.assert_allclose(solved(RowNewton, twice, [0.0, 1.0], Logistic()).x, expected.x, atol=1e-6)


def test_weights_are_repetitions_and_rows_of_weight_0_may_hold_anything():
    times = np.arange(ROWS) % 3
    rows = np.repeat(np.arange(ROWS), times)
    wild = X.copy()
    wild[times == 0] *= 1e8
    expected = solved(RowNewton, X[rows], CLASSES[rows], Logistic())
    found = solved(RowNewton, wild, CLASSES, Logistic(), sample_weight=times.astype(float))
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-4, atol=1e-6)


HARD = {
    "one row": (X[:1], NUMBERS[:1], Squared()),
    "duplicate rows and columns": (np.tile(X, (2, 2)), np.tile(NUMBERS, 2), Huber(0.3)),
    "constant columns": (np.hstack([X, np.full((ROWS, 2), 7.0), np.zeros((ROWS, 1))]), CLASSES, Logistic()),
    "mean 1e3": (X + 1e3, CLASSES, Logistic()),
    "all residuals beyond the threshold": (X, 1e4 * NUMBERS, Huber()),
    "columns of scales 1e-12 and 1e3": (
        X * np.where(np.arange(COLUMNS) % 2, 1e-12, 1e3),
        CLASSES,
        Logistic(),
    ),
    "more rows than columns": (X[:, :5], COUNTS, Poisson()),
}


@pytest.mark.parametrize("kind", HARD)
def test_hard_tables(kind):
    rows, y, loss = HARD[kind]
    found = solved(RowNewton, rows, y, loss, strength=0.1, tolerance=1e-8)
    again = Objective.of_arrays(rows, y, loss, L2(0.1)).certificate(found.x, 1e-6)
    assert again.holds, again


def test_rows_alike_take_few_passes_and_a_warm_start_takes_a_proof():
    wide = np.random.default_rng(0).normal(size=(60, 3000))
    y = (wide[:, 0] > 0).astype(float)
    objective = Objective.of_arrays(wide, y, Logistic(), L2(1 / 60))
    found = RowNewton(tolerance=1e-6).solve(objective)
    assert found.holds
    assert found.passes <= 40
    again = Objective.of_arrays(wide, y, Logistic(), L2(1 / 60))
    warm = RowNewton(tolerance=1e-5).solve(again, found.x)
    assert warm.iterations == 1


def test_the_fit_of_a_wide_sparse_table_is_small_beside_its_own_loss():
    rng = np.random.default_rng(1)
    wide = sparse.random_array((80, 2000), density=0.05, rng=rng, format="csc")
    y = rng.integers(0, 2, 80)
    model = LogisticRegression(C=1e3).fit(wide, y)
    assert model.solver_ == "row_newton"
    assert model.certificate_.parts["gap"] <= 1e-6 * model.certificate_.parts["objective"]
    assert verify(model, wide, y).holds
    exact = LogisticRegression(C=1e3, tol=1e-10).fit(wide, y)
    best = exact.certificate_.parts["objective"]
    assert model.certificate_.parts["objective"] <= best * (1 + 1e-6)


def test_refusals():
    for loss, y, penalty, reason in (
        (Logistic(), CLASSES, L1(0.1), "needs a quadratic"),
        (Softmax(), CLASSES.astype(int), L2(0.1), "a single output"),
    ):
        outputs = 2 if loss.task == "multiclass" else None
        said = RowNewton().refusal(Objective.of_arrays(X, y, loss, penalty, outputs=outputs))
        assert reason in said


def test_row_squares():
    scale = np.linspace(0.5, 2.0, COLUMNS)
    expected = (X**2) @ scale
    for form in (np.asarray, sparse.csr_array, sparse.csc_array):
        np.testing.assert_allclose(row_squares(form(X), scale), expected, rtol=1e-12)


def test_a_solver_by_name():
    model = LinearModel("poisson", L2(0.1), solver="row_newton").fit(X, COUNTS)
    assert model.certificate_.holds
