"""Coefficients of bounded length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.parameters import validate
from surefit.penalties.convex_set import ConvexSet
from surefit.penalties.simplex import Size


class L2Ball(ConvexSet):
    """The constraint ‖w‖ ≤ radius, ridge's in its constrained form.

    >>> L2Ball(1.0).prox([3.0, 4.0], step=1.0)
    array([0.6, 0.8])
    """

    name = "l2_ball"

    def __init__(self, radius: Size = 1.0) -> None:
        self.radius = radius
        validate(self)

    def project(self, v: Vector) -> Vector:
        """Return v, shortened to the radius where it is longer."""
        nearest: Vector = v / np.maximum(np.linalg.norm(v, axis=0) / self.radius, 1.0)
        return nearest

    def contains(self, w: Vector, eps: float) -> bool:
        """Whether no column is longer than the radius."""
        return bool(np.all(np.linalg.norm(w, axis=0) <= self.radius * (1 + 4 * len(w) * eps)))

    def support(self, u: Vector) -> float:
        """Return the radius times the length of each column."""
        return float(self.radius * np.sum(np.linalg.norm(u, axis=0)))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(2.5)
