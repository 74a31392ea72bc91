"""The span of a matrix's rows: its directions, and whether a vector is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from surefit.core.arrays import Matrix, Vector

# A vector out of a short computation is in the span but for some roundings; one in general position misses
# it by far more than a thousand of them.
ROUNDINGS = 1000 * np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True)
class Span:
    """Orthonormal directions in rows, the singular values that belong to them, and the other side's vectors.

    >>> Span.of_rows(np.array([[0.0, 2.0]])).holds(np.array([0.0, 7.0]))
    True
    """

    left: Matrix
    lengths: Vector
    directions: Matrix

    @classmethod
    def of_rows(cls, matrix: Matrix) -> Self:
        """Decompose a matrix; singular values within rounding of zero are dropped."""
        left, lengths, directions = np.linalg.svd(matrix, full_matrices=False)
        kept = lengths > lengths[0] * max(matrix.shape) * np.finfo(np.float64).eps
        return cls(left[:, kept], lengths[kept], directions[kept])

    def back(self, within: Vector, factors: Vector) -> Vector:
        """Return the vector, or matrix, with these coordinates, each times its factor."""
        return self.directions.T @ (factors * within.T).T

    def holds(self, u: Vector) -> bool:
        """Whether a vector, or each column of a matrix, is in the span up to rounding."""
        outside = u - self.directions.T @ (self.directions @ u)
        return bool(np.all(np.linalg.norm(outside, axis=0) <= ROUNDINGS * np.linalg.norm(u, axis=0)))

    def others(self) -> Vector:
        """Return orthonormal directions, in columns, of all that is not in the span."""
        size = self.directions.shape[1]
        complete = np.linalg.qr(self.directions.T, mode="complete")[0]
        found: Vector = complete[:, len(self.directions) : size]
        return found
