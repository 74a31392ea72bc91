"""The smoothly clipped absolute deviation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.parameters import Interval, validate
from surefit.penalties.arrays import coefficients, in_type_of, soft_threshold
from surefit.penalties.base import Array, Strength
from surefit.penalties.folded import Folded

Shape = Annotated[float, Interval(1, None, open_low=True)]


class SCAD(Folded):
    r"""A slope of λ = ``strength`` up to |w| = λ, which falls to 0 at |w| = γλ: not convex.

    .. math:: multiplier \sum_j \int_0^{|w_j|} \min\left(λ, \frac{\max(γλ - t, 0)}{γ - 1}\right) dt

    multiplier: of the whole penalty, which no strength can stand for.

    >>> SCAD(1.0, gamma=3.0).prox([1.5, 2.5, 4.0], step=1.0)
    array([0.5, 2. , 4. ])
    """

    name = "scad"

    def __init__(self, strength: Strength = 1.0, *, gamma: Shape = 3.7, multiplier: Strength = 1.0) -> None:
        self.strength = strength
        self.gamma = gamma
        self.multiplier = multiplier
        validate(self)

    def cost(self, size: Vector) -> Vector:
        """Return a line that bends into a parabola that ends level."""
        straight = np.minimum(size, self.strength)
        bent = np.clip(size, self.strength, self.gamma * self.strength) - self.strength
        return self.multiplier * (self.strength * (straight + bent) - 0.5 * bent**2 / (self.gamma - 1))

    def slope(self, size: Vector) -> Vector:
        """Return a slope that is constant, then falls to zero."""
        falling = np.maximum(self.gamma * self.strength - size, 0.0) / (self.gamma - 1)
        return self.multiplier * np.minimum(self.strength, falling)

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the soft threshold, a stretch or v itself, by size; a long step jumps over the stretch."""
        given, v = v, coefficients(v)
        size, level, gamma = np.abs(v), self.strength, self.gamma
        step = step * self.multiplier
        near = soft_threshold(v, step * level)
        if step < gamma - 1:
            stretched = v + step * (v - np.sign(v) * gamma * level) / (gamma - 1 - step)
            far = np.where(size <= gamma * level, stretched, v)
            result = np.where(size <= (1 + step) * level, near, far)
        else:
            # The two local minima are as good as each other at the jump, where the near one is 0 or not.
            jump = np.sqrt(step * (gamma + 1)) if gamma + 1 <= step else 0.5 * (gamma + 1 + step)
            result = np.where(size <= jump * level, near, v)
        return in_type_of(result, given)

    def scaled(self, factor: float) -> Self:
        """Return the penalty with its multiplier times the factor."""
        return self.replace(multiplier=self.multiplier * factor)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws; their steps are on both sides of γ - 1."""
        yield cls(0.6)
        yield cls(0.8, gamma=1.7)
        yield cls(1.1, gamma=2.1, multiplier=1.6)
