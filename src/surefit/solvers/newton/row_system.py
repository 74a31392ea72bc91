r"""Linear systems with one unknown a row: :math:`(E + R K R) \beta = \rho` for :math:`K = X A^{-1} X'`.

Under a penalty w'Aw/2, weighted slopes make coefficients :math:`w = -A^{-1} X'\alpha` and scores
:math:`Xw = -K\alpha`. Conjugate gradients need one product with X' and one with X an iteration, and never
form K.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from surefit.core.arrays import Matrix, Vector
from surefit.stats.products import pulled, scores

CELLS = 1 << 20  # entries that are squared at a time


@dataclass(frozen=True, slots=True)
class Slopes:
    """Weighted slopes, the coefficients that they make, and the scores of these."""

    alpha: Vector
    coef: Vector
    linear: Vector

    def moved(self, step: float, by: Slopes) -> Slopes:
        """Return these plus a multiple of others."""
        return Slopes(
            self.alpha + step * by.alpha, self.coef + step * by.coef, self.linear + step * by.linear
        )


class RowSystem:
    """The rows X, and the inverse of the diagonal A; ``products`` counts those with X and with X'.

    >>> system = RowSystem(np.array([[1.0, 2.0]]), np.ones(2))
    >>> system.slopes(np.array([3.0])).linear, system.diagonal
    (array([-15.]), array([5.]))
    """

    def __init__(self, X: Any, inverse: Matrix) -> None:
        self.X, self.inverse, self.products = X, inverse, 0

    @cached_property
    def diagonal(self) -> Vector:
        """The squares of each row."""
        return row_squares(self.X, self.inverse)

    def back(self, alpha: Vector) -> Vector:
        """Return the coefficients that slopes make."""
        self.products += 1
        return -self.inverse * pulled(self.X, alpha)

    def linear(self, coef: Vector) -> Vector:
        """Return the scores of coefficients."""
        self.products += 1
        return scores(self.X, coef)

    def slopes(self, alpha: Vector) -> Slopes:
        """Return slopes with all that follows from them."""
        coef = self.back(alpha)
        return Slopes(alpha, coef, self.linear(coef))

    def descend(
        self, start: Slopes, own: Vector, root: Vector, residual: Vector, *, level: bool
    ) -> Iterator[tuple[Slopes, float]]:
        r"""Yield better and better slopes :math:`start + R \delta`, and which share of ``residual`` is left.

        own, root: the diagonals E and R. The diagonal of the matrix preconditions it; with ``level``, the
        slopes keep their sum, as an intercept wants.
        """
        diagonal = own + root**2 * self.diagonal
        diagonal = np.where(diagonal > 0, diagonal, 1.0)
        across = root / diagonal if level else np.zeros_like(root)
        length = float(root @ across)

        def eased(rest: Vector) -> Vector:
            return rest / diagonal - (across * (float(across @ rest) / length) if length > 0 else 0.0)

        here, rest = start, residual
        direction = eased(rest)
        first = size = float(rest @ direction)
        while size > 0:
            ahead = self.slopes(root * direction)
            pushed = own * direction - root * ahead.linear
            bent = float(direction @ pushed)
            if not bent > 0:
                return
            here, rest = here.moved(size / bent, ahead), rest - size / bent * pushed
            new = eased(rest)
            left = float(rest @ new)
            yield here, float(np.sqrt(max(left, 0.0) / first))
            direction, size = new + left / size * direction, left


def row_squares(X: Any, scale: Vector) -> Vector:
    """Return the squares of each row added up, times one number a column.

    >>> row_squares(np.array([[1.0, 2.0]]), np.array([1.0, 10.0]))
    array([41.])
    """
    if isinstance(X, np.ndarray):
        return np.asarray(np.einsum("ij,ij,j->i", X, X, scale), dtype=np.float64)
    if X.format == "csr":
        X = X.T  # the same arrays, by columns
        return _column_squares(X, None, scale)
    return _column_squares(X, scale, None)


def _column_squares(X: Any, by_column: Vector | None, by_row: Vector | None) -> Vector:
    """Return the squares of a CSC matrix added up by rows, or by columns, without a square of all entries."""
    step = max(1, X.shape[1] * CELLS // max(1, X.nnz))
    total = np.zeros(X.shape[1] if by_column is None else X.shape[0])
    for first in range(0, X.shape[1], step):
        ends = X.indptr[first : first + step + 1]
        some = slice(int(ends[0]), int(ends[-1]))
        squares = np.square(X.data[some], dtype=np.float64)
        piece = csc_array((squares, X.indices[some], ends - ends[0]), shape=(X.shape[0], len(ends) - 1))
        if by_column is not None:
            total += piece @ by_column[first : first + step]
        else:
            total[first : first + step] = piece.T @ by_row
    return total
