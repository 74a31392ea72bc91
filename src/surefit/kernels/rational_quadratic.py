"""A mixture of Gaussian kernels of all widths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Positive
from surefit.kernels.base import WIDE, Bounds, Kernel
from surefit.kernels.rows import result_type, squared_distances


class RationalQuadratic(Kernel):
    r"""Gaussian kernels of many widths, mixed: near rows and far ones count on their own scales.

    .. math:: k(x, y) = \left( 1 + \frac{|x - y|^2}{2 \alpha \ell^2} \right)^{-\alpha}

    >>> RationalQuadratic()([[0.0]], [[2.0]]).round(6)
    array([[0.333333]])
    """

    name = "rational_quadratic"
    free = ("alpha", "length_scale")

    def __init__(
        self,
        length_scale: Positive = 1.0,
        alpha: Positive = 1.0,
        length_scale_bounds: Bounds = WIDE,
        alpha_bounds: Bounds = WIDE,
    ) -> None:
        self.length_scale = length_scale
        self.alpha = alpha
        self.length_scale_bounds = length_scale_bounds
        self.alpha_bounds = alpha_bounds
        self._check()

    def _squares(self, X: Any, Y: Any) -> Matrix:
        return squared_distances(X, Y) / self.length_scale**2

    def _gram(self, X: Any, Y: Any) -> Matrix:
        K = np.exp(-self.alpha * np.log1p(self._squares(X, Y) / (2 * self.alpha)))
        return K.astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return np.ones(X.shape[0], dtype=X.dtype)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        squares = self._squares(X, None)
        base = 1 + squares / (2 * self.alpha)
        if name == "length_scale":
            return squares * K / base
        return np.asarray(K * (squares / (2 * base) - self.alpha * np.log(base)))

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: it does."""
        return True

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(0.6, 2.5)
