"""How unequally a function bends around a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.solvers.conditions.differences import Function, hessian_with_errors


@dataclass(frozen=True, slots=True)
class Conditioning:
    """The largest and smallest size of a curvature, with the direction of the smallest."""

    largest: float
    smallest: float
    weakest: Vector

    @property
    def number(self) -> float:
        """Largest over smallest; infinite where a direction has no curvature."""
        return self.largest / self.smallest if self.smallest > 0 else np.inf


def condition_of_problem(f: Function, x: ArrayLike, gradient: Function | None = None) -> Conditioning:
    """Return the ratio of curvatures of f at x: gradient descent needs steps in proportion to it.

    That of a matrix is :class:`surefit.solvers.linalg.singular_values.SingularValues`.

    >>> round(condition_of_problem(lambda x: x[0] ** 2 + 50 * x[1] ** 2, [0.0, 0.0]).number, 6)
    50.0
    """
    bends, errors = hessian_with_errors(f, np.atleast_1d(np.array(x, dtype=np.float64)), gradient)
    values, vectors = np.linalg.eigh(bends)
    sizes = np.abs(values)
    weakest = int(np.argmin(sizes))
    # What the differences cannot tell from zero is zero.
    smallest = float(sizes[weakest]) if sizes[weakest] > np.linalg.norm(errors) else 0.0
    return Conditioning(float(sizes.max()), smallest, vectors[:, weakest])
