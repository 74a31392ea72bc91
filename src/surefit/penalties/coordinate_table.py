r"""The penalty of single coefficients as numbers: four a coefficient.

.. math:: pen_j(w) = l_1 |w| + \tfrac12 l_2 w^2, \quad lower \le w \le upper

Every method is for the sum over j; a matrix of coefficients uses row j of the table for its whole row j. A
compiled solver reads the four columns; these methods are what it must agree with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.penalties.arrays import by_row, soft_threshold


@dataclass(frozen=True, slots=True)
class CoordinateTable:
    """Weights of the absolute and of half the squared value, and bounds, one entry a coefficient.

    >>> free, one = np.full(2, np.inf), np.ones(2)
    >>> CoordinateTable(one, one, -free, free).prox(np.array([3.0, 0.5]), step=1.0)
    array([1., 0.])
    """

    l1: Vector
    l2: Vector
    lower: Vector
    upper: Vector

    def value(self, w: Vector) -> float:
        """Return the sum; infinite outside the bounds."""
        l1, l2, lower, upper = self._meeting(w)
        if ((w < lower) | (w > upper)).any():
            return np.inf
        return float(((l1 + 0.5 * l2 * np.abs(w)) * np.abs(w)).sum())

    def prox(self, v: Vector, step: float | Vector) -> Vector:
        """Return the proximal point, for one step or one a coefficient; bounds only clip the free one."""
        l1, l2, lower, upper = self._meeting(v)
        return np.clip(soft_threshold(v, step * l1) / (1 + step * l2), lower, upper)

    def conjugate(self, u: Vector) -> float:
        """Return the sum of the conjugates, each taken at its maximiser."""
        l1, l2, lower, upper = self._meeting(u)
        slope = soft_threshold(u, l1)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(slope == 0, 0.0, slope / l2)  # a slope that nothing bends goes on for ever
        best = np.clip(best, lower, upper)
        if np.isinf(best).any():
            return np.inf
        return float(np.sum((u - l1 * np.sign(best)) * best - 0.5 * l2 * best**2))

    def dual_scaling(self, u: Vector) -> float:
        """Return the largest factor in [0, 1] that makes the conjugate finite, up to rounding."""
        l1, l2, lower, upper = self._meeting(u)
        limit = np.where(u > 0, np.where(np.isinf(upper), l1, np.inf), np.where(np.isinf(lower), l1, np.inf))
        limit = np.where(l2 > 0, np.inf, limit)
        beyond = np.abs(u) > limit
        if not beyond.any():
            return 1.0
        # Two roundings, of the quotient here and of the product later, must not lead out again.
        return float(np.min(limit[beyond] / np.abs(u)[beyond]) * (1 - 2 * np.finfo(float).eps))

    def free(self, u: Vector | None = None) -> NDArray[np.bool_]:
        """Whether a coefficient could follow its slope for ever, however small; None asks for both signs."""
        low, high = np.isinf(self.lower), np.isinf(self.upper)
        open_end = low & high
        if u is not None:
            both = u.reshape(len(u), -1)
            open_end = open_end | (high & (both > 0).any(axis=1)) | (low & (both < 0).any(axis=1))
        found: NDArray[np.bool_] = open_end & (self.l1 == 0) & (self.l2 == 0)
        return found

    def subdifferential_distance(self, w: Vector, gradient: Vector) -> Vector:
        """Return the distance of each entry of ``-gradient`` to its interval; infinite outside the bounds."""
        _, _, lower, upper = self._meeting(w)
        least, most = self.subgradients(w)
        distance = np.maximum(np.maximum(least + gradient, -gradient - most), 0.0)
        return np.where((w < lower) | (w > upper), np.inf, distance)

    def subgradients(self, w: Vector) -> tuple[Vector, Vector]:
        """Return the ends of the interval of slopes of each coefficient; infinite at a bound."""
        l1, l2, lower, upper = self._meeting(w)
        least = l2 * w + np.where(w > 0, l1, -l1)
        most = l2 * w + np.where(w < 0, -l1, l1)
        return np.where(w == lower, -np.inf, least), np.where(w == upper, np.inf, most)

    def _meeting(self, w: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        return by_row(self.l1, w), by_row(self.l2, w), by_row(self.lower, w), by_row(self.upper, w)
