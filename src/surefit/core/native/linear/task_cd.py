"""Block coordinate descent with a Gram matrix: the coefficients of a column, one a target, move together."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.native import compiled

_SWEEPS_TO_A_LOOK = 20


def task_cd(
    G: Matrix,
    C: Matrix,
    l1: Any,
    l2: Any,
    W: Matrix,
    gradient: Matrix,
    *,
    outside: float,
    tolerance: float,
    most: int,
) -> tuple[int, float]:
    r"""Lower :math:`\frac12 tr(W'GW) - \langle C, W \rangle + \sum_j l1_j |W_j| + \frac12 l2_j |W_j|^2`.

    ``W`` is changed in place, and ``gradient`` becomes GW - C. ``outside`` is the mean square of the residual
    at W = 0. Sweeps end after ``most``, when no row moves, or when the duality gap is at most ``tolerance``;
    their number and the gap are returned. G may have more rows and columns than C has rows.

    >>> W, gradient = np.zeros((1, 2)), np.zeros((1, 2))
    >>> C = np.array([[3.0, 4.0]])
    >>> sweeps, gap = task_cd(
    ...     np.eye(1), C, [2.5], [0.0], W, gradient, outside=25.0, tolerance=1e-12, most=9
    ... )
    >>> W, gap
    (array([[1.5, 2. ]]), 0.0)
    """
    native = compiled()
    if native is None:
        return task_cd_twin(G, C, l1, l2, W, gradient, outside, tolerance, most)
    l1, l2 = (np.ascontiguousarray(level, dtype=np.float64) for level in (l1, l2))
    sweeps, gap = native.task_cd(G, np.ascontiguousarray(C), l1, l2, W, gradient, outside, tolerance, most)
    return int(sweeps), float(gap)


def task_cd_twin(
    G: Any, C: Any, l1: Any, l2: Any, W: Any, gradient: Any, outside: float, tolerance: float, most: int
) -> tuple[int, float]:
    """Do the same, row by row."""
    m = len(C)
    G, l1, l2 = G[:m, :m], np.asarray(l1), np.asarray(l2)
    gradient[:] = G @ W - C

    def gap_here() -> float:
        return row_gap_twin(W, gradient, l1, l2, max(outside + float(np.sum(W * (gradient - C))), 0.0))

    sweeps, gap, moving = 0, gap_here(), True
    while moving and sweeps < most and not gap <= tolerance:
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
        sweeps, moving = sweeps + 1, bool(moved > 4 * np.finfo(float).eps * size)
        if sweeps % _SWEEPS_TO_A_LOOK == 0 or not moving or sweeps == most:
            gap = gap_here()
    return sweeps, gap


def row_gap(W: Matrix, gradient: Matrix, l1: Vector, l2: Vector, rr: float) -> float:
    """Return P - D for a multiple of the residual, of mean square rr, as the dual point: it is not negative.

    >>> row_gap(np.array([[2.0]]), np.array([[-1.0]]), np.ones(1), np.zeros(1), rr=1.0)
    0.0
    """
    native = compiled()
    if native is None:
        return row_gap_twin(W, gradient, l1, l2, rr)
    return float(native.row_gap(np.ascontiguousarray(W), np.ascontiguousarray(gradient), l1, l2, rr))


def row_gap_twin(W: Matrix, gradient: Matrix, l1: Vector, l2: Vector, rr: float) -> float:
    """Do the same, term by term."""
    size, norm = np.linalg.norm(gradient, axis=1), np.linalg.norm(W, axis=1)
    held = (l2 == 0) & (size > l1)
    most = float(np.min(l1[held] / size[held], initial=1.0))
    within = float(np.min(l1[size > l1] / size[size > l1], initial=1.0))
    found = []
    for tau in {most, min(most, within)}:
        excess = np.maximum(tau * size - l1, 0.0) ** 2
        conjugate = np.divide(0.5 * excess, l2, out=np.zeros_like(excess), where=l2 > 0)
        rows = l1 * norm + 0.5 * l2 * norm**2 + conjugate + tau * np.sum(W * gradient, axis=1)
        found.append(0.5 * (1 - tau) ** 2 * rr + float(np.maximum(rows, 0.0).sum()))
    return min(found)
