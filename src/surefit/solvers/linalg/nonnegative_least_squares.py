r"""Least squares with coefficients that must not be negative, from the normal equations.

Minimise :math:`\frac12 w'Gw - c'w` subject to :math:`w \ge 0`. The answer is known by its KKT conditions:
with the gradient :math:`g = Gw - c`, each coordinate has either :math:`w_j > 0, g_j = 0` or :math:`w_j = 0,
g_j \ge 0`. The active-set method of Lawson and Hanson frees the coordinate that the gradient wants most,
solves for all free ones, and walks back to the first that would turn negative, which is fixed again. The
objective falls at each step, so no set of free coordinates comes twice. A coordinate that depends on the
free ones is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector


@dataclass(frozen=True, slots=True)
class NonNegativeSolution:
    """The minimiser, its gradient, and the number of times that the set of free coordinates changed."""

    coef: Vector
    gradient: Vector
    steps: int


def nonnegative_least_squares(gram: Matrix, cross: Vector) -> NonNegativeSolution:
    """Return the minimiser for one target; columns are scaled to unit length first, which changes no sign."""
    p = len(gram)
    lengths = np.sqrt(np.where(np.diagonal(gram) > 0, np.diagonal(gram), 1.0))
    G, c = gram / lengths[:, None] / lengths, cross / lengths
    free, w = _feasible_start(G, c)
    passed_over = np.zeros(p, dtype=bool)
    slack = 4 * np.finfo(float).eps * max(p, 1) * float(np.abs(c).max(initial=0.0))
    steps = 0
    while True:
        pull = np.where(free | passed_over, -np.inf, c - G @ w)
        j = int(np.argmax(pull)) if p else 0
        if p == 0 or pull[j] <= slack:
            break
        free[j] = True
        steps += 1
        target = _solve(G, c, free)
        if target is None or target[j] <= 0:
            free[j] = False
            passed_over[j] = True
            continue
        while target[free].min() <= 0:
            blocking = free & (target <= 0)
            share = float(np.min(w[blocking] / (w[blocking] - target[blocking])))
            w = w + share * (target - w)
            free &= w > slack
            w[~free] = 0.0
            steps += 1
            target = _solve(G, c, free)
            if target is None or not free.any():
                target = w
                break
        w = target
        passed_over[:] = False
    return NonNegativeSolution(w / lengths, (G @ w - c) * lengths, steps)


def _feasible_start(G: Matrix, c: Vector) -> tuple[NDArray[np.bool_], Vector]:
    """Solve for all coordinates and drop the negative ones until none is left."""
    free = np.ones(len(c), dtype=bool)
    while free.any():
        w = _solve(G, c, free)
        if w is None:
            break
        if w[free].min() > 0:
            return free, w
        free &= w > 0
    return np.zeros(len(c), dtype=bool), np.zeros(len(c))


def _solve(G: Matrix, c: Vector, free: NDArray[np.bool_]) -> Vector | None:
    """The minimiser over the free coordinates, zero elsewhere; None when their columns depend on each
    other.
    """
    solution = np.zeros(len(c))
    factor, failed = linalg.lapack.dpotrf(G[np.ix_(free, free)], lower=0, clean=0)
    if failed or np.diagonal(factor).min(initial=1.0) < 1e-7:
        return None
    solution[free] = linalg.cho_solve((factor, False), c[free], check_finite=False)
    return solution
