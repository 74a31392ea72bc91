"""The absolute residual."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.losses.arrays import Array, aligned, by_row, inside, reals
from surefit.losses.base import Loss
from surefit.losses.piecewise_linear import Kink
from surefit.losses.weighted_quantile import weighted_quantile


class Absolute(Loss):
    r""":math:`f = |y - z|`: the log-likelihood of Laplace noise, negated; its best constant is a median.

    The gradient at the kink z = y is 0. The curvature is the majorant 1 / abs(y - z), inf at the kink.

    >>> Absolute().best_constant([1.0, 2.0, 100.0])
    2.0
    """

    name = "absolute"
    smooth = False
    curvature_kind = "majorant"

    def value(self, y: Any, z: Any) -> Array:
        """Return abs(y - z)."""
        y, z = aligned(y, z)
        return by_row(np.abs(y - z))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return the sign of z - y, 0 at the kink."""
        y, z = aligned(y, z)
        return np.sign(z - y)

    def subdifferential(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return the sign of z - y twice; -1 and 1 at the kink."""
        y, z = aligned(y, z)
        return np.where(z > y, 1.0, -1.0), np.where(z < y, -1.0, 1.0)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return 1 / abs(y - z)."""
        y, z = aligned(y, z)
        with np.errstate(divide="ignore"):
            return 1.0 / np.abs(y - z)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return u y on abs(u) <= 1."""
        y, u = aligned(y, u)
        return by_row(inside(u * y, np.abs(u) <= 1.0))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Move v towards y by the step, and not beyond it."""
        y, v = aligned(y, v)
        return np.clip(y, v - step, v + step)

    def kinks(self, y: Any) -> tuple[Kink, ...]:
        """Return the kink at the target."""
        y = reals(y)
        return (Kink(y, np.full(y.shape, -1.0), np.full(y.shape, 1.0)),)

    def _best_constant(self, y: Array, s: Array) -> float:
        return weighted_quantile(y, s, 0.5)
