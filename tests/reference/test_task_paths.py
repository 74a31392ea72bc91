"""Paths of several targets within constraints, each step against the same problem solved exactly."""

from __future__ import annotations

import numpy as np
import pytest

from surefit.penalties import GroupL1, GroupL1Within
from surefit.solvers.tasks.columns import TaskColumns
from surefit.solvers.tasks.constrained import ConstrainedTasks
from surefit.solvers.tasks.order import LevelOrder
from surefit.solvers.tasks.splitting import TaskSplitting

LEVELS = [[0, 1, 2, 3, 4], [7, 8, 9]]
FREE = np.full(12, np.inf)
LIMITS = {
    "bounds": (np.full(12, -0.3), np.full(12, 0.5), []),
    "signs": (np.zeros(12), FREE, []),
    "order": (-FREE, FREE, LEVELS),
    "order of signs": (np.zeros(12), FREE, LEVELS),
}


def table():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(150, 12))
    X[:, 3] = X[:, 2] + 0.1 * rng.normal(size=150)
    return X, X[:, :6] @ rng.normal(size=(6, 3)) + rng.normal(size=(150, 3))


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_every_step_is_as_low_as_the_tolerance_asks_for(limits, ratio):
    """The step after a rough one begins near, so that errors do not add up along the way."""
    X, Y = table()
    problem = TaskColumns(X, Y)
    held, tolerance = ConstrainedTasks(problem, *limits), 1e-4 * problem.energy
    strengths = np.geomspace(1.0, 1e-3, 30) * GroupL1(1.0, l1_ratio=ratio).largest(problem.slopes_at_zero)
    penalties = [GroupL1(float(strength), l1_ratio=ratio) for strength in strengths]
    for penalty, step in zip(penalties, held.path(penalties, tolerance=tolerance), strict=True):
        whole = GroupL1Within(penalty, *limits[:2])
        exact = held.solve(penalty, step.coef, tolerance=1e-9 * problem.energy)
        values = [0.5 * problem.at(coef).rr + whole.value(coef) for coef in (step.coef, exact.coef)]
        assert exact.gap <= 1e-9 * problem.energy
        assert values[0] <= values[1] + tolerance
        assert (LevelOrder(limits[2]).project(step.coef) == step.coef).all()


def test_a_step_that_begins_at_its_answer_asks_for_no_iteration(monkeypatch):
    X, Y = table()
    held, penalty = ConstrainedTasks(TaskColumns(X, Y), *LIMITS["bounds"]), GroupL1(0.1)
    found = held.solve(penalty, tolerance=1e-9)
    monkeypatch.delattr(TaskSplitting, "_factored")
    again = held.solve(penalty, found.coef, found.multipliers, tolerance=1e-9)
    np.testing.assert_allclose(again.coef, found.coef, atol=1e-9)
