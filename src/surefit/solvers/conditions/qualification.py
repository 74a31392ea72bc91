"""Constraint qualifications at a point: when multipliers must exist, though Slater's point is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from surefit.solvers.conditions.problem import ConstrainedProblem

ACTIVE = 1e-8  # of the size of a constraint's slope: how near to 0 it counts as met with equality
SMALL = 1e-9


@dataclass(frozen=True, slots=True)
class Qualification:
    """Which constraints are active at a point, and which qualifications hold there.

    linear_independence (LICQ): the gradients of all equalities and active inequalities are independent, so
    that the multipliers are unique. mangasarian_fromovitz (MFCQ): those of the equalities are, and some
    direction keeps to them and leads inside every active inequality, so that the multipliers are bounded.
    """

    active: tuple[int, ...]
    linear_independence: bool
    mangasarian_fromovitz: bool


def constraint_qualification(problem: ConstrainedProblem, x: ArrayLike) -> Qualification:
    """Test the gradients of the constraints that are active at x; LICQ implies MFCQ.

    >>> corner = ConstrainedProblem(lambda x: x[0], lambda x: np.array([-x[0], -x[1]]))
    >>> constraint_qualification(corner, [0.0, 0.0])
    Qualification(active=(0, 1), linear_independence=True, mangasarian_fromovitz=True)
    >>> cusp = ConstrainedProblem(lambda x: -x[0], lambda x: np.array([x[1] - (1 - x[0]) ** 3, -x[1]]))
    >>> constraint_qualification(cusp, [1.0, 0.0]).mangasarian_fromovitz
    False
    """
    point = np.atleast_1d(np.asarray(x, dtype=np.float64))
    slopes, equations = problem.inequality_slopes(point), problem.equality_slopes(point)
    size = np.maximum(np.linalg.norm(slopes, axis=1), 1.0)
    active = np.flatnonzero(
        np.abs(problem.above(point)) <= ACTIVE * size * max(1.0, float(np.abs(point).max()))
    )
    rows = _units(slopes[active])
    both = np.vstack([_units(equations), rows])
    independent = _full_rank(both)
    inward = _full_rank(_units(equations)) and _leads_inside(rows, equations)
    return Qualification(tuple(int(i) for i in active), independent, independent or inward)


def _units(rows: Any) -> Any:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > SMALL)


def _full_rank(rows: Any) -> bool:
    return len(rows) == 0 or int(np.linalg.matrix_rank(rows, tol=SMALL)) == len(rows)


def _leads_inside(rows: Any, equations: Any) -> bool:
    """Whether some direction has slopes below 0 along every row, and of 0 along the equations."""
    n = equations.shape[1]
    if not len(rows):
        return True
    room = np.column_stack([rows, np.ones(len(rows))])
    flat = np.column_stack([equations, np.zeros(len(equations))]) if len(equations) else None
    box = [(-1.0, 1.0)] * n + [(None, 1.0)]
    right = None if flat is None else np.zeros(len(flat))
    found = linprog(np.append(np.zeros(n), -1.0), room, np.zeros(len(rows)), flat, right, bounds=box)
    return bool(found.status == 0 and -found.fun > SMALL)
