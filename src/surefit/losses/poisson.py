"""The Poisson loss of counts, fused with the logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.parameters import Interval
from surefit.losses.arrays import Array, aligned, by_row, inside
from surefit.losses.base import Loss
from surefit.losses.links import Log
from surefit.losses.stable import exponential_balance, x_log_x


class Poisson(Loss):
    r""":math:`f = e^z - y z`: the log-likelihood of counts with mean :math:`e^z`, negated, without log y!.

    >>> Poisson().best_constant([1, 2, 3])
    0.6931471805599453
    """

    name = "poisson"
    link = Log()
    domain = Interval(0, None)
    kernel = "poisson"
    divergence = True

    def value(self, y: Any, z: Any) -> Array:
        """Return exp(z) - y z."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore"):
            return by_row(np.exp(z) - y * z)

    def gradient(self, y: Any, z: Any) -> Array:
        """Return exp(z) - y."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore"):
            return np.exp(z) - y

    def value_and_gradient(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return both from one exponential."""
        y, z = aligned(y, z)
        mean = self.curvature(y, z)
        return by_row(mean - y * z), np.subtract(mean, y, out=mean)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return exp(z)."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore"):
            return np.exp(z)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return v log v - v for v = u + y >= 0."""
        y, u = aligned(y, u)
        v = u + y
        return by_row(inside(x_log_x(v) - v, v >= 0))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Solve z + step exp(z) = v + step y."""
        y, v = aligned(y, v)
        return exponential_balance(v + step * y, np.full_like(v, step))

    def _best_constant(self, y: Array, s: Array) -> float:
        return float(self.link.forward(np.average(y, weights=s)))
