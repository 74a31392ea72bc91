"""Coefficients on one side of a plane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Interval, validate
from surefit.penalties.arrays import checked_numbers, coefficients, require_length
from surefit.penalties.base import CASE_COLUMNS, Array, Columns
from surefit.penalties.convex_set import ConvexSet
from surefit.penalties.row_space import Span

Finite = Annotated[float, Interval(-np.inf, np.inf, open_low=True, open_high=True)]


class HalfSpace(ConvexSet):
    """The constraint normal · w ≤ offset.

    >>> HalfSpace([1.0, 1.0], 2.0).prox([3.0, 1.0], step=1.0)
    array([2., 0.])
    """

    name = "half_space"

    def __init__(self, normal: Columns, offset: Finite = 0.0) -> None:
        self.normal = normal
        self.offset = offset
        validate(self)
        self._normal = checked_numbers("HalfSpace", "normal", normal)
        if not self._normal.any():
            raise ParameterError("HalfSpace: normal is zero; give at least one entry that is not.")

    def project(self, v: Vector) -> Vector:
        """Return v, moved along the normal by what it is over."""
        for _ in range(2):  # the second time takes away what rounding left of a long way
            over = np.maximum(self._height(v) - self.offset, 0.0)
            v = v - self._normal[:, None] * (over / (self._normal @ self._normal))
        return v

    def contains(self, w: Vector, eps: float) -> bool:
        """Whether each column is on the right side."""
        over = self._height(w) - self.offset
        size = np.abs(self._normal) @ np.abs(w) + abs(self.offset)
        return bool(np.all(over <= 4 * len(w) * eps * size))

    def support(self, u: Vector) -> float:
        """Return the offset times u in units of the normal; infinite in any other direction."""
        along = self._height(u) / (self._normal @ self._normal)
        if np.any(along < 0) or not Span.of_rows(self._normal[None]).holds(u):
            return np.inf
        return float(self.offset * np.sum(along))

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the directions within the plane, and the normal where a slope points inwards."""
        if slope is not None and np.any(self._height(coefficients(slope)) < 0):
            return np.eye(p)
        return Span.of_rows(self._normal[None]).others()

    def _height(self, w: Vector) -> Vector:
        require_length("HalfSpace", "normal", len(self._normal), len(w))
        height: Vector = self._normal @ w
        return height

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(rng.normal(size=CASE_COLUMNS).tolist())
        yield cls(rng.normal(size=CASE_COLUMNS), -1.5)
