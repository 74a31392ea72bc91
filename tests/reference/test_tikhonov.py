"""Tikhonov's penalty with matrices that have a null space, or nearly: gaps against the minimum of cvxpy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import surefit
from surefit.losses import Huber, Logistic, Squared
from surefit.penalties import Tikhonov
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import duality_gap

RNG = np.random.default_rng(0)
each_shape = pytest.mark.parametrize(("rows", "columns"), [(40, 12), (10, 24)], ids=["tall", "wide"])


def differences(columns, order):
    """D'D of the differences of an order: their null space are the polynomials below it."""
    D = np.diff(np.eye(columns), n=order, axis=0)
    return D.T @ D


def nearly_low(columns):
    """Singular values from 1 down to the rounding of the greatest."""
    axes = np.linalg.qr(np.ones((columns, columns)) + np.eye(columns))[0]
    return np.diag(10.0 ** -np.linspace(0, 13, columns)) @ axes


MATRICES = {
    "first differences": lambda p: differences(p, 1),
    "second differences": lambda p: differences(p, 2),
    "low rank": lambda p: RNG.normal(size=(p, 3)) @ RNG.normal(size=(3, p)),
    "nearly of low rank": nearly_low,
}
LOSSES = {
    "squared": (Squared(), lambda y, z: cp.sum_squares(y - z) / 2),
    "huber": (Huber(), lambda y, z: cp.sum(cp.huber(y - z, Huber().threshold)) / 2),
    "logistic": (Logistic(), lambda y, z: cp.sum(cp.logistic(z) - cp.multiply(y, z))),
}
each_matrix = pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys())
each_loss = pytest.mark.parametrize("name", LOSSES)


def problem(name, matrix, rows, columns, strength=0.1):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, columns))
    y = X[:, 0] + rng.normal(size=rows)
    return X, (y > 0).astype(float) if name == "logistic" else y, Tikhonov(matrix(columns), strength)


def least(name, X, y, penalty):
    """The minimum, by an interior-point method."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    paid = 0.5 * penalty.strength * cp.sum_squares(np.asarray(penalty.matrix) @ w)
    mean = LOSSES[name][1](y, X @ w + b) / len(y)
    return float(cp.Problem(cp.Minimize(mean + paid)).solve(solver="CLARABEL"))


@each_shape
@each_matrix
@each_loss
def test_a_fit_is_proved_and_no_worse(name, matrix, rows, columns):
    X, y, penalty = problem(name, matrix, rows, columns)
    if name == "logistic" and rows < columns:
        pytest.skip("free directions separate as few rows, and then there is no minimum")
    model = surefit.LinearModel(loss=name, penalty=penalty).fit(X, y)
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    best = least(name, X, y, penalty)
    assert model.certificate_.parts["objective"] <= best + 1e-6 * max(abs(best), 1.0)


@each_shape
@each_matrix
@each_loss
def test_the_gap_bounds_what_is_left_anywhere(name, matrix, rows, columns):
    X, y, penalty = problem(name, matrix, rows, columns)
    best = least(name, X, y, penalty)
    objective = Objective.of_arrays(X, y, LOSSES[name][0], penalty)
    for size in (1e-6, 1e-2, 1.0):
        w = size * RNG.normal(size=columns + 1)
        left = objective.value(w) - best
        found = duality_gap(objective, w)
        assert found.left > 1e-9 or found.gap >= left - 1e-7 * max(abs(best), 1.0)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize(("rows", "columns"), [(20, 80), (200, 80)], ids=["wide", "tall"])
def test_small_eigenvalues_do_not_blow_rounding_up(rows, columns, offset, order):
    """Along them the inverse of G'G would make a gap of mere rounding in the slopes."""
    X, y, penalty = problem("squared", lambda p: differences(p, order), rows, columns)
    model = surefit.LinearModel(loss="squared", penalty=penalty).fit(X + offset, y)
    assert model.certificate_.value < 1e-8
    wrong = surefit.verify(model, X + offset, y + X[:, 0])
    assert not wrong.holds
