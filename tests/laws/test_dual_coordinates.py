"""Dual coordinate descent with conjugate gradients on what is free: answers, weights, hard tables, epochs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surefit import LinearSVC, verify
from surefit.losses import EpsilonInsensitive, Hinge, SquaredEpsilonInsensitive, SquaredHinge
from surefit.optimize import DualCoordinates
from surefit.penalties import L2
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import solver_named

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 25))
NUMBERS = X[:, 0] - X[:, 1] + RNG.normal(size=60)
SIDES = np.sign(NUMBERS)
LOSSES = {
    "hinge": (Hinge(), SIDES),
    "squared_hinge": (SquaredHinge(), SIDES),
    "tube": (EpsilonInsensitive(0.3), NUMBERS),
    "squared_tube": (SquaredEpsilonInsensitive(0.3), NUMBERS),
}
OTHERS = {
    "hinge": "frisch_newton",
    "squared_hinge": "newton",
    "tube": "frisch_newton",
    "squared_tube": "newton",
}


def bound(X, y, loss, strength=0.02, weight=None):
    return Objective.of_arrays(X, y, loss, L2(strength), fit_intercept=False, sample_weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_the_objective_is_that_of_another_solver(name, weighted):
    loss, y = LOSSES[name]
    weight = (np.arange(60) % 3).astype(float) if weighted else None
    found = DualCoordinates(tolerance=1e-9).solve(bound(X, y, loss, weight=weight))
    other = solver_named(OTHERS[name], tolerance=1e-10).solve(bound(X, y, loss, weight=weight))
    assert found.holds
    assert found.value == pytest.approx(other.value, rel=1e-7)
    again = bound(X, y, loss, weight=weight).certificate(found.x, 1e-8, found.certificate.witness["slopes"])
    assert again.holds


@pytest.mark.parametrize("name", LOSSES)
def test_hard_tables(name):
    loss, y = LOSSES[name]
    tables = {
        "twice": np.vstack([X, X]),
        "few columns": X[:, :2],
        "constant": np.hstack([X, np.full((60, 1), 3.0), np.zeros((60, 1))]),
        "float32": X.astype(np.float32),
        "one row": X[:1],
    }
    for kind, rows in tables.items():
        target = np.tile(y, 2)[: len(rows)] if kind != "one row" else y[:1]
        found = DualCoordinates(tolerance=1e-6).solve(bound(rows, target, loss))
        assert found.holds, kind


def test_rows_that_share_little_take_few_epochs():
    wide = sparse.random_array((300, 9000), density=0.03, rng=np.random.default_rng(0), format="csr")
    wide.data -= 0.5
    y = np.sign(wide @ RNG.normal(size=9000))
    found = DualCoordinates(tolerance=1e-9).solve(bound(wide, y, Hinge(), 1 / 300))
    assert found.holds
    assert np.nansum(found.trace.column("epochs")) <= 20  # the rest is conjugate gradients


def test_what_is_proved_is_small_beside_the_objective_and_can_be_verified():
    wide = sparse.random_array((200, 4000), density=0.03, rng=np.random.default_rng(1), format="csr")
    y = RNG.integers(0, 2, 200)
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(loss=loss, C=10.0).fit(wide, y)
        parts = model.certificate_.parts
        assert parts["gap"] <= 1e-6 * parts["objective"]
        assert verify(model, wide, y).holds
