"""Half the squared residual."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.losses.arrays import Array, aligned, by_row
from surefit.losses.base import Loss


class Squared(Loss):
    r""":math:`f = \tfrac12 (y - z)^2`: the log-likelihood of normal noise of variance 1, negated.

    >>> Squared().value([3.0], [1.0])
    array([2.])
    """

    name = "squared"
    smoothness = 1.0

    def value(self, y: Any, z: Any) -> Array:
        """Return (y - z)^2 / 2."""
        y, z = aligned(y, z)
        return by_row(0.5 * (y - z) ** 2)

    def gradient(self, y: Any, z: Any) -> Array:
        """Return z - y."""
        y, z = aligned(y, z)
        return z - y

    def curvature(self, y: Any, z: Any) -> Array:
        """Return 1."""
        y, z = aligned(y, z)
        return np.ones_like(z)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return u y + u^2 / 2."""
        y, u = aligned(y, u)
        return by_row(u * (y + 0.5 * u))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Return (v + step y) / (1 + step)."""
        y, v = aligned(y, v)
        return (v + step * y) / (1.0 + step)

    def excess(self, y: Any, z: Any, u: Any) -> Array:
        """Return (z - y - u)^2 / 2: large targets do not cancel."""
        y, z = aligned(y, z)
        return by_row(0.5 * (z - y - np.asarray(u)) ** 2)

    def _best_constant(self, y: Array, s: Array) -> float:
        return float(np.average(y, weights=s))
