"""A squared penalty on linear combinations of the coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.parameters import validate
from surefit.penalties.arrays import checked_numbers, coefficients, in_type_of, require_length
from surefit.penalties.base import CASE_COLUMNS, Array, Columns, Penalty, Strength
from surefit.penalties.row_space import Span


class Tikhonov(Penalty):
    r"""The general squared penalty, :math:`\frac12 strength \|G w\|^2`, for a matrix G with p columns.

    Differences of neighbours in G give smooth coefficients; what G maps to zero stays free.

    >>> Tikhonov([[1.0, -1.0]], strength=2.0).value([5.0, 3.0])
    4.0
    """

    name = "tikhonov"

    def __init__(self, matrix: Columns, strength: Strength = 1.0) -> None:
        self.matrix = matrix
        self.strength = strength
        validate(self)
        self._matrix = checked_numbers("Tikhonov", "matrix", matrix, ndim=2)

    @cached_property
    def _span(self) -> Span:
        return Span.of_rows(self._matrix)

    def value(self, w: ArrayLike) -> float:
        """Return half the strength times the squared length of G w."""
        return float(0.5 * self.strength * np.sum((self._matrix @ self._admit(w)) ** 2))

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the solution of (I + step · strength · G'G) w = v, direction by direction."""
        given, v = v, self._admit(v)
        bend = step * self.strength * self._span.lengths**2
        within = self._span.directions @ v
        return in_type_of(v - self._span.back(within, bend / (1 + bend)), given)

    def conjugate(self, u: ArrayLike) -> float:
        """Return half the squared length of u measured by the inverse of strength · G'G."""
        u = self._admit(u)
        if not np.any(u):
            return 0.0
        if self.strength == 0 or not self._span.holds(u):
            return np.inf
        within = self._span.directions @ u
        return float(0.5 / self.strength * np.sum((within.T / self._span.lengths) ** 2))

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return 1 where the conjugate is finite; scaling does not help elsewhere."""
        return 1.0 if self.conjugate(u) < np.inf else 0.0

    def largest(self, gradient_at_zero: ArrayLike) -> float:
        """Return infinity, or 0 without a slope: squares leave no coefficient at zero."""
        return float(np.inf) if np.any(gradient_at_zero) else 0.0

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return the size of each entry of gradient + strength · G'G w."""
        slope = self.strength * (self._matrix.T @ (self._matrix @ self._admit(w)))
        distance: Vector = np.abs(coefficients(gradient) + slope)
        return distance

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the directions that the matrix maps to zero."""
        return np.eye(p) if self.strength == 0 else self._span.others()

    def quadratic(self, p: int) -> Array | None:
        """Return strength · G'G."""
        require_length("Tikhonov", "matrix", self._matrix.shape[1], p)
        return np.asarray(self.strength * (self._matrix.T @ self._matrix))

    def _admit(self, w: ArrayLike) -> Vector:
        w = coefficients(w)
        require_length("Tikhonov", "matrix", self._matrix.shape[1], len(w))
        return w

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws: of full rank, with free directions, and taller than wide."""
        yield cls(np.eye(CASE_COLUMNS) + 0.2 * rng.normal(size=(CASE_COLUMNS, CASE_COLUMNS)), 0.7)
        yield cls(np.diff(np.eye(CASE_COLUMNS), axis=0).tolist(), 1.2)
        yield cls(0.3 * rng.normal(size=(9, 3)) @ rng.normal(size=(3, CASE_COLUMNS)), 0.3)
