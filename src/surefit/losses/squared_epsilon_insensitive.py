"""The square of the residual beyond a tube."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.parameters import NonNegative
from surefit.losses.arrays import Array, aligned, by_row, reals
from surefit.losses.base import Loss
from surefit.losses.dual_plan import RowConjugates


class SquaredEpsilonInsensitive(Loss):
    r""":math:`f = (|y - z| - \epsilon)_+^2`, without a half: at :math:`\epsilon = 0`, twice the squared loss.

    >>> SquaredEpsilonInsensitive(0.5).value([1.0, 1.0], [1.4, 3.0])
    array([0.  , 2.25])
    """

    name = "squared_epsilon_insensitive"
    smoothness = 2.0

    def __init__(self, epsilon: NonNegative = 0.1) -> None:
        self.epsilon = epsilon

    def _beyond(self, y: Array, z: Array) -> Array:
        """Return z - y less the tube, with its sign."""
        r = z - y
        return r - np.clip(r, -self.epsilon, self.epsilon)

    def value(self, y: Any, z: Any) -> Array:
        """Return the square of what is left of abs(y - z) beyond epsilon."""
        return by_row(self._beyond(*aligned(y, z)) ** 2)

    def gradient(self, y: Any, z: Any) -> Array:
        """Return twice what z - y leaves beyond the tube."""
        return 2.0 * self._beyond(*aligned(y, z))

    def curvature(self, y: Any, z: Any) -> Array:
        """Return 2 beyond the tube and on its edge, 0 within it."""
        y, z = aligned(y, z)
        return np.where(np.abs(y - z) >= self.epsilon, 2.0, 0.0).astype(z.dtype)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return u y + epsilon abs(u) + u^2 / 4."""
        y, u = aligned(y, u)
        return by_row(u * y + np.abs(u) * (self.epsilon + 0.25 * np.abs(u)))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Shrink what v leaves beyond the tube by 1 / (1 + 2 step)."""
        y, v = aligned(y, v)
        return v - self._beyond(y, v) * (2.0 * step / (1.0 + 2.0 * step))

    def dual_plan(self, y: Any) -> RowConjugates:
        """Return slopes without ends, with a tube."""
        y = reals(y)
        return RowConjugates(y, np.full(y.shape, -np.inf), np.full(y.shape, np.inf), self.epsilon, 0.5)

    @classmethod
    def variants(cls) -> Iterator[Self]:
        """Yield a narrow tube, a wide one and none."""
        yield from (cls(), cls(1.5), cls(0.0))
