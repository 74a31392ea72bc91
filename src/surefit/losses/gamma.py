"""The gamma loss of positive amounts, fused with the logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.parameters import Interval
from surefit.losses.arrays import Array, aligned, by_row, inside
from surefit.losses.base import Loss
from surefit.losses.links import Log
from surefit.losses.stable import exponential_balance, x_log_x


class Gamma(Loss):
    r""":math:`f = z + y e^{-z}`: half the deviance of gamma amounts with mean :math:`e^z`, without 1 + log y.

    >>> Gamma().value([2.0], [0.0]), Gamma().gradient([2.0], [np.log(2.0)])
    (array([2.]), array([0.]))
    """

    name = "gamma"
    link = Log()
    domain = Interval(0, None, open_low=True)
    kernel = "gamma"
    divergence = True

    def value(self, y: Any, z: Any) -> Array:
        """Return z + y exp(-z)."""
        y, z = aligned(y, z)
        return by_row(z + self.curvature(y, z))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return 1 - y exp(-z)."""
        return 1.0 - self.curvature(y, z)

    def value_and_gradient(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return both from one exponential."""
        y, z = aligned(y, z)
        bend = self.curvature(y, z)
        return by_row(z + bend), np.subtract(1.0, bend, out=bend)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return y exp(-z)."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore"):
            return y * np.exp(-z)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return q log(q / y) - q for q = 1 - u >= 0."""
        y, u = aligned(y, u)
        q = 1.0 - u
        return by_row(inside(x_log_x(q) - q * (np.log(y) + 1.0), q >= 0))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Solve z - step y exp(-z) = v - step."""
        y, v = aligned(y, v)
        return -exponential_balance(step - v, step * y)

    def _best_constant(self, y: Array, s: Array) -> float:
        return float(self.link.forward(np.average(y, weights=s)))
