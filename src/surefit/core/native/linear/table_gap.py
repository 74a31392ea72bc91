"""The duality gap of mean squares + table for the best multiple of the residual, given its slopes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.native import compiled
from surefit.core.native.columns.layout import Table, table_columns
from surefit.core.native.inputs import row_weights


def table_gap(
    w: Vector, u: Vector, table: Table, rr: float, yr: float, noise: Any = None
) -> tuple[float, float]:
    """Return P - D, a sum of terms >= 0, and the factor of the residual that makes the dual point.

    u are the slopes A'Sr/W at w, rr and yr are <r, r>/W and <y, r>/W. noise says how large a slope of each
    column rounding alone can make: slopes that must vanish for a finite gap may be that large.

    >>> from types import SimpleNamespace
    >>> table = SimpleNamespace(l1=[1.0], l2=[0.0], lower=[-np.inf], upper=[np.inf])
    >>> table_gap(np.array([2.0]), np.array([1.0]), table, 1.0, 3.0)
    (0.0, 1.0)
    """
    native = compiled()
    if native is None:
        return table_gap_twin(w, u, table, rr, yr, noise)
    gap, factor = native.table_gap(w, u, *table_columns(table), row_weights(noise), rr, yr)
    return float(gap), float(factor)


def table_gap_twin(
    w: Vector, u: Vector, table: Table, rr: float, yr: float, noise: Any = None
) -> tuple[float, float]:
    """Do the same in numpy."""
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
    return min((_gap_with(tau, w, u, (l1, l2, lower, upper), rr), float(tau)) for tau in factors)


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
