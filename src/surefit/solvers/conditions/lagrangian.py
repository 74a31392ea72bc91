r"""The Lagrangian of a problem and its dual function.

:math:`L(x, u, v) = f(x) + u'g(x) + v'h(x)` with :math:`u \ge 0`; the dual :math:`\min_x L(x, u, v)` is
concave in (u, v) and nowhere above the problem's minimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.conditions.problem import ConstrainedProblem

BOTTOMLESS = -1e15  # relative to the Lagrangian at the start: whoever comes here is falling for ever


@dataclass(frozen=True, slots=True)
class DualValue:
    """The least value of the Lagrangian that was found, and where.

    It is the dual function where the Lagrangian is convex in x; elsewhere no more than an upper bound of it.
    """

    value: float
    x: Vector
    slope: float  # what is left of the gradient there


def lagrangian(
    problem: ConstrainedProblem, x: ArrayLike, u: ArrayLike | None = None, v: ArrayLike | None = None
) -> float:
    """Return f(x) + u'g(x) + v'h(x).

    >>> nearest = ConstrainedProblem(lambda x: x @ x, lambda x: 4 - 2 * x[0] - 2 * x[1])
    >>> lagrangian(nearest, [1.0, 0.0], [0.5])
    2.0
    """
    point = np.atleast_1d(np.array(x, dtype=np.float64))
    first, second = problem.prices(u, v, point)
    return problem.value(point) + float(first @ problem.above(point) + second @ problem.off(point))


def dual_value(
    problem: ConstrainedProblem, u: ArrayLike | None, v: ArrayLike | None = None, *, start: ArrayLike
) -> DualValue:
    """Minimise the Lagrangian over x from a start; minus infinity where it is unbounded.

    >>> nearest = ConstrainedProblem(lambda x: x @ x, lambda x: 4 - 2 * x[0] - 2 * x[1])
    >>> round(dual_value(nearest, [0.5], start=[0.0, 0.0]).value, 9)
    1.5
    """
    point = np.atleast_1d(np.array(start, dtype=np.float64))
    first, second = problem.prices(u, v, point)
    if np.any(first < 0):
        raise ParameterError(
            "dual_value: a multiplier in u is negative; give multipliers of inequalities that are 0 or more."
        )

    def value(x: Vector) -> float:
        return lagrangian(problem, x, first if len(first) else None, second if len(second) else None)

    def slope(x: Vector) -> Vector:
        return _slope(problem, x, first, second)

    floor = BOTTOMLESS * max(1.0, abs(value(point)))
    with np.errstate(all="ignore"):
        found = minimize(value, point, jac=slope, method="BFGS", options={"gtol": 1e-10, "maxiter": 300})
        # A line search that ran out of digits may end early: once more, from where it stands.
        found = minimize(value, found.x, jac=slope, method="BFGS", options={"gtol": 1e-12, "maxiter": 300})
        left = float(np.abs(slope(found.x)).max()) if np.isfinite(found.x).all() else np.inf
        steep = 1e-4 * max(1.0, float(np.abs(slope(point)).max()))
        down = -slope(found.x) if np.isfinite(left) else np.zeros_like(point)
        falls = left > steep and value(found.x + 1e8 * down) < found.fun
    bottomless = not np.isfinite(found.fun) or found.fun < floor or falls
    return DualValue(-np.inf if bottomless else float(found.fun), found.x, left)


def lagrangian_gradient(
    problem: ConstrainedProblem, x: ArrayLike, u: ArrayLike | None = None, v: ArrayLike | None = None
) -> Vector:
    """Return the gradient of the Lagrangian in x."""
    point = np.atleast_1d(np.array(x, dtype=np.float64))
    return _slope(problem, point, *problem.prices(u, v, point))


def _slope(problem: ConstrainedProblem, x: Vector, u: Vector, v: Vector) -> Vector:
    return problem.slope(x) + problem.inequality_slopes(x).T @ u + problem.equality_slopes(x).T @ v
