"""Huber's loss: squares near the target, absolute values beyond, and a scale of its own if asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np

from surefit.core.parameters import Positive
from surefit.losses.arrays import Array, aligned, by_row, inside
from surefit.losses.base import Loss


class Huber(Loss):
    r"""With r = y - z, :math:`f = \tfrac12 r^2` if :math:`|r| \le t`, else :math:`t |r| - \tfrac12 t^2`.

    threshold: the t. slope: the slope far out; "threshold" as above, "unit" divides f by t, so that it tends
    to the absolute residual as t tends to 0. scale: a number s makes the loss
    :math:`\tfrac12 s + s f(r / s)`, which is convex in z and s together, so that s can be estimated as a
    nuisance; it is half of what scikit-learn's HuberRegressor minimises. None is no scale.

    >>> Huber(threshold=1.0).value([0.0, 0.0], [0.5, -3.0])
    array([0.125, 2.5  ])
    """

    name = "huber"
    kernel = "huber"

    def __init__(
        self,
        threshold: Positive = 1.35,
        slope: Literal["threshold", "unit"] = "threshold",
        scale: Positive | None = None,
    ) -> None:
        self.threshold = threshold
        self.slope = slope
        self.scale = scale

    @property
    def kernel_options(self) -> tuple[float, ...]:
        """Threshold, scale, height and constant."""
        return self.threshold, self._width, self._height, self._constant

    @property
    def nuisance(self) -> tuple[str, ...]:
        """The scale, if there is one."""
        return () if self.scale is None else ("scale",)

    @property
    def smoothness(self) -> float:
        """The curvature near the target."""
        return self._height / self._width

    @property
    def _height(self) -> float:
        return 1.0 if self.slope == "threshold" else 1.0 / self.threshold

    @property
    def _width(self) -> float:
        return 1.0 if self.scale is None else self.scale

    @property
    def _constant(self) -> float:
        return 0.0 if self.scale is None else 0.5 * self._height * self.scale

    def value(self, y: Any, z: Any) -> Array:
        """Return r^2 / 2 near the target and a line beyond, on the scale and slope asked for."""
        y, z = aligned(y, z)
        a = np.abs(y - z)
        a /= self._width
        near = np.minimum(a, self.threshold)
        return by_row(self._height * self._width * near * (a - 0.5 * near) + self._constant)

    def gradient(self, y: Any, z: Any) -> Array:
        """Return z - y, held within the threshold."""
        y, z = aligned(y, z)
        return self._height * np.clip((z - y) / self._width, -self.threshold, self.threshold)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return that of the square within the threshold, itself included, and 0 beyond."""
        y, z = aligned(y, z)
        return np.where(np.abs(y - z) <= self.threshold * self._width, self.smoothness, 0.0).astype(z.dtype)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return u y + u^2 / 2 on abs(u) <= threshold, on the scale and slope asked for."""
        y, u = aligned(y, u)
        value = u * (y + 0.5 * u / self.smoothness) - self._constant
        return by_row(inside(value, np.abs(u) <= self._height * self.threshold))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Shrink v - y near the target; beyond it, move v by the step times the slope."""
        y, v = aligned(y, v)
        near = (v - y) * (step * self.smoothness / (1.0 + step * self.smoothness))
        reach = step * self._height * self.threshold
        return v - np.clip(near, -reach, reach)

    def nuisance_gradient(self, y: Any, z: Any) -> dict[str, Array]:
        """Return the derivative by the scale."""
        if self.scale is None:
            return super().nuisance_gradient(y, z)
        y, z = aligned(y, z)
        near = np.minimum(np.abs(y - z) / self.scale, self.threshold)
        return {"scale": by_row(0.5 * self._height * (1.0 - near**2))}

    @classmethod
    def variants(cls) -> Iterator[Self]:
        """Yield both slopes, with and without a scale."""
        yield from (cls(), cls(0.5, "unit"), cls(1.35, scale=2.0), cls(0.7, "unit", 0.5))
