"""A penalty that is known by its coordinate table, and owes everything else to it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from surefit.penalties.arrays import axes, coefficients, in_type_of
from surefit.penalties.base import Array, Penalty
from surefit.penalties.coordinate_table import CoordinateTable


class Tabulated(Penalty):
    """Base of the penalties whose ``table`` says all: convex, and one coefficient at a time.

    >>> from surefit.penalties.nonnegative import NonNegative
    >>> NonNegative().prox([-1.0, 2.0], step=1.0)
    array([0., 2.])
    """

    separable: ClassVar[bool] = True

    @abstractmethod
    def table(self, p: int) -> CoordinateTable:
        """Return the penalty of each of the p coefficients."""

    def value(self, w: ArrayLike) -> float:
        """Return the sum over the coefficients."""
        w = coefficients(w)
        return self.table(len(w)).value(w)

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the proximal point, one coefficient at a time."""
        given, v = v, coefficients(v)
        return in_type_of(self.table(len(v)).prox(v, step), given)

    def conjugate(self, u: ArrayLike) -> float:
        """Return the sum of the conjugates."""
        u = coefficients(u)
        return self.table(len(u)).conjugate(u)

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return the factor that brings ``u`` into the conjugate's domain."""
        u = coefficients(u)
        return self.table(len(u)).dual_scaling(u)

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return the distance of each entry of ``-gradient`` to its interval."""
        w = coefficients(w)
        return self.table(len(w)).subdifferential_distance(w, np.asarray(gradient, dtype=np.float64))

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the axes of the coefficients that nothing bends or bounds on the side of their slope."""
        return axes(self.table(p).free(None if slope is None else coefficients(slope)))

    def quadratic(self, p: int) -> Array | None:
        """Return the weights of the squares, if there is nothing else."""
        table = self.table(p)
        bounded = np.isfinite(table.lower) | np.isfinite(table.upper)
        return None if table.l1.any() or bounded.any() else table.l2
