"""The residual beyond a tube: nothing within epsilon of the target costs anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.parameters import NonNegative
from surefit.losses.arrays import Array, aligned, by_row, inside, reals
from surefit.losses.base import Loss
from surefit.losses.dual_plan import RowConjugates
from surefit.losses.piecewise_linear import Kink
from surefit.losses.weighted_quantile import weighted_quantile


class EpsilonInsensitive(Loss):
    r""":math:`f = (|y - z| - \epsilon)_+`, the loss of support vector regression.

    The gradient at the two kinks is 0. The curvature is the least majorant, with a = abs(y - z):
    :math:`1/(2|a - \epsilon|)` for :math:`a < 2\epsilon`, 1/a beyond; inf at a kink.

    >>> EpsilonInsensitive(0.5).value([1.0, 1.0], [1.4, 3.0])
    array([0. , 1.5])
    """

    name = "epsilon_insensitive"
    smooth = False
    curvature_kind = "majorant"

    def __init__(self, epsilon: NonNegative = 0.1) -> None:
        self.epsilon = epsilon

    def _tube(self, y: Array) -> tuple[Array, Array]:
        """Return both edges: all comparisons are with them, so that a score on an edge is one."""
        return y - self.epsilon, y + self.epsilon

    def value(self, y: Any, z: Any) -> Array:
        """Return what is left of abs(y - z) beyond epsilon."""
        y, z = aligned(y, z)
        below, above = self._tube(y)
        return by_row(np.abs(z - np.clip(z, below, above)))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return the sign of z - y beyond the tube and 0 within it."""
        y, z = aligned(y, z)
        below, above = self._tube(y)
        return np.sign(z - np.clip(z, below, above))

    def subdifferential(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return the slope twice; 0 and an end of [-1, 1] at the kinks, both ends if epsilon is 0."""
        y, z = aligned(y, z)
        below, above = self._tube(y)
        low = np.where(z > above, 1.0, np.where(z <= below, -1.0, 0.0))
        return low, np.where(z < below, -1.0, np.where(z >= above, 1.0, 0.0))

    def curvature(self, y: Any, z: Any) -> Array:
        """Return that of the parabola which touches the far side, or the tube if that is nearer."""
        y, z = aligned(y, z)
        a = np.abs(y - z)
        with np.errstate(divide="ignore"):
            return np.where(a < 2.0 * self.epsilon, 0.5 / np.abs(a - self.epsilon), 1.0 / a)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return u y + epsilon abs(u) on abs(u) <= 1."""
        y, u = aligned(y, u)
        return by_row(inside(u * y + self.epsilon * np.abs(u), np.abs(u) <= 1.0))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Move v towards the tube by the step, and not beyond its edge."""
        y, v = aligned(y, v)
        return np.clip(np.clip(v, *self._tube(y)), v - step, v + step)

    def kinks(self, y: Any) -> tuple[Kink, ...]:
        """Return the two edges of the tube."""
        below, above = self._tube(reals(y))
        one, none = np.ones(below.shape), np.zeros(below.shape)
        return (Kink(above, none, one), Kink(below, -one, none))

    def dual_plan(self, y: Any) -> RowConjugates:
        """Return slopes between minus one and one, with a tube."""
        y = reals(y)
        return RowConjugates(y, np.full(y.shape, -1.0), np.ones(y.shape), self.epsilon, 0.0)

    def _best_constant(self, y: Array, s: Array) -> float:
        # f is the mean of the absolute distances to both edges of the tube, less epsilon.
        return weighted_quantile(np.concatenate(self._tube(y)), np.concatenate([s, s]), 0.5)

    @classmethod
    def variants(cls) -> Iterator[Self]:
        """Yield a narrow tube, a wide one and none."""
        yield from (cls(), cls(1.5), cls(0.0))
