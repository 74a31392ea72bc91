"""Slater's condition: a point that meets every equation and leaves room at every inequality."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from surefit.core.arrays import Vector
from surefit.solvers.conditions.problem import ConstrainedProblem
from surefit.solvers.program.data import Program
from surefit.solvers.program.linear_program import linear_program
from surefit.solvers.program.phase_one import InfeasibleError


@dataclass(frozen=True, slots=True)
class SlaterCheck:
    """The point with the most slack that was found, and how much that is; negative slack is a violation.

    ``proved`` tells that no point has more: for linear constraints the programme's certificate does.
    """

    holds: bool
    room: float
    point: Vector
    proved: bool

    @property
    def statement(self) -> str:
        """One English sentence."""
        if self.holds:
            return f"Slater's condition holds: a point has slack {self.room:.3g} in every inequality."
        if self.proved:
            return "Slater's condition fails: no point that meets the equalities is strictly feasible."
        return "No strictly feasible point was found, which does not prove that there is none."

    def __str__(self) -> str:
        return self.statement


def slater_of_program(program: Program) -> SlaterCheck:
    """Look for a strictly feasible point of linear constraints: a linear programme maximises the least slack.

    >>> program = Program.of(None, [1.0], A_ub=[[1.0], [-1.0]], b_ub=[1.0, -1.0])
    >>> slater_of_program(program).holds
    False
    """
    problem = ConstrainedProblem.of_program(program)
    n = len(program.c)
    zero = np.zeros(n)
    slopes, right = problem.inequality_slopes(zero), -problem.above(zero)
    size = np.abs(slopes).max(axis=1, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    rows = np.column_stack([slopes / size[:, None], np.ones(len(right))])
    equations = np.column_stack([problem.equality_slopes(zero), np.zeros(len(program.b_eq))])
    cost = np.append(zero, -1.0)
    bounds = [*[(None, None)] * n, (None, 1.0)]
    try:
        found = linear_program(cost, rows, right / size, equations, program.b_eq, bounds)
    except InfeasibleError:
        return SlaterCheck(False, -np.inf, zero, True)
    room = float(found.x[-1])
    # Room of the size of rounding is none: beside it the sides of the constraints are exact no more.
    least = 1e-9 * max(float(np.abs(right / size).max(initial=0.0)), 1e-300)
    return SlaterCheck(bool(room > least or not len(right)), room, found.x[:n], found.certificate.holds)


def slater_of_problem(problem: ConstrainedProblem, start: ArrayLike) -> SlaterCheck:
    """Look for a strictly feasible point of any constraints: lower the largest g(x) with h(x) = 0 held.

    >>> ball = ConstrainedProblem(lambda x: x[0], lambda x: x @ x - 1.0)
    >>> slater_of_problem(ball, [2.0, 2.0]).holds
    True
    """
    point = np.atleast_1d(np.array(start, dtype=np.float64))
    worst = float(problem.above(point).max(initial=-1.0))
    constraints = [
        {
            "type": "ineq",
            "fun": lambda both: both[-1] - problem.above(both[:-1]),
            "jac": lambda both: np.column_stack(
                [-problem.inequality_slopes(both[:-1]), np.ones(len(problem.above(both[:-1])))]
            ),
        }
    ]
    if problem.equalities is not None:
        equations = {
            "type": "eq",
            "fun": lambda both: problem.off(both[:-1]),
            "jac": lambda both: np.column_stack(
                [problem.equality_slopes(both[:-1]), np.zeros(len(problem.off(both[:-1])))]
            ),
        }
        constraints.append(equations)
    last = np.append(np.zeros_like(point), 1.0)
    with np.errstate(all="ignore"):
        found = minimize(
            lambda both: both[-1],
            np.append(point, worst),
            jac=lambda both: last,
            method="SLSQP",
            constraints=constraints,
            bounds=[*[(None, None)] * len(point), (-1.0, None)],
            options={"ftol": 1e-12, "maxiter": 500},
        )
    inside = found.x[:-1] if np.isfinite(found.x).all() else point
    room = -float(problem.above(inside).max(initial=-1.0))
    off = float(np.abs(problem.off(inside)).max(initial=0.0))
    size = max(1.0, float(np.abs(inside).max()))
    return SlaterCheck(bool(room > 1e-9 * size and off <= 1e-8 * size), room, inside, False)
