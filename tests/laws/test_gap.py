"""The duality gap: never negative, small at the solution alone, and large after any corruption."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.laws.problems import PENALTIES, bound, losses, penalties_of, planted

from surefit.losses.base import Loss
from surefit.penalties.base import Penalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import duality_gap
from surefit.solvers.objective.solver import Solution, solver_named, suited

TOLERANCE = 1e-6
CONVEX = [loss for loss in losses() if loss.convex]
CASES = {
    name: [case for case in penalties_of(name) if case.convex and case.offers("conjugate")]
    for name in PENALTIES
}
PAIRS = [  # the cases of a penalty take turns with the losses
    pytest.param(loss, cases[turn % len(cases)], id=f"{loss.name}-{name}-{turn % len(cases)}")
    for turn, loss in enumerate(CONVEX)
    for name, cases in CASES.items()
    if cases
]
WEAK = [  # enough so to let some coefficients in
    pytest.param(loss, cases[0] if cases[0].constraint or name == "none" else cases[0].scaled(0.05), id=case)
    for loss in CONVEX
    for name, cases in CASES.items()
    if cases
    for case in [f"{loss.name}-{name}"]
]


def with_weights(X: Any, y: Any, loss: Loss, penalty: Penalty, weight: Any, fit_intercept: bool) -> Objective:
    outputs = 3 if loss.task == "multiclass" else None
    return Objective.of_arrays(
        X, y, loss, penalty, sample_weight=weight, fit_intercept=fit_intercept, outputs=outputs
    )


def allowed(objective: Objective, w: np.ndarray) -> np.ndarray:
    """Move coefficients to where the penalty is finite."""
    return w if np.isfinite(objective.penalised(w)) else objective.prox(w, 1e-3)


def solved(objective: Objective) -> Solution:
    """Solve by the plainest solver that takes the objective."""
    return solver_named(suited(objective)[-1], tolerance=TOLERANCE).solve(objective)


@pytest.mark.parametrize(("loss", "penalty"), PAIRS)
def test_no_point_is_below_the_bound_of_another(loss: Loss, penalty: Penalty) -> None:
    """P(w) - gap(w) is a lower bound of P everywhere, at random points and weights."""
    rng = np.random.default_rng(5)
    X, y = planted(loss)
    for size, fit_intercept in ((0.01, True), (0.3, False), (2.0, True)):
        weight = rng.integers(0, 3, size=len(X)) * rng.random()
        objective = with_weights(X, y, loss, penalty, weight, fit_intercept)
        bounds, values = [], []
        for _ in range(3):
            found = duality_gap(objective, allowed(objective, size * rng.normal(size=objective.shape)))
            assert found.gap >= 0
            values.append(found.primal)
            if found.left <= 1e-14:  # slopes that pull on a free direction bound nothing far along it
                bounds.append(found.primal - found.gap)
        scale = 1.0 + max(np.abs(values))
        assert max(bounds, default=-np.inf) <= min(values) + 1e-12 * scale


@pytest.mark.parametrize(("loss", "penalty"), WEAK)
def test_the_gap_closes_at_the_solution_alone_and_one_corrupted_number_opens_it(
    loss: Loss, penalty: Penalty
) -> None:
    objective = bound(*planted(loss), loss, penalty)
    solution = solved(objective)
    assert_closed_here_alone(objective, solution)
    if loss.name != "perceptron":  # its zero costs nothing, whatever y
        assert_open_once_corrupted(objective, solution)


def assert_closed_here_alone(objective: Objective, solution: Solution) -> None:
    rng, loss, penalty = np.random.default_rng(7), objective.loss, objective.penalty
    zero = allowed(objective, np.zeros(objective.shape))
    far = allowed(objective, rng.normal(size=objective.shape))
    at_zero, at_random = (objective.certificate(w, TOLERANCE) for w in (zero, far))
    line = f"gap at w = 0: {at_zero.value:.3g}, random w: {at_random.value:.3g}, "
    print(f"{loss.name} + {penalty!r}: {line}solution: {solution.certificate.value:.3g}")  # noqa: T201
    assert solution.holds
    assert 0 <= solution.certificate.value <= TOLERANCE
    assert at_random.value > TOLERANCE
    assert at_zero.value > TOLERANCE or abs(objective.value(zero) - solution.value) <= TOLERANCE


def assert_open_once_corrupted(objective: Objective, solution: Solution) -> None:
    loss, penalty = objective.loss, objective.penalty
    X, y = planted(loss)
    ones = np.ones(len(X))
    stored = solution.certificate.witness.get("slopes")
    z = X @ solution.x[:-1] + solution.x[-1]
    slopes = loss.gradient(y, z) if stored is None else stored
    pull = slopes if slopes.ndim == 1 else np.abs(slopes).max(axis=1)

    def still_holds(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> bool:
        return with_weights(X, y, loss, penalty, weight, True).certificate(x, TOLERANCE, stored).holds

    assert still_holds(solution.x, y, ones)
    coefficient = solution.x.copy()
    coefficient[(-1, 0)[: coefficient.ndim]] += 0.3  # an intercept, which no constraint holds
    assert not still_holds(coefficient, y, ones)
    label = y.copy()
    if loss.task == "regression":  # from above its score to below it, as a median sees nothing less
        row = np.argmax(np.where(pull < 0, z - y.min(), -np.inf))
        label[row] = y.min()
    else:
        label[np.argmax(y)] = 0
    assert not still_holds(solution.x, label, ones)
    weight = ones.copy()
    weight[np.argmax(np.abs(pull))] = 9.0
    assert not still_holds(solution.x, y, weight)
