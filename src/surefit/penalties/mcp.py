"""The minimax concave penalty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.parameters import Positive, validate
from surefit.penalties.arrays import coefficients, in_type_of, soft_threshold
from surefit.penalties.base import Array, Strength
from surefit.penalties.folded import Folded


class MCP(Folded):
    r"""A slope that falls from ``strength`` to 0 at \|w\| = γ · strength: not convex.

    .. math:: \sum_j \int_0^{|w_j|} \max(strength - t / \gamma, 0) \, dt

    >>> MCP(1.0, gamma=3.0).prox([0.5, 2.0, 4.0], step=1.0)
    array([0. , 1.5, 4. ])
    """

    name = "mcp"

    def __init__(self, strength: Strength = 1.0, *, gamma: Positive = 3.0) -> None:
        self.strength = strength
        self.gamma = gamma
        validate(self)

    def cost(self, size: Vector) -> Vector:
        """Return a parabola that ends level."""
        bent = np.minimum(size, self.gamma * self.strength)
        return self.strength * bent - 0.5 * bent**2 / self.gamma

    def slope(self, size: Vector) -> Vector:
        """Return a line that falls to zero."""
        return np.maximum(self.strength - size / self.gamma, 0.0)

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the firm threshold, or from step γ on a hard one: the parabola outbends the distance."""
        given, v = v, coefficients(v)
        size = np.abs(v)
        if step < self.gamma:
            inner = soft_threshold(v, step * self.strength) / (1 - step / self.gamma)
            result = np.where(size <= self.gamma * self.strength, inner, v)
        else:
            result = np.where(size > self.strength * np.sqrt(step * self.gamma), v, 0.0)
        return in_type_of(result, given)

    def scaled(self, factor: float) -> Self:
        """Return the penalty whose parabola is higher by the factor and as wide."""
        return self.replace(
            strength=self.strength * factor, gamma=self.gamma / factor if factor > 0 else self.gamma
        )

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws; their steps are on both sides of γ."""
        yield cls(0.8, gamma=3.0)
        yield cls(0.5, gamma=1.2)
        yield cls(1.5, gamma=0.4)
