"""The Cholesky factor of a Gram matrix whose columns come and go, kept packed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Vector = NDArray[np.float64]

# Share of a column's square that must lie outside the others: below it, rounding decides what is left.
DEPENDENT = 1e-13


class PackedFactor:
    """The upper factor R of G = R'R by columns, one after the other, so that a new column goes to the end.

    >>> factor = PackedFactor()
    >>> factor.append(np.empty(0), 4.0), factor.append(np.array([2.0]), 2.0)
    (True, True)
    >>> factor.append(np.array([2.0, 2.0]), 2.0)  # the second column once more
    False
    >>> factor.solve(np.array([2.0, 2.0]))
    array([0., 1.])
    >>> factor.remove(0)
    >>> factor.solve(np.array([2.0]))
    array([1.])
    """

    def __init__(self) -> None:
        self.size = 0
        self._packed: Vector = np.zeros(64)

    def append(self, products: Vector, square: float) -> bool:
        """Add a column, given its products with the others and with itself; refuse a dependent one."""
        k = self.size
        start = k * (k + 1) // 2
        new = linalg.blas.dtpsv(k, self._packed, products, trans=1) if k else np.empty(0)
        left = square - float(new @ new)
        if not left > DEPENDENT * square:
            return False
        if start + k + 1 > len(self._packed):
            self._packed = np.concatenate([self._packed, np.zeros(len(self._packed) + k + 1)])
        self._packed[start : start + k] = new
        self._packed[start + k] = np.sqrt(left)
        self.size = k + 1
        return True

    def solve(self, right: Vector) -> Vector:
        """Return G^-1 right."""
        half = linalg.blas.dtpsv(self.size, self._packed, right, trans=1)
        found: Vector = linalg.blas.dtpsv(self.size, self._packed, half, overwrite_x=1)
        return found

    def remove(self, place: int) -> None:
        """Take a column out, and rotate those after it back to a triangle."""
        k = self.size
        after = k - place - 1
        block = np.zeros((after + 1, after + 1))
        for column in range(place, k):
            start = column * (column + 1) // 2
            block[: column - place + 1, column - place] = self._packed[start + place : start + column + 1]
        if after:
            # Only the triangle is wanted; the rotations that make it are collected in a square.
            _, block = linalg.qr_delete(np.eye(after + 1), block, 0, which="col", check_finite=False)
        for column in range(place, k - 1):
            old, new = (column + 1) * (column + 2) // 2, column * (column + 1) // 2
            self._packed[new : new + place] = self._packed[old : old + place]
            self._packed[new + place : new + column + 1] = block[: column - place + 1, column - place]
        self.size = k - 1
