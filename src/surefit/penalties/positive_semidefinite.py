"""Symmetric matrices without a negative eigenvalue, packed into a vector of coefficients."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.penalties.base import Array
from surefit.penalties.convex_set import ConvexSet
from surefit.penalties.row_space import ROUNDINGS


class PositiveSemidefinite(ConvexSet):
    """The constraint that the matrix packed into w has no negative eigenvalue.

    ``pack`` lists the lower triangle row by row, with √2 before what is off the diagonal, so that lengths and
    inner products of vectors are those of the matrices; ``unpack`` is its inverse.

    >>> nearest = PositiveSemidefinite().prox(pack([[0.0, 2.0], [2.0, 0.0]]), step=1.0)
    >>> unpack(nearest).round(12)
    array([[1., 1.],
           [1., 1.]])
    """

    name = "positive_semidefinite"

    def project(self, v: Vector) -> Vector:
        """Return v with its negative eigenvalues set to 0."""
        return np.column_stack([pack(_without_negative(unpack(column))) for column in v.T])

    def contains(self, w: Vector, eps: float) -> bool:
        """Whether no eigenvalue is negative, up to rounding of the largest."""
        values = _eigenvalues(w)
        return bool(np.all(values.min(axis=1) >= -4 * len(w) * eps * np.abs(values).max(axis=1)))

    def support(self, u: Vector) -> float:
        """Return 0 where no eigenvalue is positive; infinite elsewhere."""
        values = _eigenvalues(u)
        return 0.0 if np.all(values.max(axis=1) <= ROUNDINGS * np.abs(values).max(axis=1)) else np.inf

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the matrices along which a slope has no negative eigenvalue: nothing stops them."""
        if slope is None:
            return np.zeros((p, 0))
        found: list[Vector] = []
        for column in np.asarray(slope, dtype=np.float64).reshape(p, -1).T:
            values, vectors = np.linalg.eigh(unpack(column))
            rising = vectors[:, values > ROUNDINGS * np.abs(values).max(initial=0.0)].T
            found += [pack(np.outer(one, two)) for i, one in enumerate(rising) for two in rising[: i + 1]]
        directions = np.array(found).reshape(-1, p).T
        return np.asarray(directions / np.maximum(np.linalg.norm(directions, axis=0), 1e-300))


def pack(matrix: ArrayLike) -> Vector:
    """Return the lower triangle of a symmetric matrix as a vector of the same length.

    >>> pack([[1.0, 2.0], [2.0, 3.0]]).round(4)
    array([1.    , 2.8284, 3.    ])
    """
    square = np.asarray(matrix, dtype=np.float64)
    if square.ndim != 2 or square.shape[0] != square.shape[1]:
        raise DataError(f"pack: the matrix has shape {square.shape}; give a square one.")
    rows, columns = np.tril_indices(len(square))
    packed: Vector = 0.5 * (square + square.T)[rows, columns]
    packed[rows != columns] *= math.sqrt(2.0)
    return packed


def unpack(vector: ArrayLike) -> Matrix:
    """Return the symmetric matrix that was packed into a vector.

    >>> unpack(pack([[1.0, 2.0], [2.0, 3.0]])).round(12)
    array([[1., 2.],
           [2., 3.]])
    """
    packed = np.asarray(vector, dtype=np.float64)
    size = (math.isqrt(8 * packed.size + 1) - 1) // 2
    if packed.ndim != 1 or size * (size + 1) // 2 != packed.size:
        raise DataError(
            f"PositiveSemidefinite: {packed.size} coefficients are not a packed matrix; a symmetric matrix "
            "with d rows takes d (d + 1) / 2 of them."
        )
    rows, columns = np.tril_indices(size)
    matrix = np.zeros((size, size))
    matrix[rows, columns] = np.where(rows == columns, packed, packed / math.sqrt(2.0))
    matrix[columns, rows] = matrix[rows, columns]
    return matrix


def _without_negative(matrix: Matrix) -> Matrix:
    values, vectors = np.linalg.eigh(matrix)
    if np.all(values >= 0):
        return matrix
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    nearest: Vector = root @ root.T
    return nearest


def _eigenvalues(w: Vector) -> Vector:
    return np.array([np.linalg.eigvalsh(unpack(column)) for column in w.T])
