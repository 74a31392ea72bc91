"""Whether a formula for the gradient is the gradient of the function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.solvers.conditions.differences import Function, jacobian_with_errors


@dataclass(frozen=True, slots=True)
class GradientCheck:
    """Both gradients, and the coordinate where they differ most beyond what differences can tell."""

    given: Vector
    numerical: Vector
    worst: int
    error: float  # at the worst coordinate, relative to the larger of the two and to the longest slope
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether no coordinate differs by more than the tolerance."""
        return self.error <= self.tolerance

    @property
    def statement(self) -> str:
        """One English sentence."""
        j = self.worst
        verdict = "agrees with" if self.holds else "DIFFERS from"
        return (
            f"The gradient {verdict} the differences: at worst, coordinate {j} is {self.given[j]:.6g} by the "
            f"formula and {self.numerical[j]:.6g} by differences, a relative error of {self.error:.2g}."
        )

    def __str__(self) -> str:
        return self.statement


def check_gradient(f: Function, gradient: Function, x: ArrayLike, tolerance: float = 1e-6) -> GradientCheck:
    """Compare a formula with differences, coordinate by coordinate.

    >>> check = check_gradient(lambda x: x @ x, lambda x: 2 * x * [1.0, 1.1], [1.0, 2.0])
    >>> check.holds, check.worst
    (False, 1)
    """
    point = np.atleast_1d(np.array(x, dtype=np.float64))
    given = np.asarray(gradient(point.copy()), dtype=np.float64).ravel()
    slopes, errors = jacobian_with_errors(f, point)
    if slopes.shape[0] != 1 or given.shape != point.shape:
        raise DataError(
            f"the function returns {slopes.shape[0]} numbers and the gradient {given.size}; "
            f"give one number and {point.size}."
        )
    # What the differences themselves cannot tell apart is no error of the formula.
    apart = np.maximum(np.abs(given - slopes[0]) - 2 * errors[0], 0.0)
    size = np.maximum(np.maximum(np.abs(given), np.abs(slopes[0])), 1e-3 * np.abs(slopes[0]).max())
    relative = np.divide(apart, size, out=np.zeros_like(apart), where=apart > 0)
    relative[~np.isfinite(given)] = np.inf
    worst = int(np.argmax(relative))
    return GradientCheck(given, slopes[0], worst, float(relative[worst]), tolerance)
