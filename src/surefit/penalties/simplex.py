"""Coefficients that are shares of a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.parameters import Interval, validate
from surefit.penalties.convex_set import ConvexSet

Size = Annotated[float, Interval(0, np.inf, open_low=True, open_high=True)]


class Simplex(ConvexSet):
    """The constraint w ≥ 0, Σ w = total.

    >>> Simplex(2.0).prox([3.0, 1.5, -1.0], step=1.0)
    array([1.75, 0.25, 0.  ])
    """

    name = "simplex"

    def __init__(self, total: Size = 1.0) -> None:
        self.total = total
        validate(self)

    def project(self, v: Vector) -> Vector:
        """Return what exceeds a level, which is chosen such that it sums to the total."""
        return project_to_simplex(v, self.total)

    def contains(self, w: Vector, eps: float) -> bool:
        """Whether no entry is negative and each column has the sum."""
        slack = 4 * len(w) * eps * self.total
        return bool(np.all(w >= 0) and np.all(np.abs(w.sum(axis=0) - self.total) <= slack))

    def support(self, u: Vector) -> float:
        """Return the total times the largest entry of each column."""
        return float(self.total * np.sum(u.max(axis=0)))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(3.5)


def project_to_simplex(v: Vector, total: float) -> Vector:
    """Return the nearest point to each column with w ≥ 0 and the sum given, by sorting."""
    v = v - v.max(axis=0)  # moves no projection, and keeps the digits of what is far from the simplex
    falling = -np.sort(-v, axis=0)
    levels = (np.cumsum(falling, axis=0) - total) / np.arange(1, len(v) + 1)[:, None]
    used = np.sum(falling > levels, axis=0)
    nearest: Vector = np.maximum(v - np.take_along_axis(levels, used[None] - 1, axis=0), 0.0)
    return nearest
