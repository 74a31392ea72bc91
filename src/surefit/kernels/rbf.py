"""The Gaussian kernel: one width, or one a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import comb, factorial
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Positive
from surefit.kernels.base import CASE_COLUMNS, WIDE, Bounds, Kernel, NativeKernel
from surefit.kernels.polynomial import monomials, refuse_many
from surefit.kernels.rows import (
    Columns,
    checked_columns,
    one_a_column,
    result_type,
    scaled_columns,
    squared_distances,
    squared_norms,
)


class RBF(Kernel):
    r"""The Gaussian of the distance, with one length scale or one a column.

    .. math:: k(x, y) = \exp\left( -\tfrac12 \sum_j (x_j - y_j)^2 / \ell_j^2 \right)

    A long length scale makes a smooth function; with one a column, a very long one leaves that column out.
    :meth:`from_gamma` takes the form :math:`\exp(-\gamma |x - y|^2)`. Its feature space is infinite.

    >>> RBF(length_scale=1.0)([[1.0, 2.0]], [[3.0, 4.0]]).round(10)
    array([[0.01831564]])
    """

    name = "rbf"
    free = ("length_scale",)

    def __init__(self, length_scale: Positive | Columns = 1.0, length_scale_bounds: Bounds = WIDE) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self._check()

    def _check(self) -> None:
        super()._check()
        checked_columns(type(self).__name__, "length_scale", self.length_scale)

    @classmethod
    def from_gamma(cls, gamma: float) -> Self:
        r"""Return :math:`\exp(-\gamma |x - y|^2)`.

        >>> float(RBF.from_gamma(0.5)([[0.0]], [[2.0]])[0, 0]) == float(np.exp(-2))
        True
        """
        checked_columns("RBF", "gamma", gamma)
        return cls(float((0.5 / gamma) ** 0.5))

    @classmethod
    def from_denominator(cls, gamma: float) -> Self:
        r"""Return :math:`\exp(-|x - y|^2 / \gamma)`, where gamma divides.

        >>> RBF.from_denominator(2.0)([[0.0]], [[2.0]]).round(10)
        array([[0.13533528]])
        """
        checked_columns("RBF", "gamma", gamma)
        return cls(float((gamma / 2) ** 0.5))

    @classmethod
    def named(cls, parameters: Mapping[str, Any], columns: int | None) -> Self:
        """Make it out of scikit-learn's gamma, whose default is one over the number of columns."""
        given = dict(parameters)
        if "length_scale" in given:
            return cls(**given)
        made = cls.from_gamma(given.pop("gamma", 1 / (columns or 1)))
        return made.set_params(**given)

    def _scaled_squares(self, X: Any, Y: Any) -> Matrix:
        scale = np.asarray(self.length_scale, dtype=np.float64)
        if scale.ndim == 0:
            return squared_distances(X, Y) / scale**2
        scale = one_a_column("RBF", "length_scale", scale, X.shape[1])
        return squared_distances(
            scaled_columns(X, 1 / scale), None if Y is None else scaled_columns(Y, 1 / scale)
        )

    def _gram(self, X: Any, Y: Any) -> Matrix:
        K = self._scaled_squares(X, Y)
        K *= -0.5
        np.exp(K, out=K)
        return K.astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return np.ones(X.shape[0], dtype=X.dtype)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        scale = np.asarray(self.length_scale, dtype=np.float64)
        if scale.size == 1:
            return self._scaled_squares(X, None) * K
        columns = [squared_distances(X[:, [j]], None) / scale[j] ** 2 * K for j in range(len(scale))]
        return np.stack(columns, axis=2)

    def features(self, X: Any, orders: int = 15) -> Matrix:
        r"""Return the first features of the infinitely many: those of the Taylor series of exp(x'y).

        .. math:: \phi_k(x) = e^{-x^2 / 2\ell^2} (x / \ell)^k / \sqrt{k!}, \quad k = 0, 1, \dots

        With several columns there is a feature for each product of powers, of a total below ``orders``.

        >>> phi = RBF.from_gamma(1.0).features([[0.5], [0.3]], orders=15)
        >>> float((phi[0] @ phi[1]).round(8))
        0.96078944
        """
        rows = self._inputs(X)
        dense = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
        refuse_many(comb(dense.shape[1] + orders - 1, orders - 1))
        scaled = dense / one_a_column("RBF", "length_scale", np.asarray(self.length_scale), dense.shape[1])
        height = np.exp(-0.5 * squared_norms(scaled))[:, None]
        return height * np.hstack([monomials(scaled, k) / factorial(k) ** 0.5 for k in range(orders)])

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: it does."""
        return True

    def native(self) -> NativeKernel:
        """Return what compiled code needs."""
        scale = np.asarray(self.length_scale, dtype=np.float64)
        if scale.size == 1:
            return NativeKernel("rbf", gamma=float(0.5 / scale.ravel()[0] ** 2))
        return NativeKernel("rbf", gamma=0.5, scale=1 / scale)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(0.4)
        yield cls(rng.uniform(0.5, 2.0, size=CASE_COLUMNS))
        yield cls([1.0, 2.0, 3.0], "fixed")
