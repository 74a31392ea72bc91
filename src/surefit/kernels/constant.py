"""The same value for every pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import NonNegative
from surefit.kernels.base import WIDE, Bounds, Kernel, float_type, length


class Constant(Kernel):
    """The same number for every pair, k(x, y) = c: a factor in a product, an offset in a sum.

    >>> Constant(2.0)([[1.0], [5.0]])
    array([[2., 2.],
           [2., 2.]])
    """

    name = "constant"
    takes = "objects"
    free = ("constant_value",)

    def __init__(self, constant_value: NonNegative = 1.0, constant_value_bounds: Bounds = WIDE) -> None:
        self.constant_value = constant_value
        self.constant_value_bounds = constant_value_bounds
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        kind = np.result_type(float_type(X), float_type(X if Y is None else Y))
        return np.full((length(X), length(X if Y is None else Y)), float(self.constant_value), dtype=kind)

    def _diagonal(self, X: Any) -> Vector:
        return np.full(length(X), float(self.constant_value), dtype=float_type(X))

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        return K

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: it does."""
        return True

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(2.5)
        yield cls(0.0)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n rows."""
        return rng.normal(size=(n, 2))
