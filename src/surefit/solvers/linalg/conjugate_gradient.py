r"""Conjugate gradients on the normal equations, for matrices too large to form them.

Solves :math:`(X'SX + \lambda I) w = X'Sy` for centred columns, with products by X and X' alone (the method
is known as CGLS). Each target is a system of its own; all of them go through X together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefit.core.arrays import Matrix, Vector


@dataclass(frozen=True, slots=True)
class IterativeSolution:
    """Coefficients (p, k), the relative residual of the normal equations for each target, and the
    iterations.
    """

    coef: Matrix
    residual: Vector
    iterations: int


def conjugate_gradients(
    forward: Callable[[Matrix], Matrix],
    backward: Callable[[Matrix], Matrix],
    Y: Matrix,
    strength: Vector,
    *,
    tolerance: float,
    limit: int,
    record: Callable[[float], bool] | None = None,
) -> IterativeSolution:
    """Run until every normal-equation residual is below ``tolerance`` times its start.

    ``forward`` multiplies by X, ``backward`` by X'; ``strength`` is one number a target. ``record`` is told
    the largest relative residual of each iteration, and may answer that it is enough.
    """
    residual = Y.copy()
    gradient = backward(residual)
    coef = np.zeros_like(gradient)
    start = np.linalg.norm(gradient, axis=0)
    scale = np.where(start > 0, start, 1.0)
    direction = gradient.copy()
    size = (gradient * gradient).sum(axis=0)
    iterations = 0
    while iterations < limit:
        iterations += 1
        product = forward(direction)
        curvature = (product * product).sum(axis=0) + strength * (direction * direction).sum(axis=0)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0)
        coef += step * direction
        residual -= step * product
        gradient = backward(residual) - strength * coef
        new = (gradient * gradient).sum(axis=0)
        worst = float((np.sqrt(new) / scale).max(initial=0.0))
        if (record is not None and record(worst)) or worst <= tolerance:
            break
        direction = gradient + np.divide(new, size, out=np.zeros_like(new), where=size > 0) * direction
        size = new
    return IterativeSolution(coef, np.linalg.norm(gradient, axis=0) / scale, iterations)
