r"""Minimise a quadratic with a penalty, :math:`\tfrac12 x'Hx - c'x + pen(x)`: a step of second-order solvers.

Coordinates are first scaled so that H has a diagonal of ones. Those that the penalty leaves smooth and
unbounded, the intercept's among them, are eliminated by Cholesky; on the others coordinate descent finds
which are at a kink or a bound, and one more Cholesky moves the rest there at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.linear.quad_cd import quad_cd
from surefit.penalties.coordinate_table import CoordinateTable

SWEEPS = 20  # of coordinate descent, between two looks at the whole
ROUNDS = 200
UNKNOWN = 1e300  # the energy of the target, which only a duality gap would need
DAMPING = 1e-10  # beside a diagonal of ones
# What rounding leaves of a gradient, relative to the numbers that it was added up from.
ROUNDING = 8 * np.finfo(float).eps
ENOUGH = 1e-6  # of what was left at first: the model is no better than that
LEAST_PIVOT = 1e-13  # of a matrix with a diagonal of ones: below it, the digits of a solution are all gone


@dataclass(frozen=True, slots=True)
class Factor:
    """A Cholesky factor of a positive definite matrix, whatever the scales of its columns."""

    scale: Vector
    lower: Vector

    @classmethod
    def of(cls, matrix: Matrix) -> Factor | None:
        """Factor a matrix; None where it is not positive definite, or only by rounding."""
        diagonal = np.diagonal(matrix)
        if not len(diagonal):
            return cls(np.ones(0), np.zeros((0, 0)))
        if not (np.isfinite(diagonal).all() and diagonal.min() > 0):
            return None
        scale = np.sqrt(diagonal)
        found, failed = linalg.lapack.dpotrf(matrix / scale[:, None] / scale, lower=1, clean=1)
        if failed or np.diagonal(found).min() ** 2 < LEAST_PIVOT:
            return None
        return cls(scale, found)

    def solve(self, right: Vector) -> Vector:
        """Return the solution for one right side, or one a column."""
        if not len(self.scale):
            return np.zeros_like(right)
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        found, _ = linalg.lapack.dpotrs(self.lower, right / scale, lower=1)
        return np.asarray(found / scale)


def grounded(squares: Vector, mean: Vector) -> Vector:
    """Return the squares of columns that damp them: of a constant that of its mean, of zeros the least other.

    A level without rows must not hold those back that share a block with it.

    >>> grounded(np.array([4.0, 0.0, 0.0, 1e-24]), np.array([0.0, 3.0, 0.0, 1e-12]))
    array([4.e+00, 9.e+00, 1.e-24, 1.e-24])
    """
    squares = np.where(squares > 0, squares, mean**2)
    least = np.min(squares, where=squares > 0, initial=np.inf)
    return np.where(squares > 0, squares, least if np.isfinite(least) else 1.0)


@dataclass(frozen=True, slots=True)
class Reduced:
    """A quadratic without the coordinates ``gone``, at whose minimum over those it stands."""

    kept: NDArray[np.intp]
    gone: NDArray[np.intp]
    matrix: Matrix
    linear: Vector
    restore: Callable[[Vector], Vector]  # from the kept coordinates to all


def eliminate(H: Matrix, c: Vector, gone: NDArray[np.bool_]) -> Reduced | None:
    """Minimise over some coordinates; None where that has no single answer."""
    out, kept = np.flatnonzero(gone), np.flatnonzero(~gone)
    factor = Factor.of(H[np.ix_(out, out)])
    if factor is None:
        return None
    across = H[np.ix_(out, kept)]
    moved, still = factor.solve(across), factor.solve(c[out])
    matrix = H[np.ix_(kept, kept)] - across.T @ moved

    def restore(x: Vector) -> Vector:
        whole = np.empty(len(c))
        whole[kept], whole[out] = x, still - moved @ x
        return whole

    return Reduced(kept, out, 0.5 * (matrix + matrix.T), c[kept] - across.T @ still, restore)


def minimise_table(H: Matrix, c: Vector, table: CoordinateTable, start: Vector) -> Vector | None:
    """Return the minimiser for a penalty of single coordinates; None where H does not determine one."""
    bends = np.diagonal(H) + table.l2
    if not (np.isfinite(bends).all() and bends.min(initial=1.0) > 0):
        return None
    size = np.sqrt(bends)
    scaled = CoordinateTable(table.l1 / size, np.zeros_like(size), table.lower * size, table.upper * size)
    G = H / size[:, None] / size
    G.flat[:: len(G) + 1] = 1.0  # the squares of the penalty have joined
    smooth = (scaled.l1 == 0) & np.isinf(scaled.lower) & np.isinf(scaled.upper)
    reduced = eliminate(G, c / size, smooth)
    if reduced is None:
        return None
    kept = reduced.kept
    rest = CoordinateTable(scaled.l1[kept], scaled.l2[kept], scaled.lower[kept], scaled.upper[kept])
    at = np.clip((start * size)[kept], rest.lower, rest.upper)
    return reduced.restore(_by_coordinates(reduced.matrix, reduced.linear, rest, at)) / size


def _by_coordinates(G: Matrix, c: Vector, table: CoordinateTable, x: Vector) -> Vector:
    """Alternate coordinate descent with a Newton step on the coordinates that are at no kink and no bound."""
    if not len(c):
        return x
    G, x, gradient = np.ascontiguousarray(G), x.copy(), np.empty(len(x))
    first, best = _violation(G, c, table, x, G @ x - c), np.inf
    for _ in range(ROUNDS):
        quad_cd(G, c, UNKNOWN, table, x, gradient, tolerance=0.0, most=SWEEPS)
        x, gradient = _polished(G, c, table, x, gradient)
        left = _violation(G, c, table, x, gradient)
        if left <= max(1.0, ENOUGH * first) or left >= best:
            break
        best = left
    return x


def _violation(G: Matrix, c: Vector, table: CoordinateTable, x: Vector, gradient: Vector) -> float:
    """Return how far the gradient is from its interval at the worst, in multiples of what rounding does."""
    noise = ROUNDING * (np.abs(c) + np.abs(G) @ np.abs(x) + table.l1)
    return float(np.max(table.subdifferential_distance(x, gradient) / np.maximum(noise, 1e-300)))


def _polished(
    G: Matrix, c: Vector, table: CoordinateTable, x: Vector, gradient: Vector
) -> tuple[Vector, Vector]:
    """Solve for the coordinates that can move to both sides, up to the first that would meet a kink."""
    for _ in range(8):  # each round fixes a coordinate, or ends
        active = ((x != 0) | (table.l1 == 0)) & (x > table.lower) & (x < table.upper)
        inside = np.flatnonzero(active)
        if not len(inside):
            break
        free = G[np.ix_(inside, inside)]
        # Columns that depend on each other have many answers: a little damping takes one of the nearest.
        factor = Factor.of(free) or Factor.of(free + DAMPING * np.eye(len(inside)))
        if factor is None:
            break
        sign = np.sign(x[inside])
        step = -factor.solve(gradient[inside] + table.l1[inside] * sign)
        low = np.where(sign > 0, np.where(table.l1[inside] > 0, 0.0, -np.inf), -np.inf)
        high = np.where(sign < 0, np.where(table.l1[inside] > 0, 0.0, np.inf), np.inf)
        low, high = np.maximum(low, table.lower[inside]), np.minimum(high, table.upper[inside])
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = np.where(step > 0, (high - x[inside]) / step, (low - x[inside]) / step)
        limit = np.where(step == 0, np.inf, limit)
        reach = min(1.0, float(limit.min()))
        x = x.copy()
        x[inside] = np.clip(x[inside] + reach * step, low, high)
        gradient = G @ x - c
        if reach == 1.0:
            break
    return x, gradient


def minimise_prox(
    product: Callable[[Vector], Vector],
    linear: Vector,
    prox: Callable[[Vector, float], Vector],
    bend: float,
    start: Vector,
    *,
    limit: int = 500,
) -> Vector:
    """Return the minimiser for any penalty with a prox, by accelerated proximal steps that restart.

    ``product`` multiplies by H, whose greatest eigenvalue is at most ``bend``, above 0.
    """
    x = ahead = start
    pace, first = 1.0, 0.0
    for _ in range(limit):
        new = prox(ahead - (product(ahead) - linear) / bend, 1.0 / bend)
        moved = new - x
        if np.sum((ahead - new) * moved) > 0:  # the momentum points uphill
            pace, first = 1.0, 0.0
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * pace * pace))
        residual = float(np.abs(ahead - new).max(initial=0.0))
        size = float(np.abs(new).max(initial=0.0))
        ahead = new + (pace - 1.0) / faster * moved
        x, pace = new, faster
        first = first or residual
        if residual <= max(ROUNDING * size, ENOUGH * first):
            break
    return x
