r"""Dual coordinate descent: one slope a row, and the coefficients that the slopes make.

.. math:: \min_{low \le u \le high} \sum_i s_i \left( u_i\, at_i + tube\, |u_i| + \tfrac{bend}2 u_i^2 \right)
          + \tfrac{strength}2 |w|^2, \qquad w = - X'Su / strength
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, matrix_arguments, row_weights


@dataclass(frozen=True, slots=True)
class DualPlan:
    """The conjugates of all rows alike, and the weight of the squared coefficients, above 0."""

    tube: float
    bend: float
    strength: float


def dual_cd(
    X: Any,
    at: Vector,
    low: Vector,
    high: Vector,
    plan: DualPlan,
    u: Vector,
    w: Vector,
    *,
    weight: Any = None,
    tolerance: float,
    most: int,
    seed: int = 0,
) -> tuple[int, float]:
    """Change slopes ``u`` and coefficients ``w``, which belong together, one row at a time, in random order.

    Returns the epochs and how far the worst score was from where its slope wants it. X is dense in C order or
    CSR.

    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    >>> u, w = np.zeros(2), np.zeros(1)
    >>> dual_cd(X, y, np.minimum(-y, 0), np.maximum(-y, 0), DualPlan(0, 0, 4), u, w, tolerance=0, most=9)
    (2, 0.0)
    >>> u, w
    (array([-1.,  1.]), array([0.5]))
    """
    native = compiled()
    if native is None:
        return dual_cd_twin(X, at, low, high, plan, u, w, weight=weight, tolerance=tolerance, most=most)
    suffix, arguments = matrix_arguments(X)
    numbers = np.array([plan.tube, plan.bend, plan.strength, tolerance], dtype=np.float64)
    rows = row_weights(at), row_weights(low), row_weights(high), row_weights(weight)
    found = getattr(native, f"dual_cd{suffix}")(*arguments, *rows, numbers, u, w, most, seed)
    return int(found[0]), float(found[1])


def dual_cd_twin(
    X: Any,
    at: Vector,
    low: Vector,
    high: Vector,
    plan: DualPlan,
    u: Vector,
    w: Vector,
    *,
    weight: Any = None,
    tolerance: float,
    most: int,
) -> tuple[int, float]:
    """Do the same row after row."""
    Z = float64_rows(X)
    s = np.ones(len(Z)) if weight is None else np.asarray(weight, dtype=np.float64)
    h = s * np.einsum("ij,ij->i", Z, Z) / plan.strength
    worst = np.inf
    for epoch in range(most):
        worst = 0.0
        for i, row in enumerate(Z):
            slope = float(row @ w) - at[i] + h[i] * u[i]
            shrunk = np.sign(slope) * max(abs(slope) - plan.tube, 0.0)
            bend = h[i] + plan.bend
            wanted = shrunk / bend if bend > 0 else np.sign(shrunk) * np.inf if shrunk else u[i]
            new = min(max(wanted, low[i]), high[i])
            if np.isfinite(new):
                worst = max(worst, abs(new - u[i]) * bend)
                w -= s[i] * (new - u[i]) / plan.strength * row
                u[i] = new
        if worst <= tolerance:
            return epoch + 1, worst
    return most, worst
