"""The periodic kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Positive
from surefit.kernels.base import WIDE, Bounds, Kernel
from surefit.kernels.rows import checked_columns, distances, result_type


class ExpSineSquared(Kernel):
    r"""The Gaussian of a sine of the distance, for what repeats itself after every period p.

    .. math:: k(x, y) = \exp\left( -2 \left( \sin(\pi |x - y| / p) / \ell \right)^2 \right)

    The square belongs to the sine over the length; without it, values exceed 1. It is positive semi-definite
    in one column; not declared so, as with several columns the distance of rows does not keep that.
    :meth:`from_frequency` takes one over the period.

    >>> ExpSineSquared(periodicity=2.0)([[0.0]], [[2.0], [1.0]]).round(8)
    array([[1.        , 0.13533528]])
    """

    name = "exp_sine_squared"
    mercer = False
    free = ("length_scale", "periodicity")

    def __init__(
        self,
        length_scale: Positive = 1.0,
        periodicity: Positive = 1.0,
        length_scale_bounds: Bounds = WIDE,
        periodicity_bounds: Bounds = WIDE,
    ) -> None:
        self.length_scale = length_scale
        self.periodicity = periodicity
        self.length_scale_bounds = length_scale_bounds
        self.periodicity_bounds = periodicity_bounds
        self._check()

    @classmethod
    def from_frequency(cls, frequency: float, length_scale: float = 1.0) -> Self:
        r"""Return :math:`\exp(-2 (\sin(\pi f |x - y|) / \ell)^2)`."""
        checked_columns("ExpSineSquared", "frequency", frequency)
        return cls(length_scale, float(1 / frequency))

    def _gram(self, X: Any, Y: Any) -> Matrix:
        K = np.sin(np.pi / self.periodicity * distances(X, Y)) / self.length_scale
        return np.exp(-2 * K**2).astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return np.ones(X.shape[0], dtype=X.dtype)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        angle = np.pi / self.periodicity * distances(X, None)
        scale = 4 / self.length_scale**2
        if name == "length_scale":
            return scale * np.sin(angle) ** 2 * K
        return np.asarray(scale * np.sin(angle) * np.cos(angle) * angle * K)

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: it does."""
        return True

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(0.7, 2.5)
