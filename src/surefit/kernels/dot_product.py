"""The inner product with an offset, as Gaussian processes call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import NonNegative
from surefit.kernels.base import WIDE, Bounds, Kernel
from surefit.kernels.rows import dots, result_type, squared_norms


class DotProduct(Kernel):
    r"""The inner product and an offset: lines, whose height at 0 varies by sigma_0.

    .. math:: k(x, y) = \sigma_0^2 + x'y

    >>> DotProduct(2.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[15.]])
    """

    name = "dot_product"
    free = ("sigma_0",)

    def __init__(self, sigma_0: NonNegative = 1.0, sigma_0_bounds: Bounds = WIDE) -> None:
        self.sigma_0 = sigma_0
        self.sigma_0_bounds = sigma_0_bounds
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        return (dots(X, Y) + self.sigma_0**2).astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return (squared_norms(X) + self.sigma_0**2).astype(X.dtype, copy=False)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        return np.full(K.shape, 2.0 * self.sigma_0**2)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(0.0)
