"""A function's polynomial of first or second order around a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Matrix, Vector
from surefit.solvers.conditions.differences import Function, numerical_gradient, numerical_hessian


@dataclass(frozen=True, slots=True)
class TaylorModel:
    """The model f(x₀) + ∇f(x₀)'h + ½h'Hh, with h = x - x₀ and H zero in the first order."""

    centre: Vector
    value: float
    gradient: Vector
    hessian: Matrix

    def __call__(self, x: ArrayLike) -> float:
        """Return the model at a point."""
        h = np.asarray(x, dtype=np.float64) - self.centre
        return float(self.value + self.gradient @ h + 0.5 * h @ self.hessian @ h)


def taylor_model(
    f: Function,
    x: ArrayLike,
    order: Literal[1, 2] = 2,
    gradient: Function | None = None,
    hessian: Function | None = None,
) -> TaylorModel:
    """Return the model of first or second order; what is not given is found by differences.

    >>> round(taylor_model(lambda x: np.exp(x[0]), [0.0])([0.1]), 6)
    1.105
    """
    point = np.atleast_1d(np.array(x, dtype=np.float64))
    slope = (
        numerical_gradient(f, point) if gradient is None else np.asarray(gradient(point), dtype=np.float64)
    )
    curved = np.zeros((len(point), len(point)))
    if order == 2:
        curved = numerical_hessian(f, point, gradient) if hessian is None else np.asarray(hessian(point))
    return TaylorModel(point, float(np.asarray(f(point)).sum()), slope, curved)
