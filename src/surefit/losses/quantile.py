"""The pinball loss, whose best constant is a quantile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

import numpy as np

from surefit.core.parameters import Interval
from surefit.losses.arrays import Array, aligned, by_row, inside, reals
from surefit.losses.base import Loss
from surefit.losses.piecewise_linear import Kink
from surefit.losses.weighted_quantile import weighted_quantile

Level = Annotated[float, Interval(0, 1, open_low=True, open_high=True)]


class Quantile(Loss):
    r""":math:`f = q (y - z)_+ + (1 - q)(z - y)_+`: at the level q = 1/2, half the absolute residual.

    The gradient at the kink z = y is 0. The curvature is the majorant 1 / (2 abs(y - z)), inf at the kink.

    >>> Quantile(0.9).value([0.0, 0.0], [-1.0, 1.0])
    array([0.9, 0.1])
    """

    name = "quantile"
    smooth = False
    curvature_kind = "majorant"

    def __init__(self, level: Level = 0.5) -> None:
        self.level = level

    def value(self, y: Any, z: Any) -> Array:
        """Return q (y - z) below the target and (1 - q) (z - y) above it."""
        y, z = aligned(y, z)
        r = y - z
        return by_row(np.maximum(self.level * r, (self.level - 1.0) * r))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return -q below the target, 1 - q above it and 0 at the kink."""
        low, high = self.subdifferential(y, z)
        return np.where(low == high, low, 0.0)

    def subdifferential(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return the slope twice; -q and 1 - q at the kink."""
        y, z = aligned(y, z)
        down, up = -self.level, 1.0 - self.level
        return np.where(z > y, up, down), np.where(z < y, down, up)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return 1 / (2 abs(y - z))."""
        y, z = aligned(y, z)
        with np.errstate(divide="ignore"):
            return 0.5 / np.abs(y - z)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return u y on -q <= u <= 1 - q."""
        y, u = aligned(y, u)
        return by_row(inside(u * y, (u >= -self.level) & (u <= 1.0 - self.level)))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Move v towards y: by step q from below, by step (1 - q) from above."""
        y, v = aligned(y, v)
        return np.clip(y, v - step * (1.0 - self.level), v + step * self.level)

    def kinks(self, y: Any) -> tuple[Kink, ...]:
        """Return the kink at the target."""
        y = reals(y)
        return (Kink(y, np.full(y.shape, -self.level), np.full(y.shape, 1.0 - self.level)),)

    def _best_constant(self, y: Array, s: Array) -> float:
        return weighted_quantile(y, s, self.level)

    @classmethod
    def variants(cls) -> Iterator[Self]:
        """Yield the median and two quantiles that are not symmetric."""
        yield from (cls(), cls(0.1), cls(0.75))
