"""Fits of many rows begin with the answer for a sample, and with its second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefit.data.batches.batch import Batch
from surefit.losses import Gamma, Logistic, Poisson, Softmax
from surefit.penalties import L1, L2
from surefit.solvers.first_order.lbfgs import Lbfgs
from surefit.solvers.newton.newton import Newton
from surefit.solvers.newton.proximal_newton import ProximalNewton
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.centred_hessian import SecondDerivatives
from surefit.solvers.objective.gap import _dual_points, _excess_bound, _Point
from surefit.solvers.objective.subsample import alike, sample_of
from surefit.stats.duality import Correction, FenchelExcess

RNG = np.random.default_rng(0)
ROWS = 24_000
X = RNG.normal(size=(ROWS, 12)) @ (np.eye(12) + 0.3 * RNG.normal(size=(12, 12)))
CHANCE = 1 / (1 + np.exp(-X @ RNG.normal(size=12) / 3))
SOLVERS = {"newton": (Newton, L2(1e-4)), "proximal_newton": (ProximalNewton, L1(0.01))}


def targets(loss: Any) -> Any:
    if isinstance(loss, Logistic):
        return (RNG.random(ROWS) < CHANCE).astype(float)
    return (
        RNG.poisson(2 * CHANCE).astype(float) if isinstance(loss, Poisson) else RNG.gamma(2.0, CHANCE) + 1e-3
    )


@pytest.fixture
def orders(monkeypatch):
    """The orders of the passes over all rows."""
    seen: list[int] = []
    at = SecondDerivatives.at

    def counted(self, w, order=2):
        if len(self.objective.rows) == ROWS:
            seen.append(order)
        return at(self, w, order)

    monkeypatch.setattr(SecondDerivatives, "at", counted)
    return seen


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("loss", [Logistic(), Poisson(), Gamma()], ids=["logistic", "poisson", "gamma"])
def test_all_rows_are_read_for_gradients_alone(name, loss, orders):
    solver, penalty = SOLVERS[name]
    objective = Objective.of_arrays(X, targets(loss), loss, penalty)
    found = solver(tolerance=1e-8).solve(objective)
    assert found.certificate.holds
    assert set(orders) == {1}
    assert len(orders) <= 8
    exact = solver(tolerance=1e-12).solve(objective, objective.null)
    assert objective.value(found.x) <= objective.value(exact.x) + 2e-8 * objective.scale


@pytest.mark.parametrize("name", SOLVERS)
def test_a_column_that_the_sample_hardly_sees_is_bent_as_in_all_rows(name, orders):
    solver, penalty = SOLVERS[name]
    rare = X.copy()
    rare[:, 0] = 0.0
    rare[:7, 0] = 100.0
    objective = Objective.of_arrays(rare, targets(Logistic()), Logistic(), penalty)
    assert not alike(sample_of(objective), objective)
    found = solver(tolerance=1e-8).solve(objective)
    assert found.certificate.holds
    assert 2 in orders


def test_columns_far_from_zero_are_moved_first(orders):
    objective = Objective.of_arrays(X + 1e6, targets(Logistic()), Logistic(), L2(1e-4))
    assert Newton(tolerance=1e-7).solve(objective).certificate.holds
    assert 2 in orders


def test_a_sample_that_misleads_is_left_alone(monkeypatch):
    """Rows that the sample does not hold may say the opposite."""
    y = targets(Logistic())
    objective = Objective.of_arrays(X, y, Logistic(), L2(1e-4))
    few = sample_of(objective)
    assert few is not None
    opposite = Objective.of_arrays(few.rows.X, 1 - few.rows.y, Logistic(), L2(1e-4))
    found_by = {id(objective): opposite}
    monkeypatch.setattr("surefit.solvers.newton.second_order.sample_of", lambda of: found_by.get(id(of)))
    found = Newton(tolerance=1e-8).solve(objective)
    assert found.certificate.holds


def test_steps_of_a_sample_save_passes_over_all_rows():
    y = (X[:, :3] + RNG.gumbel(size=(ROWS, 3))).argmax(axis=1)
    passes = []
    for from_sample in (True, False):
        objective = Objective.of_arrays(X, y, Softmax(), L2(1e-4), outputs=3)
        start = None if from_sample else objective.null
        assert Lbfgs(tolerance=1e-7).solve(objective, start).certificate.holds
        passes.append(objective.passes)
    assert passes[0] < passes[1]


def test_steps_of_a_sample_that_misleads_are_forgotten(monkeypatch):
    y = (X[:, :3] + RNG.gumbel(size=(ROWS, 3))).argmax(axis=1)
    objective = Objective.of_arrays(X, y, Softmax(), L2(1e-4), outputs=3)
    few = sample_of(objective)
    assert few is not None
    other = Objective.of_arrays(-5 * few.rows.X, few.rows.y, Softmax(), L2(1e-4), outputs=3)
    monkeypatch.setattr("surefit.solvers.first_order.lbfgs.sample_of", lambda _: other)
    assert Lbfgs(tolerance=1e-7).solve(objective).certificate.holds


@pytest.mark.parametrize(
    "loss", [Logistic(), Poisson(), Gamma(), Softmax()], ids=["logistic", "poisson", "gamma", "softmax"]
)
@pytest.mark.parametrize("off", [1e-6, 0.05, 0.6])
def test_the_bound_of_what_slopes_leave_is_one(loss, off):
    several = isinstance(loss, Softmax)
    y = RNG.integers(0, 3, ROWS) if several else targets(loss)
    few = slice(0, 500)
    objective = Objective.of_arrays(X[few], y[few], loss, L2(0.1), outputs=3 if several else None)
    w = 0.1 * RNG.normal(size=objective.shape)
    w[-1] += off * RNG.normal(size=np.shape(w[-1]))
    point = _Point(objective, w, None)
    at = point.slopes_at(np.zeros((12, 0)))
    step, _, _ = next(_dual_points(point, at))
    bound = _excess_bound(objective, step, at)
    assert point.excess(step)[0] <= bound * (1 + 1e-9) + 1e-14


def test_what_slopes_leave_adds_up_piece_by_piece():
    n = 70_000  # more rows than are looked at together
    rows, y = RNG.normal(size=(n, 3)), RNG.integers(0, 2, n)
    weight, offset = RNG.integers(0, 3, n).astype(float), RNG.normal(size=n)
    slopes = RNG.uniform(0.0, 0.2, n) - y * 0.5
    about = {"loss": Logistic(), "w": np.array([0.2, -0.1, 0.3]), "intercept": 0.1}
    step = Correction(np.eye(3)[:, :1], np.array([0.01, 0.02]), 0.9)
    whole = Batch(rows, y, weight, offset=offset)
    halves = [
        Batch(rows[some], y[some], weight[some], start=some.start, offset=offset[some])
        for some in (slice(0, n // 2), slice(n // 2, n))
    ]
    for given in (None, slopes):
        found = FenchelExcess.of(whole, step=step, slopes=given, **about)
        parts = [FenchelExcess.of(half, step=step, slopes=given, **about) for half in halves]
        assert found.distance(parts[0] + parts[1]) < 1e-12
