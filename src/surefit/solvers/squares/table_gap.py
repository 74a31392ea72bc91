r"""The duality gap of mean squares + table, for a multiple of the residual as the dual point.

With slopes :math:`u = A'Sr/W` and the dual point :math:`\tau r`,

.. math:: P - D = \tfrac{(1-\tau)^2}{2W} r'Sr + \sum_j pen_j(w_j) + pen_j^*(\tau u_j) - \tau w_j u_j

is a sum of terms of which none is negative, so nothing cancels. The factor :math:`\tau` is the best that the
table allows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.native.linear.table_gap import table_gap
from surefit.penalties.coordinate_table import CoordinateTable

_NOISE = 1e-12


def rounding_slopes(rms: Vector, energy: float, w: Vector) -> Vector:
    """Return how large a slope rounding alone can make: a share of the column times all that adds up to r.

    >>> rounding_slopes(np.ones(1), 4.0, np.zeros(1))
    array([2.e-12])
    """
    return np.asarray(_NOISE * (np.sqrt(energy) + float(np.abs(w) @ rms)) * rms)


def without_negligible_l1(table: CoordinateTable, rms: Vector, energy: float) -> CoordinateTable:
    """Return the table with 0 for every l1 that is below the rounding of the slopes which it holds back.

    No rounded slope can be seen to be within such an l1, and without it the minimum is no higher.

    >>> one, free = np.ones(1), np.full(1, np.inf)
    >>> without_negligible_l1(CoordinateTable(1e-13 * one, 0 * one, -free, free), one, 1.0).l1
    array([0.])
    """
    below_rounding = (table.l1 > 0) & (table.l1 <= rounding_slopes(rms, energy, np.zeros_like(rms)))
    return replace(table, l1=np.where(below_rounding, 0.0, table.l1)) if below_rounding.any() else table


class TableGap:
    """The gap for one table, at any point.

    >>> one, free = np.ones(1), np.full(1, np.inf)
    >>> gap = TableGap(CoordinateTable(one, 0 * one, -free, free), rms=one, energy=9.0)
    >>> gap.at(np.array([2.0]), np.array([1.0]), rr=1.0, yr=3.0).gap
    0.0
    """

    def __init__(self, table: CoordinateTable, rms: Vector, energy: float) -> None:
        self._table, self._rms, self._energy = table, rms, energy
        self._strict = bool((table.l1 == 0).any())
        less = without_negligible_l1(table, rms, energy)
        self._less = None if less is table else less

    def at(self, w: Vector, u: Vector, rr: float, yr: float) -> GapAt:
        """Return the gap at w, given its slopes, <r, r>/W and <y, r>/W."""
        # Only slopes that must vanish ask how large rounding makes them.
        noise = rounding_slopes(self._rms, self._energy, w) if self._strict else None
        gap, factor = table_gap(w, u, self._table, rr, yr, noise)
        if self._less is not None:
            noise = rounding_slopes(self._rms, self._energy, w)
            bound, other = table_gap(w, u, self._less, rr, yr, noise)
            bound += float((self._table.l1 - self._less.l1) @ np.abs(w))  # which the point pays, and no more
            gap, factor = min((gap, factor), (bound, other))
        return GapAt(factor, gap)


@dataclass(frozen=True, slots=True)
class GapAt:
    """The factor of the residual that makes the dual point, and the gap that it proves."""

    factor: float
    gap: float
