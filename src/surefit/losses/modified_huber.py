"""The square of the hinge, straight beyond the margin of -1: outliers count by their distance alone."""

from __future__ import annotations

import numpy as np

from surefit.losses.arrays import Array, inside
from surefit.losses.binary import Margin


class ModifiedHuber(Margin):
    r""":math:`f = (1 - m)_+^2` for margins m ≥ -1 and -4 m below; m = z or -z, which is y z for y = -1 or 1.

    >>> ModifiedHuber().value([1, 1, 1], [2.0, 0.0, -3.0])
    array([ 0.,  1., 12.])
    """

    name = "modified_huber"
    smoothness = 2.0

    def _value(self, m: Array) -> Array:
        return np.where(m < -1.0, -4.0 * m, np.maximum(1.0 - np.maximum(m, -1.0), 0.0) ** 2)

    def _slope(self, m: Array) -> Array:
        return -2.0 * np.clip(1.0 - m, 0.0, 2.0)

    def _bend(self, m: Array) -> Array:
        return np.where(np.abs(m) <= 1.0, 2.0, 0.0)

    def _conjugate(self, v: Array) -> Array:
        return inside(v + 0.25 * v**2, (v >= -4.0) & (v <= 0.0))

    def _prox(self, m: Array, step: float) -> Array:
        curved = m + np.maximum(1.0 - m, 0.0) * (2.0 * step / (1.0 + 2.0 * step))
        return np.where(curved < -1.0, m + 4.0 * step, curved)

    def _best_of_two(self, positive: float, negative: float) -> float:
        return (positive - negative) / (positive + negative)
