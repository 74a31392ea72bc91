"""The hyperbolic tangent of a shifted inner product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Positive
from surefit.kernels.base import WIDE, Bounds, Kernel, NativeKernel
from surefit.kernels.rows import dots, result_type, squared_norms


class Tanh(Kernel):
    r"""The hyperbolic tangent of a shifted inner product, scikit-learn's "sigmoid"; indefinite.

    .. math:: k(x, y) = \tanh(\gamma \, x'y + c_0)

    >>> Tanh(gamma=0.1)([[1.0, 2.0]], [[3.0, 4.0]]).round(6)
    array([[0.970452]])
    """

    name = "tanh"
    mercer = False
    free = ("gamma",)

    def __init__(self, gamma: Positive = 1.0, coef0: float = 1.0, *, gamma_bounds: Bounds = WIDE) -> None:
        self.gamma = gamma
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds
        self._check()

    @classmethod
    def named(cls, parameters: Mapping[str, Any], columns: int | None) -> Self:
        """Make it out of scikit-learn's gamma and coef0."""
        return cls(**{"gamma": 1 / (columns or 1), **parameters})

    def _gram(self, X: Any, Y: Any) -> Matrix:
        K = self.gamma * dots(X, Y) + self.coef0
        return np.tanh(K).astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        K = self.gamma * squared_norms(X) + self.coef0
        return np.tanh(K).astype(X.dtype, copy=False)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        inner = self.gamma * dots(X, None)
        return np.asarray(inner / np.cosh(np.clip(inner + self.coef0, -300, 300)) ** 2)

    def native(self) -> NativeKernel:
        """Return what compiled code needs."""
        return NativeKernel("sigmoid", float(self.gamma), float(self.coef0))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(0.3, -0.2)
