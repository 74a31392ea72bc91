"""Block coordinate descent with a Gram matrix: the coefficients of a column, one a target, move together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native import compiled

Matrix = NDArray[np.float64]


def task_cd(
    G: Matrix, C: Matrix, l1: Any, l2: Any, W: Matrix, gradient: Matrix, *, least: float, most: int
) -> int:
    r"""Lower :math:`\frac12 tr(W'GW) - \langle C, W \rangle + \sum_j l1_j |W_j| + \frac12 l2_j |W_j|^2`.

    ``W`` is changed in place, and ``gradient`` becomes GW - C. Sweeps end after ``most``, or when no row
    moves by more than ``least`` in units of its column's length; their number is returned. G may have more
    rows and columns than C has rows.

    >>> W, gradient = np.zeros((1, 2)), np.zeros((1, 2))
    >>> sweeps = task_cd(np.eye(1), np.array([[3.0, 4.0]]), [2.5], [0.0], W, gradient, least=1e-12, most=9)
    >>> W
    array([[1.5, 2. ]])
    """
    native = compiled()
    if native is None:
        return task_cd_twin(G, C, l1, l2, W, gradient, least=least, most=most)
    l1, l2 = (np.ascontiguousarray(level, dtype=np.float64) for level in (l1, l2))
    return int(native.task_cd(G, np.ascontiguousarray(C), l1, l2, W, gradient, least, most))


def task_cd_twin(
    G: Matrix, C: Matrix, l1: Any, l2: Any, W: Matrix, gradient: Matrix, *, least: float, most: int
) -> int:
    """Do the same, row by row."""
    m = len(C)
    G, l1, l2 = G[:m, :m], np.asarray(l1), np.asarray(l2)
    gradient[:] = G @ W - C
    for epoch in range(1, most + 1):
        moved = size = 0.0
        for j in np.flatnonzero(np.diagonal(G) + l2 > 0):
            pull = G[j, j] * W[j] - gradient[j]
            norm = float(np.linalg.norm(pull))
            factor = (1 - l1[j] / norm) / (G[j, j] + l2[j]) if norm > l1[j] else 0.0
            step = factor * pull - W[j]
            W[j] += step
            gradient += np.multiply.outer(G[:, j], step)
            length = np.sqrt(max(G[j, j], 0.0))
            moved = max(moved, length * float(np.linalg.norm(step)))
            size = max(size, length * float(np.linalg.norm(W[j])))
        if moved <= max(least, 4 * np.finfo(float).eps * size):
            return epoch
    return most
