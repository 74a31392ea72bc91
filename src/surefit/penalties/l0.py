"""A price for each coefficient that is not zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.parameters import validate
from surefit.penalties.arrays import coefficients, in_type_of
from surefit.penalties.base import Array, Penalty, Strength


class L0(Penalty):
    r"""Best subset's penalty, :math:`strength \cdot \#\{j : w_j \ne 0\}`: not convex.

    Every choice of zeros is stationary, so ``subdifferential_distance`` speaks for the other coefficients
    alone. The strength at which all are zero depends on the loss's curvature too, so there is no ``largest``.

    >>> L0(2.0).prox([3.0, -2.0, 0.5], step=1.0)
    array([3., 0., 0.])
    """

    name = "l0"
    convex: ClassVar[bool] = False
    separable: ClassVar[bool] = True

    def __init__(self, strength: Strength = 1.0) -> None:
        self.strength = strength
        validate(self)

    def value(self, w: ArrayLike) -> float:
        """Return the strength times the number of coefficients that are not zero."""
        return float(self.strength * np.count_nonzero(coefficients(w)))

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the hard threshold: what is worth its price stays as it is."""
        given, v = v, coefficients(v)
        return in_type_of(np.where(v**2 > 2 * step * self.strength, v, 0.0), given)

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return the size of the gradient where a coefficient is not zero, and 0 elsewhere."""
        return np.where(coefficients(w) != 0, np.abs(coefficients(gradient)), 0.0)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(0.5)
        yield cls(2.0)
