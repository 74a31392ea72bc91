"""The inverse Gaussian loss of positive amounts with a long tail, fused with the logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.parameters import Interval
from surefit.losses.arrays import Array, aligned, by_row
from surefit.losses.base import Loss
from surefit.losses.links import Log


class InverseGaussian(Loss):
    r""":math:`f = \tfrac12 y e^{-2z} - e^{-z}`: half the deviance with mean :math:`e^z`, without 1 / (2 y).

    Not convex: it bends down where the mean is more than twice the target.

    >>> InverseGaussian().value([2.0], [0.0]), InverseGaussian().gradient([2.0], [np.log(2.0)])
    (array([0.]), array([0.]))
    """

    name = "inverse_gaussian"
    link = Log()
    domain = Interval(0, None, open_low=True)
    convex = False

    # With e = exp(-z) taken out of every sum, no two infinities meet.

    def value(self, y: Any, z: Any) -> Array:
        """Return e (y e / 2 - 1) with e = exp(-z)."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore"):
            e = np.exp(-z)
            return by_row(e * (0.5 * y * e - 1.0))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return e (1 - y e) with e = exp(-z)."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore"):
            e = np.exp(-z)
            return e * (1.0 - y * e)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return e (2 y e - 1) with e = exp(-z)."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore"):
            e = np.exp(-z)
            return e * (2.0 * y * e - 1.0)

    def _best_constant(self, y: Array, s: Array) -> float:
        return float(self.link.forward(np.average(y, weights=s)))
