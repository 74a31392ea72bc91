"""Noise: every object is like itself alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Positive
from surefit.kernels.base import WIDE, Bounds, Kernel, float_type, length


class WhiteKernel(Kernel):
    """Independent noise: the noise level for a row with itself, 0 for any other, equal ones included.

    >>> WhiteKernel(0.5)([[1.0], [2.0]])
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    name = "white"
    takes = "objects"
    free = ("noise_level",)

    def __init__(self, noise_level: Positive = 1.0, noise_level_bounds: Bounds = WIDE) -> None:
        self.noise_level = noise_level
        self.noise_level_bounds = noise_level_bounds
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        if Y is None:
            return float(self.noise_level) * np.eye(length(X), dtype=float_type(X))
        return np.zeros((length(X), length(Y)), dtype=np.result_type(float_type(X), float_type(Y)))

    def _diagonal(self, X: Any) -> Vector:
        return np.full(length(X), float(self.noise_level), dtype=float_type(X))

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        return K

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: it does."""
        return True

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(0.5)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n rows."""
        return rng.normal(size=(n, 2))
