"""Coefficients whose absolute values have a bounded sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.parameters import validate
from surefit.penalties.convex_set import ConvexSet
from surefit.penalties.simplex import Size, project_to_simplex


class L1Ball(ConvexSet):
    """The constraint Σ|w| ≤ radius, the lasso's in its constrained form.

    >>> L1Ball(2.0).prox([3.0, -2.0, 0.5], step=1.0)
    array([ 1.5, -0.5,  0. ])
    """

    name = "l1_ball"

    def __init__(self, radius: Size = 1.0) -> None:
        self.radius = radius
        validate(self)

    def project(self, v: Vector) -> Vector:
        """Return v, or where it is outside the projection of its sizes to the simplex, with its signs."""
        outside = np.abs(v).sum(axis=0) > self.radius
        result = v.copy()
        result[:, outside] = np.sign(v[:, outside]) * project_to_simplex(np.abs(v[:, outside]), self.radius)
        return result

    def contains(self, w: Vector, eps: float) -> bool:
        """Whether the sizes of each column sum to no more than the radius."""
        return bool(np.all(np.abs(w).sum(axis=0) <= self.radius * (1 + 4 * len(w) * eps)))

    def support(self, u: Vector) -> float:
        """Return the radius times the largest size in each column."""
        return float(self.radius * np.sum(np.abs(u).max(axis=0)))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(2.5)
