"""Coefficients that satisfy linear equations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import validate
from surefit.penalties.arrays import checked_numbers, require_length
from surefit.penalties.base import CASE_COLUMNS, Array, Columns
from surefit.penalties.convex_set import ConvexSet
from surefit.penalties.row_space import ROUNDINGS, Span


class AffineSubspace(ConvexSet):
    """The constraint A w = target, for a matrix A with p columns.

    >>> AffineSubspace([[0.0, 1.0]], [2.0]).prox([3.0, 1.0], step=1.0)
    array([3., 2.])
    """

    name = "affine_subspace"

    def __init__(self, matrix: Columns, target: Columns) -> None:
        self.matrix = matrix
        self.target = target
        validate(self)
        self._matrix = checked_numbers("AffineSubspace", "matrix", matrix, ndim=2)
        self._target = checked_numbers("AffineSubspace", "target", target)
        if len(self._target) != len(self._matrix):
            raise ParameterError(
                f"AffineSubspace: matrix has {len(self._matrix)} rows and target has "
                f"{len(self._target)} entries; give one entry a row."
            )
        missed = np.linalg.norm(self._matrix @ self._nearest_to_zero - self._target)
        if missed > ROUNDINGS * np.linalg.norm(self._target):
            raise ParameterError(
                "AffineSubspace: the equations contradict each other; leave out one that depends on others."
            )

    @cached_property
    def _span(self) -> Span:
        return Span.of_rows(self._matrix)

    @cached_property
    def _nearest_to_zero(self) -> Vector:
        return self._span.back(self._span.left.T @ self._target, 1 / self._span.lengths)

    def project(self, v: Vector) -> Vector:
        """Return v without its distance to a solution in the span of A's rows."""
        require_length("AffineSubspace", "matrix", self._matrix.shape[1], len(v))
        directions, solution = self._span.directions, self._nearest_to_zero[:, None]
        for _ in range(2):  # the second time takes away what rounding left of a long way
            v = v - directions.T @ (directions @ (v - solution))
        return v

    def contains(self, w: Vector, eps: float) -> bool:
        """Whether each column solves the equations."""
        require_length("AffineSubspace", "matrix", self._matrix.shape[1], len(w))
        size = np.linalg.norm(self._matrix) * np.linalg.norm(w, axis=0) + np.linalg.norm(self._target)
        missed = np.linalg.norm(self._matrix @ w - self._target[:, None], axis=0)
        return bool(np.all(missed <= 4 * max(self._matrix.shape) * eps * size))

    def support(self, u: Vector) -> float:
        """Return the inner product with any solution; infinite where solutions differ in it."""
        return float(np.sum(self._nearest_to_zero @ u)) if self._span.holds(u) else np.inf

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the directions in which solutions differ."""
        return self._span.others()

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws: one with an equation that follows from the others."""
        matrix = rng.normal(size=(2, CASE_COLUMNS))
        yield cls(np.ones((1, CASE_COLUMNS)).tolist(), [1.0])
        yield cls(matrix, rng.normal(size=2))
        yield cls(np.vstack([matrix, matrix.sum(axis=0)]), [1.0, -2.0, -1.0])
