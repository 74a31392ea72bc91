r"""A function with constraints that are functions too: :math:`g(x) \le 0` and :math:`h(x) = 0`.

There is no projection to such a set, so only methods that go by its violation take it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.trace import Landscape
from surefit.solvers.conditions.problem import ConstrainedProblem
from surefit.solvers.objective.function import FunctionObjective, Shape

NEAR = 1e-4  # how near to its bound, relative to the start's violations, a constraint counts as active


class ConstrainedObjective(FunctionObjective):
    """The objective of a constrained problem; its certificate looks for multipliers by itself.

    >>> problem = ConstrainedProblem(lambda x: x @ x, lambda x: 4 - 2 * x[0] - 2 * x[1])
    >>> ConstrainedObjective(problem, [5.0, 0.0]).certificate(np.ones(2), 1e-6).holds
    True
    """

    def __init__(self, problem: ConstrainedProblem, start: ArrayLike, shape: Shape | None = None) -> None:
        self.problem = problem
        super().__init__(problem.objective, start, gradient=problem.gradient, shape=shape)

    @property
    def constrained(self) -> bool:
        """True: a set without projection."""
        return True

    @property
    def landscape(self) -> Landscape:
        """The function, and where the constraints hold."""
        problem = self.problem
        inside = None if problem.inequalities is None else lambda x: bool((problem.above(x) <= 0).all())
        return Landscape(
            problem.value, self.start, inside, lines=None if problem.equalities is None else problem.off
        )

    def violation(self, x: Vector) -> tuple[float, Vector]:
        """Return half the squared violations, and their gradient."""
        above, off = np.maximum(self.problem.above(x), 0.0), self.problem.off(x)
        slope = np.zeros_like(x)
        if above.any():
            slope = slope + self.problem.inequality_slopes(x).T @ above
        if off.any():
            slope = slope + self.problem.equality_slopes(x).T @ off
        return 0.5 * float(above @ above + off @ off), slope

    def certificate(self, w: Vector, tolerance: float, slopes: Vector | None = None) -> Certificate:
        """Measure the conditions of Karush, Kuhn and Tucker with the multipliers that fit best."""
        gradient = self.at(w, 1).gradient
        above, off = self.problem.above(w), self.problem.off(w)
        unit = self._unit
        active = above >= -NEAR * unit
        left, multipliers = _balance(
            gradient, self.problem.inequality_slopes(w)[active], self.problem.equality_slopes(w)
        )
        first = max(float(np.linalg.norm(self.at(self.start, 1).gradient)), float(np.linalg.norm(gradient)))
        infeasible = float(np.max(np.concatenate([above, np.abs(off), [0.0]]))) / unit
        balance = left / max(first, float(np.finfo(float).tiny))
        parts = {"objective": self.value(w), "stationarity": balance, "infeasibility": infeasible}
        measure = "larger of the Lagrangian's gradient and the constraint violation, relative"
        value = max(balance, infeasible)
        return Certificate("stationary", measure, value, tolerance, parts, {"multipliers": multipliers})

    @property
    def _unit(self) -> float:
        """The size of the constraints' values at the start, 1 at the least."""
        values: Any = np.concatenate([self.problem.above(self.start), self.problem.off(self.start)])
        return max(float(np.abs(values).max(initial=0.0)), 1.0)


def _balance(gradient: Vector, inequalities: Vector, equalities: Vector) -> tuple[float, Vector]:
    """Return what is left of the gradient after the best multipliers, the inequalities' never negative."""
    columns = np.hstack([inequalities.T, equalities.T, -equalities.T])
    if not columns.shape[1]:
        return float(np.linalg.norm(gradient)), np.zeros(0)
    multipliers, left = optimize.nnls(columns, -gradient)
    return float(left), np.asarray(multipliers)
