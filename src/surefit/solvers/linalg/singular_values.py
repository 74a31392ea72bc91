r"""A matrix taken apart into what it does to each of some orthogonal directions: :math:`X = U S V'`.

The decomposition says everything about a linear system: its rank, range and kernel, how much errors of the
data grow on the way to the solution, and the best approximation of every lower rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.solvers.linalg.principal_axes import EPS, signed


@dataclass(frozen=True, slots=True)
class SingularValues:
    r"""Left vectors :math:`u_j` and right vectors :math:`v_j` as columns, and the values, largest first.

    Of an (m, n) matrix, economy vectors are (m, r) and (n, r) with r the lesser of m and n; full ones are
    (m, m) and (n, n). The largest entry of each right vector is positive.

    >>> found = SingularValues.of([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    >>> found.values
    array([4., 3.])
    >>> found.truncated(1)
    array([[0., 0., 0.],
           [0., 4., 0.]])
    """

    left: Matrix
    values: Vector
    right: Matrix

    @classmethod
    def of(cls, X: Any, *, full: bool = False) -> SingularValues:
        """Decompose a matrix; ``full`` completes the vectors to orthonormal bases."""
        matrix = np.asarray(X, dtype=np.float64)
        if matrix.ndim != 2 or matrix.size == 0:
            raise DataError(
                f"SingularValues needs a matrix with rows and columns; X has shape {matrix.shape}."
            )
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            raise DataError(
                f"SingularValues does not support missing or infinite entries, but X[{row}, {column}] is "
                f"{matrix[row, column]}: fill or drop it."
            )
        left, values, right = linalg.svd(matrix, full_matrices=full, check_finite=False)
        turned = signed(right)
        flip = np.where((turned == right).all(axis=1), 1.0, -1.0)
        left[:, : len(values)] *= flip[: len(values)]
        return cls(left, values, np.ascontiguousarray(turned.T))

    @property
    def rank(self) -> int:
        """How many values are not rounding of 0."""
        cut = 8 * max(len(self.left), len(self.right)) * EPS * self.values[0]
        return int((self.values > cut).sum())

    @property
    def condition(self) -> float:
        r""":math:`\kappa(X) = \sigma_1 / \sigma_r`, largest over smallest; infinite for a rank below r."""
        if self.rank < len(self.values):
            return np.inf
        return float(self.values[0] / self.values[-1])

    @property
    def gram_condition(self) -> float:
        r"""The condition number of :math:`X'X`, which some texts mean by that of X: the square of it."""
        return self.condition**2

    def ridge_condition(self, alpha: float) -> float:
        r"""Return :math:`\sqrt{(\sigma_1^2 + \alpha) / (\sigma_r^2 + \alpha)}`, that of X above √α I.

        It is what ridge regression solves with; the condition number of X'X + αI is its square.

        >>> round(SingularValues.of([[2.0, 0.0], [0.0, 0.001]]).ridge_condition(1.0), 6)
        2.236067
        """
        if not 0 <= alpha < np.inf:
            raise ParameterError(f"alpha={alpha!r} must be a number of at least 0.")
        if alpha == 0:
            return self.condition
        low = self.values[-1] if len(self.values) == len(self.right) else 0.0
        return float(np.hypot(self.values[0], np.sqrt(alpha)) / np.hypot(low, np.sqrt(alpha)))

    @property
    def amplification(self) -> float:
        r""":math:`1 / \sigma_r`: an error of y moves the solution of least squares by this much at most."""
        return 1 / float(self.values[-1]) if self.rank == len(self.values) else np.inf

    @property
    def range(self) -> Matrix:
        """An orthonormal basis of all Xw, as columns."""
        return self.left[:, : self.rank]

    @property
    def kernel(self) -> Matrix:
        """An orthonormal basis of all w with Xw = 0, as columns."""
        basis, _ = linalg.qr(self.right[:, : self.rank], mode="full")
        return np.ascontiguousarray(basis[:, self.rank :])

    def product(self, w: Any) -> Matrix:
        r"""Return :math:`Xw = \sum_j \sigma_j u_j \langle v_j, w \rangle`."""
        U, V = self._economy()
        return U @ _scaled(self.values, V.T @ np.asarray(w))

    def transposed_product(self, y: Any) -> Matrix:
        r"""Return :math:`X'y = \sum_j \sigma_j v_j \langle u_j, y \rangle`."""
        U, V = self._economy()
        return V @ _scaled(self.values, U.T @ np.asarray(y))

    def gram_product(self, w: Any) -> Matrix:
        r"""Return :math:`X'Xw = \sum_j \sigma_j^2 v_j \langle v_j, w \rangle`."""
        _, V = self._economy()
        return V @ _scaled(self.values**2, V.T @ np.asarray(w))

    def gram_solution(self, b: Any) -> Matrix:
        r"""Return :math:`(X'X)^{-1} b = \sum_j \sigma_j^{-2} v_j \langle v_j, b \rangle`."""
        _, V = self._economy()
        if self.rank < len(self.right):
            raise RefusalError(
                f"X'X has rank {self.rank} of {len(self.right)}, so it has no inverse: "
                "take LinearRegression for the shortest solution, or Ridge."
            )
        return V @ _scaled(self.values**-2, V.T @ np.asarray(b))

    def factors(self, k: int | None = None) -> tuple[Matrix, Matrix]:
        r"""Return W, (m, k), and Z, (n, k), with WZ' the best of rank k: orthonormal U, and V times S.

        Any k can be chosen afterwards; all of them give X itself.
        """
        count = len(self.values) if k is None else k
        if not 1 <= count <= len(self.values):
            raise ParameterError(f"factors: k={k!r} must be between 1 and {len(self.values)}.")
        return self.left[:, :count].copy(), self.right[:, :count] * self.values[:count]

    def truncated(self, k: int) -> Matrix:
        r"""Return the matrix of rank k closest to X, off by :math:`\sum_{j > k} \sigma_j^2` in squares."""
        W, Z = self.factors(k)
        product: Matrix = W @ Z.T
        return product

    def _economy(self) -> tuple[Matrix, Matrix]:
        count = len(self.values)
        return self.left[:, :count], self.right[:, :count]


def _scaled(factors: Vector, inner: Any) -> Matrix:
    """Multiply each entry, or each row of several columns, by its factor."""
    found: Matrix = factors * inner if inner.ndim == 1 else factors[:, None] * inner
    return found
