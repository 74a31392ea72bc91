"""Sigmoids of a shifted inner product, which are no kernels in the strict sense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy.special import expit

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Positive
from surefit.kernels.base import WIDE, Bounds, Kernel
from surefit.kernels.rows import dots, result_type, squared_norms


class Logistic(Kernel):
    r"""The logistic function of a shifted inner product; indefinite, so that no feature space belongs to it.

    .. math:: k(x, y) = 1 / (1 + \exp(-(x'y + b) / \sigma^2))

    >>> kernel = Logistic()
    >>> np.linalg.eigvalsh(kernel([[1.0], [2.0], [3.0]])).round(8)
    array([-0.09725781,  0.00921937,  2.80098742])
    """

    name = "logistic"
    mercer = False
    free = ("sigma",)

    def __init__(self, sigma: Positive = 1.0, offset: float = 0.0, *, sigma_bounds: Bounds = WIDE) -> None:
        self.sigma = sigma
        self.offset = offset
        self.sigma_bounds = sigma_bounds
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        scores = (dots(X, Y) + self.offset) / self.sigma**2
        return np.asarray(expit(scores)).astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        scores = (squared_norms(X) + self.offset) / self.sigma**2
        return np.asarray(expit(scores)).astype(X.dtype, copy=False)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        scores = (dots(X, None) + self.offset) / self.sigma**2
        return np.asarray(-2 * scores * expit(scores) * expit(-scores))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(1.7, -0.4)
