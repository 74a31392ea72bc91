r"""Dual coordinate descent for the hinge of all classes at once, K slopes a row.

.. math:: \min_a \tfrac12 \sum_k |w_k|^2 + \sum_i \sum_{k \ne y_i} a_{ik}, \quad w_k = \sum_i a_{ik} x_i,
          \quad \sum_k a_{ik} = 0, \quad a_{ik} \le cost_i [k = y_i]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, matrix_arguments, row_weights


def class_dual_cd(
    X: Any,
    y: NDArray[np.int64],
    cost: Vector,
    a: Matrix,
    w: Matrix,
    *,
    tolerance: float,
    most: int,
    seed: int = 0,
) -> tuple[int, float]:
    """Change slopes ``a`` (n, K) and coefficients ``w`` (K, p), which belong together, one row at a time.

    Returns the epochs, and by how much the worst score moved in the last. X is dense in C order or CSR.

    >>> X, y = np.array([[1.0], [-1.0]]), np.array([0, 1])
    >>> a, w = np.zeros((2, 2)), np.zeros((2, 1))
    >>> class_dual_cd(X, y, np.ones(2), a, w, tolerance=0.0, most=9)
    (2, 0.0)
    >>> w.ravel()
    array([ 0.5, -0.5])
    """
    native = compiled()
    if native is None:
        return class_dual_cd_twin(X, y, cost, a, w, tolerance=tolerance, most=most)
    suffix, arguments = matrix_arguments(X)
    codes = np.ascontiguousarray(y, dtype=np.int64)
    run = getattr(native, f"class_dual_cd{suffix}")
    found = run(*arguments, codes, row_weights(cost), a.shape[1], a.ravel(), w.ravel(), tolerance, most, seed)
    return int(found[0]), float(found[1])


def class_dual_cd_twin(
    X: Any, y: NDArray[np.int64], cost: Vector, a: Matrix, w: Matrix, *, tolerance: float, most: int
) -> tuple[int, float]:
    """Do the same row after row."""
    Z = float64_rows(X)
    bends = np.einsum("ij,ij->i", Z, Z)
    worst = np.inf
    for epoch in range(most):
        worst = 0.0
        for i in np.flatnonzero((cost > 0) & (bends > 0)):
            own = np.arange(a.shape[1]) == y[i]
            b = w @ Z[i] + ~own - bends[i] * a[i]
            limit = np.where(own, cost[i], 0.0)
            d = np.sort(b + bends[i] * limit)[::-1]
            levels = (np.cumsum(d) - bends[i] * cost[i]) / np.arange(1, len(d) + 1)
            level = levels[np.argmax(np.append(levels[:-1] >= d[1:], True))]
            step = np.minimum(limit, (level - b) / bends[i]) - a[i]
            worst = max(worst, float(np.abs(step).max()) * bends[i])
            a[i] += step
            w += np.outer(step, Z[i])
        if worst <= tolerance:
            return epoch + 1, worst
    return most, worst
