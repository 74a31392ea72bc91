"""The exponential of the city-block distance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Positive
from surefit.kernels.base import WIDE, Bounds, Kernel, NativeKernel
from surefit.kernels.rows import checked_columns, distances, result_type


class Laplacian(Kernel):
    r"""The exponential of minus the city-block distance, which makes functions with kinks.

    .. math:: k(x, y) = \exp\left( -\sum_j |x_j - y_j| / \ell \right)

    :meth:`from_gamma` takes the form :math:`\exp(-\gamma |x - y|_1)`.

    >>> Laplacian(2.0)([[1.0, 2.0]], [[3.0, 4.0]]).round(8)
    array([[0.13533528]])
    """

    name = "laplacian"
    free = ("length_scale",)

    def __init__(self, length_scale: Positive = 1.0, length_scale_bounds: Bounds = WIDE) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self._check()

    @classmethod
    def from_gamma(cls, gamma: float) -> Self:
        r"""Return :math:`\exp(-\gamma |x - y|_1)`."""
        checked_columns("Laplacian", "gamma", gamma)
        return cls(float(1 / gamma))

    @classmethod
    def named(cls, parameters: Mapping[str, Any], columns: int | None) -> Self:
        """Make it out of scikit-learn's gamma, whose default is one over the number of columns."""
        given = dict(parameters)
        if "length_scale" in given:
            return cls(**given)
        made = cls.from_gamma(given.pop("gamma", 1 / (columns or 1)))
        return made.set_params(**given)

    def _gram(self, X: Any, Y: Any) -> Matrix:
        K = distances(X, Y, "cityblock")
        K /= -float(self.length_scale)
        np.exp(K, out=K)
        return K.astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return np.ones(X.shape[0], dtype=X.dtype)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        return distances(X, None, "cityblock") / float(self.length_scale) * K

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: it does."""
        return True

    def native(self) -> NativeKernel:
        """Return what compiled code needs."""
        return NativeKernel("laplacian", gamma=1 / float(self.length_scale))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(3.0)
