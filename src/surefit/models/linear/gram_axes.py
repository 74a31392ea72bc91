r"""The squares of columns in the basis in which they are orthogonal, whatever units the columns come in.

Eigenvalues of :math:`X'X` are known to the rounding of the largest, so that one column in units of 1e8 hides
all others. Columns of one length have :math:`D^{-1} X'X D^{-1} = F'F`, which rounds no column for another's
sake, and Jacobi's method finds the singular values of :math:`FD` each to its own digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.models.linear.evidence import Sums

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

UNIT = float(np.finfo(float).eps)
ALIKE = 100.0  # of lengths: so close, their squares round alike, and plain eigenvalues keep twelve digits
BY_ROWS_AND_COLUMNS = 2  # dgejsv's 'F': digits of D C E, both of any size, are those of C
NO_VECTORS = 3


@dataclass(frozen=True, slots=True)
class Axes:
    """Sums where columns are orthogonal: squared lengths, and products with y.

    rest: the squares of y that no coefficients explain. vectors: the axes; None where units are unlike, which
    would hide small entries of theirs, and coefficients are solved for instead.

    >>> sums = Sums(np.diag([4.0, 1e20]), np.array([2.0, 1e10]), 3.0, 5.0, 0.6)
    >>> axes = Axes.of(sums)
    >>> axes.values, axes.rest, axes.coef(0.0)
    (array([1.e+20, 4.e+00]), 1.0, array([5.e-01, 1.e-10]))
    """

    values: Vector
    pulls: Vector
    rest: float
    sums: Sums
    vectors: Matrix | None

    @classmethod
    def of(cls, sums: Sums) -> Axes:
        """Find the axes."""
        lengths = np.sqrt(np.maximum(np.diagonal(sums.gram), 0.0))
        some = lengths[lengths > 0]
        if not len(some) or some.max() <= ALIKE * some.min():
            return cls._of_like_units(sums)
        p = len(lengths)
        lengths[lengths == 0] = 1.0
        values, vectors = np.linalg.eigh(sums.gram / lengths[:, None] / lengths)
        real = values > p * UNIT * values[-1]  # below it, columns depend on each other
        factor = np.sqrt(values[real])[:, None] * vectors[:, real].T
        sva, _, turn, work, _, failed = linalg.lapack.dgejsv(
            np.asfortranarray((factor * lengths).T), joba=BY_ROWS_AND_COLUMNS, jobu=NO_VECTORS
        )
        if failed:
            return cls._of_like_units(sums)
        sizes = sva * (work[0] / work[1])
        within = (vectors[:, real] / np.sqrt(values[real])).T @ (sums.cross / lengths)  # y along F's rows
        found, pulls = np.zeros((2, p))
        found[: len(sizes)], pulls[: len(sizes)] = sizes**2, sizes * (turn.T @ within)
        return cls(found, pulls, max(sums.squares - float(within @ within), 0.0), sums, None)

    @classmethod
    def _of_like_units(cls, sums: Sums) -> Axes:
        values, vectors = np.linalg.eigh(sums.gram)
        # Eigenvalues are known to this part of the largest; below it they, and what hangs on them, are noise.
        real = values > len(values) * UNIT * values[-1:]
        values, pulls = np.where(real, values, 0.0), np.where(real, vectors.T @ sums.cross, 0.0)
        explained = float(np.sum(pulls[real] ** 2 / values[real]))
        return cls(values, pulls, max(sums.squares - explained, 0.0), sums, vectors)

    def coef(self, penalty: float) -> Vector:
        """Return the coefficients of ridge."""
        if self.vectors is not None:
            square = self.values + penalty
            return self.vectors @ np.divide(self.pulls, square, out=np.zeros_like(square), where=square > 0)
        root = self._inverse_root(1.0, penalty)
        return np.asarray(root @ (root.T @ self.sums.cross))

    def inverse(self, alpha: float, lam: float) -> Matrix:
        """Return the inverse of alpha X'X + lam I."""
        if self.vectors is not None:
            return (self.vectors / (lam + alpha * self.values)) @ self.vectors.T
        root = self._inverse_root(alpha, lam)
        return np.asarray(root @ root.T)

    def _inverse_root(self, alpha: float, lam: float) -> Matrix:
        """Return R with RR' the inverse of alpha X'X + lam I, in the units of each column."""
        square = alpha * self.sums.gram
        square.flat[:: len(square) + 1] += lam
        size = np.sqrt(np.diagonal(square))
        values, vectors = np.linalg.eigh(square / size[:, None] / size)
        values = np.maximum(values, len(values) * UNIT * values[-1])
        return np.asarray(vectors / np.sqrt(values) / size[:, None])
