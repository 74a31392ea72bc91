"""Coordinate descent on w'Gw/2 - c'w + table with G in memory, to a duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native import compiled
from surefit.core.native.columns.layout import Table, table_columns
from surefit.core.native.inputs import row_weights
from surefit.core.native.linear.table_gap import table_gap_twin


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
        gap, _ = table_gap_twin(w, -gradient, table, *sums, noise)
        if gap <= tolerance or epoch == most:
            return Descent(epoch, gap, False)
        for j in np.flatnonzero(curvature + l2 > 0):
            pull = curvature[j] * w[j] - gradient[j]
            free = np.sign(pull) * max(abs(pull) - l1[j], 0.0) / (curvature[j] + l2[j])
            step = min(max(free, lower[j]), upper[j]) - w[j]
            w[j] += step
            gradient += step * G[j]
    raise AssertionError("the last sweep returns")
