r"""Penalties with a strength, column weights and, when asked for, no negative coefficients.

.. math:: strength \sum_j weight_j \left( a |w_j| + \tfrac12 (1 - a) w_j^2 \right)

The share a is 1 for L1, 0 for L2, and in between for the elastic net.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.parameters import validate
from surefit.penalties.arrays import checked_numbers, coefficients, require_length
from surefit.penalties.base import CASE_COLUMNS, Columns
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.tabulated import Tabulated


class Weighted(Tabulated):
    """Base of L1, L2 and the elastic net.

    >>> from surefit.penalties.l1 import L1
    >>> L1(0.5, weights=[1.0, 2.0, 0.0]).table(3).l1
    array([0.5, 1. , 0. ])
    """

    strength: float
    weights: Columns | None
    positive: bool
    l1_share: float  # of the absolute value; the rest is the square's

    def _check(self) -> None:
        """Check the parameters, for the end of an ``__init__``."""
        validate(self)
        if self.weights is not None:
            checked_numbers(type(self).__name__, "weights", self.weights, low=0.0)

    def table(self, p: int) -> CoordinateTable:
        """Return the four numbers of each coefficient."""
        weights = np.ones(p) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        require_length(type(self).__name__, "weights", len(weights), p)
        levels, share = self.strength * weights, self.l1_share
        lower = np.full(p, 0.0 if self.positive else -np.inf)
        return CoordinateTable(levels * share, levels * (1 - share), lower, np.full(p, np.inf))

    def value(self, w: ArrayLike) -> float:
        """Return the sum over the coefficients; solvers ask for it at every step."""
        if self.positive or self.weights is not None:
            return super().value(w)
        flat, share = coefficients(w).ravel(), self.l1_share
        squares = 0.5 * (1 - share) * float(flat @ flat) if share < 1 else 0.0
        lengths = share * float(np.abs(flat).sum()) if share > 0 else 0.0
        return self.strength * (squares + lengths)

    def conjugate(self, u: ArrayLike) -> float:
        """Return the sum of the conjugates; certificates ask for it of many multiples of a slope."""
        if self.positive or self.weights is not None:
            return super().conjugate(u)
        size, (l1, l2) = np.abs(coefficients(u).ravel()), self._levels
        if l2 == 0:
            return 0.0 if size.max(initial=0.0) <= l1 else np.inf
        excess = np.maximum(size - l1, 0.0)
        return 0.5 * float(excess @ excess) / l2

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return the largest factor in [0, 1] that makes the conjugate finite, up to rounding."""
        if self.positive or self.weights is not None:
            return super().dual_scaling(u)
        most, (l1, l2) = float(np.abs(coefficients(u)).max(initial=0.0)), self._levels
        return 1.0 if l2 > 0 or most <= l1 else float(l1 / most * (1 - 2 * np.finfo(float).eps))

    @property
    def _levels(self) -> tuple[float, float]:
        return self.strength * self.l1_share, self.strength * (1 - self.l1_share)

    def quadratic(self, p: int) -> Vector | None:
        """Return the weights of the squares, if there is nothing else."""
        if self.positive or self.weights is not None or self.l1_share > 0:
            return super().quadratic(p)
        return np.full(p, float(self.strength))

    def largest(self, gradient_at_zero: ArrayLike) -> float:
        """Return the largest slope at zero, each divided by its column weight."""
        gradient = coefficients(gradient_at_zero)
        pull = -gradient if self.positive else np.abs(gradient)
        pull = pull.reshape(len(pull), -1).max(axis=1, initial=0.0)
        level = self.replace(strength=1.0).table(len(pull)).l1
        pulled = pull > 0
        with np.errstate(divide="ignore"):
            return float(np.max(pull[pulled] / level[pulled], initial=0.0))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        weights = rng.uniform(0.5, 2.0, size=CASE_COLUMNS)
        some_free = np.where(np.arange(CASE_COLUMNS) == 2, 0.0, weights)
        options: list[dict[str, Any]] = [
            {"strength": 0.7},
            {"strength": 1.3, "weights": weights},
            {"strength": 0.4, "weights": some_free},
            {"strength": 0.6, "weights": list(weights), "positive": True},
        ]
        for option in options:
            yield cls(**option)
