"""Coordinate descent on w'Gw/2 - c'w + table with G in memory, to a duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native import compiled
from surefit.core.native.columns import Table, table_columns
from surefit.core.native.inputs import row_weights

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Descent:
    """Sweeps made, the gap reached, and whether a whole sweep moved nothing any more."""

    epochs: int
    gap: float
    still: bool


def quad_cd(
    G: NDArray[np.float64],
    c: Any,
    energy: float,
    table: Table,
    w: Vector,
    gradient: Vector,
    *,
    tolerance: float,
    most: int,
    noise: Any = None,
) -> Descent:
    r"""Move ``w`` to the minimum and leave Gw - c in ``gradient``; both are changed in place.

    energy is <y, y>/W, so that energy - 2 c'w + w'Gw = <r, r>/W. noise says how large a slope of each
    column rounding alone can make: slopes that must vanish for a finite gap may be that large.

    >>> from types import SimpleNamespace
    >>> table = SimpleNamespace(l1=[1.0], l2=[0.0], lower=[-np.inf], upper=[np.inf])
    >>> w, gradient = np.zeros(1), np.zeros(1)
    >>> quad_cd(np.eye(1), [3.0], 9.0, table, w, gradient, tolerance=1e-9, most=100).gap
    0.0
    >>> w
    array([2.])
    """
    native = compiled()
    if native is None:
        return quad_cd_twin(G, c, energy, table, w, gradient, tolerance=tolerance, most=most, noise=noise)
    c, noise = np.ascontiguousarray(c, dtype=np.float64), row_weights(noise)
    columns = table_columns(table)
    return Descent(*native.quad_cd(G, c, energy, *columns, noise, w, gradient, tolerance, most))


def quad_cd_twin(
    G: NDArray[np.float64],
    c: Any,
    energy: float,
    table: Table,
    w: Vector,
    gradient: Vector,
    *,
    tolerance: float,
    most: int,
    noise: Any = None,
) -> Descent:
    """Do the same by plain sweeps."""
    c = np.asarray(c, dtype=np.float64)
    m = len(c)
    G = G[:m, :m]
    l1, l2, lower, upper = table_columns(table)
    curvature = np.diagonal(G)
    gradient[:] = G @ w - c
    for epoch in range(most + 1):
        sums = max(0.0, energy - c @ w + gradient @ w), energy - float(c @ w)
        gap = duality_gap_twin(w, -gradient, table, *sums, noise)
        if gap <= tolerance or epoch == most:
            return Descent(epoch, gap, False)
        for j in np.flatnonzero(curvature + l2 > 0):
            pull = curvature[j] * w[j] - gradient[j]
            free = np.sign(pull) * max(abs(pull) - l1[j], 0.0) / (curvature[j] + l2[j])
            step = min(max(free, lower[j]), upper[j]) - w[j]
            w[j] += step
            gradient += step * G[j]
    raise AssertionError("the last sweep returns")


def duality_gap_twin(w: Vector, u: Vector, table: Table, rr: float, yr: float, noise: Any = None) -> float:
    """Return P - D for the best multiple of the residual, given its slopes u; a sum of terms >= 0."""
    l1, l2, lower, upper = table_columns(table)
    bends = (l2 > 0) | (np.isfinite(lower) & (lower != 0)) | (np.isfinite(upper) & (upper != 0))
    limit = np.where((l2 > 0) | np.isfinite(np.where(u > 0, upper, lower)), np.inf, l1)
    held = np.abs(u) > 0
    if noise is not None:
        held &= (limit > 0) | (np.abs(u) > noise)
    most = float(np.min(limit[held] / np.abs(u)[held], initial=np.inf))
    if not bends.any():
        factors = [min(max(yr / rr, 0.0), most) if rr > 0 and l1.all() else min(1.0, most)]
    else:
        over = np.abs(u) > l1
        factors = [min(1.0, most), min(1.0, most, np.min(l1[over] / np.abs(u)[over], initial=1.0))]
    return min(_gap_with(tau, w, u, (l1, l2, lower, upper), rr) for tau in factors)


def _gap_with(
    tau: float, w: Vector, u: Vector, columns: tuple[Vector, Vector, Vector, Vector], rr: float
) -> float:
    l1, l2, lower, upper = columns
    v = tau * u
    slope = v - np.clip(v, -l1, l1)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(slope == 0, 0.0, slope / l2)
    best = np.clip(best, lower, upper)
    best = np.where(np.isinf(best), 0.0, best)
    mine = l1 * np.abs(w) + 0.5 * l2 * w**2 - w * v
    least = l1 * np.abs(best) + 0.5 * l2 * best**2 - best * v
    return float(0.5 * (1 - tau) ** 2 * rr + np.maximum(mine - least, 0.0).sum())
