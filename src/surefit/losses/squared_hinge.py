"""The square of the hinge."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.losses.arrays import Array, inside, reals
from surefit.losses.binary import Margin, sign
from surefit.losses.dual_plan import RowConjugates


class SquaredHinge(Margin):
    r""":math:`f = (1 - m)_+^2`, without a half, of the margin m = z or -z, which is y z for y = -1 or 1.

    >>> SquaredHinge().value([-1, 1], [0.5, 0.5])
    array([2.25, 0.25])
    """

    name = "squared_hinge"
    smoothness = 2.0
    kernel = "squared_hinge"

    def _value(self, m: Array) -> Array:
        return np.maximum(1.0 - m, 0.0) ** 2

    def _slope(self, m: Array) -> Array:
        return -2.0 * np.maximum(1.0 - m, 0.0)

    def _bend(self, m: Array) -> Array:
        return np.where(m <= 1.0, 2.0, 0.0)

    def _conjugate(self, v: Array) -> Array:
        return inside(v + 0.25 * v**2, v <= 0.0)

    def _prox(self, m: Array, step: float) -> Array:
        return m + np.maximum(1.0 - m, 0.0) * (2.0 * step / (1.0 + 2.0 * step))

    def dual_plan(self, y: Any) -> RowConjugates:
        """Return slopes without an end on the side of the class."""
        side = sign(reals(y))
        low, high = np.where(side > 0, -np.inf, 0.0), np.where(side > 0, 0.0, np.inf)
        return RowConjugates(side, low, high, 0.0, 0.5)

    def _best_of_two(self, positive: float, negative: float) -> float:
        return (positive - negative) / (positive + negative)
