"""From a point inside to the corner or face that it is near, by solving for the active constraints alone."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from surefit.core.arrays import Vector
from surefit.solvers.program.data import Multipliers
from surefit.solvers.program.interior_point import Inequalities, InteriorSolution
from surefit.solvers.program.kkt_system import System
from surefit.solvers.program.scaling import ScaledProgram


def polished(problem: ScaledProgram, inside: InteriorSolution) -> tuple[Vector, Multipliers]:
    """Return x and prices with every constraint either met exactly or free of price.

    Of slack and price of a constraint one goes to zero: the smaller of the two tells which.
    """
    rows = Inequalities.of(problem)
    active = inside.prices > inside.slacks
    of_g, of_high, of_low = rows.split(np.where(active, 1.0, 0.0))
    g, high, low = of_g > 0, rows.high[of_high > 0], rows.low[of_low > 0]
    corner = sparse.eye(len(problem.c), format="csr")
    parts = [problem.A, problem.G[g], corner[high], corner[low]]
    is_sparse = sparse.issparse(problem.Q)
    A = sparse.vstack(parts, format="csr") if is_sparse else np.vstack([_full(part) for part in parts])
    right = np.concatenate([problem.b, problem.h[g], problem.upper[high], problem.lower[low]])
    nothing = problem.G[:0]
    system = System(problem.Q, nothing, A, np.zeros(len(problem.c)), np.zeros(0))
    prices = np.zeros(len(rows.right))
    prices[active] = inside.prices[active]
    of_g, of_high, of_low = rows.split(prices)
    start = np.concatenate([inside.equations, of_g[g], of_high[np.isin(rows.high, high)]])
    start = np.concatenate([start, -of_low[np.isin(rows.low, low)]])
    # From where the search ended, so that what the conditions leave open, such as redundant prices, stays.
    dy, change = system.solve(-(problem.Q @ inside.y + problem.c + A.T @ start), right - A @ inside.y)
    y, every = inside.y + dy, start + change
    m, k = len(problem.b), len(problem.b) + int(g.sum())
    of_g, of_high, of_low = np.zeros(len(problem.h)), np.zeros(len(problem.c)), np.zeros(len(problem.c))
    of_g[g], of_high[high] = every[m:k], every[k : k + len(high)]
    of_low[low] = -every[k + len(high) :]
    return unscaled(problem, y, of_g, every[:m], of_low, of_high)


def as_found(problem: ScaledProgram, inside: InteriorSolution) -> tuple[Vector, Multipliers]:
    """Return x and prices where the search ended."""
    rows = Inequalities.of(problem)
    of_g, high, low = rows.split(inside.prices)
    of_high, of_low = np.zeros(len(problem.c)), np.zeros(len(problem.c))
    of_high[rows.high], of_low[rows.low] = high, low
    return unscaled(problem, inside.y, of_g, inside.equations, of_low, of_high)


def unscaled(
    problem: ScaledProgram, y: Vector, g: Vector, equations: Vector, low: Vector, high: Vector
) -> tuple[Vector, Multipliers]:
    """Return everything in the user's units, with no price below zero."""
    positive = (np.maximum(part, 0.0) for part in (low, high))
    return problem.point(y), problem.multipliers(np.maximum(g, 0.0), equations, *positive)


def _full(matrix: object) -> Vector:
    dense: Vector = matrix.toarray() if sparse.issparse(matrix) else matrix  # type: ignore[attr-defined, assignment]
    return dense
