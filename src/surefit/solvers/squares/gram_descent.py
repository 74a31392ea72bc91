r"""Minimise :math:`\frac12 w'Gw - c'w` + table: coordinate descent finds the signs, a linear system the rest.

Sweeps settle quickly which coefficients are zero, at a bound, or of which sign, and then creep when columns
are nearly dependent. So now and then the quadratic that is left, once those are fixed, is solved exactly. The
step is taken as far as it lowers the objective; a coefficient that would change sign stops at zero. Where
columns depend on each other, the objective is linear along their dependence, and one of them leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.linear.quad_cd import quad_cd
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.solvers.squares.table_gap import rounding_slopes

_STALLED = 5  # rounds without progress after which rounding rules
# A pivot that is left with this share of its column after the others are taken out is rounding.
_DEPENDENT = 1e-11
_SLIGHT = 1e-9  # shares in a dependence, and slopes along it, below which they are rounding


@dataclass(frozen=True, slots=True)
class QuadraticSolution:
    """The minimiser, Gw - c there, the duality gap, and the sweeps that it took."""

    coef: Vector
    gradient: Vector
    gap: float
    epochs: int


def minimise_quadratic(
    G: Matrix,
    c: Vector,
    energy: float,
    table: CoordinateTable,
    start: Vector,
    tolerance: float,
    *,
    polish: bool = False,
) -> QuadraticSolution:
    """Return the minimiser to a gap of ``tolerance``, or as near as rounding lets it come.

    polish: solve exactly for the coefficients that are not zero at the end.

    G is in C order and may have more rows and columns than there are coefficients; energy is <y, y>/W of the
    least squares that G and c belong to.

    >>> one, free = np.ones(2), np.full(2, np.inf)
    >>> table = CoordinateTable(one, 0 * one, -free, free)
    >>> minimise_quadratic(np.eye(2), np.array([3.0, 0.5]), 10.0, table, 0 * one, 1e-9).coef
    array([2., 0.])
    """
    w, gradient = np.clip(start, table.lower, table.upper), np.empty(len(c))
    rms = np.sqrt(np.maximum(np.diagonal(G)[: len(c)], 0.0))
    strict = bool((table.l1 == 0).any())  # only slopes that must vanish ask how large rounding makes them
    epochs, stalled, best, least = 0, 0, np.inf, np.inf
    while True:
        # A factorisation costs about as much as this many sweeps.
        patience = max(10, int(np.count_nonzero(w)) // 16)
        noise = rounding_slopes(rms, energy, w) if strict else None
        done = quad_cd(G, c, energy, table, w, gradient, tolerance=tolerance, most=patience, noise=noise)
        epochs += done.epochs
        if done.gap <= tolerance:
            break
        objective = 0.5 * float(w @ (gradient - c)) + table.value(w)
        moving = done.gap < 0.9 * best or objective < least - 0.01 * tolerance
        stalled = 0 if moving else stalled + 1
        if stalled == _STALLED:
            break
        best, least = min(best, done.gap), min(least, objective)
        w = _newton(G, c, table, w, gradient, rms)
    if polish and w.any():
        there = _newton(G, c, table, w, gradient, rms, slack=8 * np.finfo(float).eps * energy)
        if ((there != 0) == (w != 0)).all():
            w, gradient = there, G[: len(c), : len(c)] @ there - c
    return QuadraticSolution(w, gradient, done.gap, epochs)


def _newton(
    G: Matrix,
    c: Vector,
    table: CoordinateTable,
    w: Vector,
    gradient: Vector,
    rms: Vector,
    *,
    slack: float = 0.0,
) -> Vector:
    """Return w after one exact step over the coefficients that are free to move, never to a worse place.

    slack: how much worse rounding may make a place look.
    """
    m = len(c)
    l1 = table.l1
    inside = (w > table.lower) & (w < table.upper)
    free = np.flatnonzero(inside & ((w != 0) | (l1 == 0)) & (np.diagonal(G)[:m] + table.l2 > 0))
    if len(free) == 0:
        return w
    here, held = w[free], l1[free] > 0
    lower = np.where((here > 0) & held, np.maximum(table.lower[free], 0.0), table.lower[free])
    upper = np.where((here < 0) & held, np.minimum(table.upper[free], 0.0), table.upper[free])
    slope = gradient[free] + table.l2[free] * here + l1[free] * np.sign(here)
    least = _value(G, c, table, w, rms) + slack
    for direction, end in _directions(G[np.ix_(free, free)], table.l2[free], slope):
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction > 0, (upper - here) / direction, (lower - here) / direction)
        first = float(np.min(room[direction != 0], initial=np.inf))
        for step in _lengths(end, first):
            there = w.copy()
            there[free] = np.clip(here + step * direction, lower, upper)
            if _value(G, c, table, there, rms) <= least:
                return there
    return w


def _lengths(end: float, first: float) -> tuple[float, ...]:
    """The steps to try: to the end, and shorter, down to the first coefficient that reaches its bound."""
    if np.isinf(end):
        return () if np.isinf(first) else (first,)
    return (*(step for step in (1.0, 0.5, 0.25, 0.1) if step > first), min(first, 1.0))


def _directions(A: Matrix, l2: Vector, slope: Vector) -> Iterator[tuple[Vector, float]]:
    """Return solutions of A d = -slope with the length to go; first, any dependence downhill, without end.

    A, which is symmetric, is written over.
    """
    A.flat[:: len(A) + 1] += l2
    scale = 1 / np.sqrt(np.diagonal(A))
    A *= scale
    A *= scale[:, None]
    # The factor takes the upper half; the lower half still holds A, apart from its diagonal of ones.
    factor, failed = linalg.lapack.dpotrf(A.T, lower=0, clean=0, overwrite_a=1)
    pivots = np.diagonal(factor) ** 2
    pull = -slope * scale
    if not failed and pivots.min() > _DEPENDENT:
        yield linalg.cho_solve((factor, False), pull, check_finite=False) * scale, 1.0
        return
    A = np.tril(factor, -1)
    A += A.T
    np.fill_diagonal(A, 1.0)
    bad = failed - 1 if failed else int(np.argmin(pivots))
    if bad > 0:
        part = (np.asfortranarray(factor[:bad, :bad]), False)
        along = np.zeros(len(A))
        along[:bad] = -linalg.cho_solve(part, A[:bad, bad], check_finite=False)
        along[bad] = 1.0
        along[np.abs(along) < _SLIGHT] = 0.0
        downhill = float(along @ pull)
        if abs(downhill) > _SLIGHT * float(np.abs(along) @ np.abs(pull)):
            yield np.sign(downhill) * along * scale, np.inf
    factor, order, rank, _ = linalg.lapack.dpstrf(A, lower=1, tol=_DEPENDENT)
    chosen = order[:rank] - 1
    part = (np.asfortranarray(factor[:rank, :rank]), True)
    direction = np.zeros(len(A))
    direction[chosen] = linalg.cho_solve(part, pull[chosen], check_finite=False)
    yield direction * scale, 1.0


def _value(G: Matrix, c: Vector, table: CoordinateTable, w: Vector, rms: Vector) -> float:
    """Return the objective and what rounding may hide of it, which large terms that cancel make large."""
    m, active = len(c), np.flatnonzero(w)
    some = w[active]
    product = G[np.ix_(active, active)] @ some if len(active) < m // 2 else (G[:m, :m] @ w)[active]
    penalty = table.l1[active] @ np.abs(some) + 0.5 * (table.l2[active] @ some**2)
    doubt = 8 * np.finfo(float).eps * float(np.abs(some) @ rms[active]) ** 2
    return float(0.5 * (some @ product) - c[active] @ some + penalty + doubt)
