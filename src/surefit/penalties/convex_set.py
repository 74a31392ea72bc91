"""A closed convex set as a penalty: the proximal step is its projection, the conjugate its support."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.penalties.arrays import coefficients, in_type_of, rounding
from surefit.penalties.base import Array, Penalty


class ConvexSet(Penalty):
    """Base of the sets that tie coefficients together; each column of a matrix must lie in the set by itself.

    >>> from surefit.penalties.simplex import Simplex
    >>> Simplex().prox([0.5, 0.9], step=1.0)
    array([0.3, 0.7])
    """

    constraint: ClassVar[bool] = True

    @abstractmethod
    def project(self, v: Vector) -> Vector:
        """Return the nearest point of the set to each column of a p × K matrix, in a new array."""

    @abstractmethod
    def contains(self, w: Vector, eps: float) -> bool:
        """Whether each column of a p × K matrix is in the set, up to roundings of relative size ``eps``."""

    @abstractmethod
    def support(self, u: Vector) -> float:
        """Return the sum over the columns of the largest inner product with a point of the set."""

    def value(self, w: ArrayLike) -> float:
        """Return 0 in the set, up to rounding, and infinity elsewhere."""
        return 0.0 if self.contains(_columns(coefficients(w)), rounding(w)) else np.inf

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the projection, whatever the step."""
        flat = coefficients(v)
        return in_type_of(self.project(_columns(flat)).reshape(flat.shape), v)

    def conjugate(self, u: ArrayLike) -> float:
        """Return the support function."""
        return float(self.support(_columns(coefficients(u))))

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return 1 where the support function is finite; scaling does not help elsewhere."""
        return 1.0 if self.conjugate(u) < np.inf else 0.0


def _columns(w: Vector) -> Vector:
    return w.reshape(len(w), -1)
