"""The exponential loss, which boosting minimises."""

from __future__ import annotations

import numpy as np

from surefit.losses.arrays import Array, inside
from surefit.losses.binary import Margin
from surefit.losses.stable import exponential_balance, x_log_x


class Exponential(Margin):
    r""":math:`f = e^{-m}` of the margin m = z or -z, which is y z for y = -1 or 1; z is half the log-odds.

    >>> Exponential().value([-1, 1], [0.0, 1.0])
    array([1.        , 0.36787944])
    """

    name = "exponential"

    def _value(self, m: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(-m)

    def _slope(self, m: Array) -> Array:
        return -self._value(m)

    def _bend(self, m: Array) -> Array:
        return self._value(m)

    def _conjugate(self, v: Array) -> Array:
        return inside(x_log_x(-v) + v, v <= 0.0)

    def _prox(self, m: Array, step: float) -> Array:
        return -exponential_balance(-m, np.full_like(m, step))

    def _best_of_two(self, positive: float, negative: float) -> float:
        with np.errstate(divide="ignore"):
            return float(0.5 * (np.log(positive) - np.log(negative)))
