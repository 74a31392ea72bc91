"""Nonnegative least squares of many rows on the same columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.config import threads
from surefit.core.native import compiled


def nonnegative_rows(
    square: Matrix,
    cross: Matrix,
    w: Matrix,
    *,
    order: NDArray[Any] | None = None,
    sweeps: int = 1,
    tolerance: float = 0.0,
    _threads: int | None = None,
) -> float:
    r"""Improve each row of w towards :math:`\min \frac12 w A w' - b w', w \ge 0`, in place.

    square is A, a row of cross each b. Return the violation of the conditions of optimality before.

    >>> w = np.zeros((1, 2))
    >>> nonnegative_rows(2 * np.eye(2), np.array([[4.0, -1.0]]), w), w.tolist()
    (4.0, [[2.0, 0.0]])
    """
    steps = np.arange(len(square), dtype=np.int64) if order is None else np.asarray(order, dtype=np.int64)
    native = compiled()
    if native is None:
        return nonnegative_rows_twin(square, cross, w, order=steps, sweeps=sweeps, tolerance=tolerance)
    count = threads() if _threads is None else _threads
    found: float = native.nonnegative_rows(
        np.ascontiguousarray(square), np.ascontiguousarray(cross), steps, sweeps, tolerance, w, count
    )
    return found


def nonnegative_rows_twin(
    square: Matrix,
    cross: Matrix,
    w: Matrix,
    *,
    order: NDArray[Any] | None = None,
    sweeps: int = 1,
    tolerance: float = 0.0,
) -> float:
    """Do the same for all rows at once, coordinate by coordinate."""
    steps = np.arange(len(square)) if order is None else order
    going, before, first = np.ones(len(w), dtype=bool), 0.0, np.zeros(len(w))
    for sweep in range(sweeps):
        violation = np.zeros(len(w))
        for t in steps:
            gradient = w @ square[t] - cross[:, t]
            violation += np.abs(np.where(w[:, t] == 0, np.minimum(gradient, 0.0), gradient))
            if square[t, t] != 0:
                moved = np.maximum(w[:, t] - gradient / square[t, t], 0.0)
                w[:, t] = np.where(going, moved, w[:, t])
        if sweep == 0:
            first, before = violation, float(violation.sum())
        going &= violation > tolerance * first
        if not going.any():
            break
    return before
