r"""The duality gap of mean squares + table, for a multiple of the residual as the dual point.

With slopes :math:`u = A'Sr/W` and the dual point :math:`\tau r`,

.. math:: P - D = \tfrac{(1-\tau)^2}{2W} r'Sr + \sum_j pen_j(w_j) + pen_j^*(\tau u_j) - \tau w_j u_j

is a sum of terms of which none is negative, so nothing cancels. The factor :math:`\tau` is the best that the
table allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.penalties.table import CoordinateTable

Vector = NDArray[np.float64]
_NOISE = 1e-12


def rounding_slopes(rms: Vector, energy: float, w: Vector) -> Vector:
    """Return how large a slope rounding alone can make: a share of the column times all that adds up to r.

    >>> rounding_slopes(np.ones(1), 4.0, np.zeros(1))
    array([2.e-12])
    """
    return np.asarray(_NOISE * (np.sqrt(energy) + float(np.abs(w) @ rms)) * rms)


class TableGap:
    """The gap for one table, with what does not depend on the point worked out once.

    >>> one, free = np.ones(1), np.full(1, np.inf)
    >>> gap = TableGap(CoordinateTable(one, 0 * one, -free, free), rms=one, energy=9.0)
    >>> gap.at(np.array([2.0]), np.array([1.0]), rr=1.0, yr=3.0).gap
    0.0
    """

    def __init__(self, table: CoordinateTable, rms: Vector, energy: float) -> None:
        l1, l2, lower, upper = table.l1, table.l2, table.lower, table.upper
        self._table = table
        self._rms = rms
        self._energy = energy
        self._columns = l1, l2, lower, upper
        bends = (l2 > 0) | (np.isfinite(lower) & (lower != 0)) | (np.isfinite(upper) & (upper != 0))
        self._bends = bool(bends.any())
        self._above = np.where((l2 > 0) | np.isfinite(upper), np.inf, l1)
        self._below = np.where((l2 > 0) | np.isfinite(lower), np.inf, l1)
        self._two_sided = bool((self._above == self._below).all())
        self._strict = np.flatnonzero(l1 == 0)

    def at(self, w: Vector, u: Vector, rr: float, yr: float) -> GapAt:
        """Return the gap at w, given its slopes, <r, r>/W and <y, r>/W."""
        most = self._most(w, u)
        counted = np.flatnonzero(w)  # the others rest at zero, and cost nothing
        if self._bends:  # one is best near the optimum; far from it, what makes no slope exceed its l1
            over = np.abs(u) > self._table.l1
            counted = np.flatnonzero((w != 0) | over)
            within = float(np.min(self._table.l1[over] / np.abs(u[over]), initial=1.0))
            tried = {min(1.0, most), min(within, most)}
        elif rr > 0 and len(self._strict) == 0:
            tried = {min(max(yr / rr, 0.0), most)}
        else:  # beyond one, slopes that only rounding keeps from vanishing would grow
            tried = {min(1.0, most)}
        part = CoordinateTable(*(column[counted] for column in self._columns))
        found = [(_gap(part, w[counted], tau * u[counted], (1 - tau) ** 2 * rr), tau) for tau in tried]
        gap, tau = min(found)
        return GapAt(tau, gap)

    def _most(self, w: Vector, u: Vector) -> float:
        limit = self._above if self._two_sided else np.where(u > 0, self._above, self._below)
        size = np.abs(u)
        if len(self._strict):  # slopes that must vanish may be as large as rounding makes them
            noise = rounding_slopes(self._rms, self._energy, w)[self._strict]
            rounding = (limit[self._strict] == 0) & (size[self._strict] <= noise)
            size[self._strict[rounding]] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            share = size / limit
        largest = float(np.nanmax(share, initial=0.0))
        return 1 / largest if largest > 0 else np.inf


def _gap(table: CoordinateTable, w: Vector, v: Vector, rest: float) -> float:
    slope = v - np.clip(v, -table.l1, table.l1)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.clip(np.where(slope == 0, 0.0, slope / table.l2), table.lower, table.upper)
    best = np.where(np.isinf(best), 0.0, best)
    mine = table.l1 * np.abs(w) + 0.5 * table.l2 * w**2 - w * v
    least = table.l1 * np.abs(best) + 0.5 * table.l2 * best**2 - best * v
    return 0.5 * rest + float(np.maximum(mine - least, 0.0).sum())


@dataclass(frozen=True, slots=True)
class GapAt:
    """The factor of the residual that makes the dual point, and the gap that it proves."""

    factor: float
    gap: float
