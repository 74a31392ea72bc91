"""How much a problem stretches errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.errors import DataError
from surefit.solvers.conditions.differences import Function, Vector, numerical_hessian


@dataclass(frozen=True, slots=True)
class Conditioning:
    """The largest and smallest stretch of a matrix, with the direction of the smallest."""

    largest: float
    smallest: float
    weakest: Vector

    @property
    def number(self) -> float:
        """Largest over smallest; infinite for a singular matrix."""
        return self.largest / self.smallest if self.smallest > 0 else np.inf

    @property
    def squared(self) -> float:
        """The condition number of X'X, which normal equations and the steps of gradient descent see."""
        return self.number**2


def condition_of_matrix(X: ArrayLike) -> Conditioning:
    """Return the singular values' ratio of X; ``squared`` is that of X'X.

    >>> round(condition_of_matrix([[1.0, 0.999], [1.0, 1.001]]).number, 4)
    2000.0005
    """
    matrix = np.asarray(X, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise DataError(
            f"a matrix of finite numbers is needed, but the shape is {matrix.shape}; give rows and columns."
        )
    _, lengths, right = np.linalg.svd(matrix, full_matrices=matrix.shape[0] < matrix.shape[1])
    smallest = float(lengths[-1]) if matrix.shape[0] >= matrix.shape[1] else 0.0
    rounding = max(matrix.shape) * float(np.finfo(np.float64).eps) * float(lengths[0])
    return Conditioning(float(lengths[0]), smallest if smallest > rounding else 0.0, right[-1])


def condition_of_problem(f: Function, x: ArrayLike, gradient: Function | None = None) -> Conditioning:
    """Return the ratio of curvatures of f at x: gradient descent needs steps in proportion to it.

    >>> round(condition_of_problem(lambda x: x[0] ** 2 + 50 * x[1] ** 2, [0.0, 0.0]).number, 6)
    50.0
    """
    values, vectors = np.linalg.eigh(numerical_hessian(f, x, gradient))
    sizes = np.abs(values)
    weakest = int(np.argmin(sizes))
    return Conditioning(float(sizes.max()), float(sizes[weakest]), vectors[:, weakest])
