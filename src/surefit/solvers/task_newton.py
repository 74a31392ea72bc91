r"""Newton's steps for the rows in use of a penalty on whole rows, where the objective is smooth.

.. math:: H = G \otimes I + \mathrm{diag}_j\left( \frac{l1_j}{|W_j|} (I - u_j u_j') + l2_j I \right),
    \quad u_j = W_j / |W_j|

Sweeps find out which rows are in use; from there they may crawl, when columns are alike, where a few of
these steps are exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_MOST_NUMBERS = 1200  # in use: beyond, a factorisation costs more than many sweeps
_STEPS = 8
_HALVINGS = 8


def newton_on_rows(G: Matrix, C: Matrix, l1: Vector, l2: Vector, W: Matrix) -> Matrix:
    """Return rows at which tr(W'GW)/2 - <C, W> + sum_j l1_j |W_j| + l2_j/2 |W_j|^2 is no higher than at W.

    >>> G, C = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[3.0, 4.0], [3.5, 4.0]])
    >>> W = newton_on_rows(G, C, np.ones(2), np.zeros(2), np.ones((2, 2)))
    >>> slopes = G @ W - C + W / np.linalg.norm(W, axis=1)[:, None]
    >>> bool(abs(slopes).max() < 1e-12)
    True
    """
    used = np.flatnonzero(W.any(axis=1))
    if not 0 < W[used].size <= _MOST_NUMBERS:
        return W
    G, C, l1, l2 = G[np.ix_(used, used)], C[used], l1[used], l2[used]
    V, value = W[used], _value(G, C, l1, l2, W[used])
    for _ in range(_STEPS):
        step = _step(G, C, l1, l2, V)
        found = None if step is None else _shortened(G, C, l1, l2, V, step, value)
        if found is None:
            break
        V, value = found
        if not V.any(axis=1).all():  # sweeps say whether the row stays out
            break
    moved = W.copy()
    moved[used] = V
    return moved


def _value(G: Matrix, C: Matrix, l1: Vector, l2: Vector, V: Matrix) -> float:
    norm = np.linalg.norm(V, axis=1)
    return float(np.sum(V * (0.5 * (G @ V) - C)) + l1 @ norm + 0.5 * (l2 @ norm**2))


def _step(G: Matrix, C: Matrix, l1: Vector, l2: Vector, V: Matrix) -> Matrix | None:
    m, k = V.shape
    norm = np.linalg.norm(V, axis=1, keepdims=True)
    u, bend = V / norm, l1 / norm[:, 0]
    slopes = G @ V - C + l1[:, None] * u + l2[:, None] * V
    blocks = (bend + l2)[:, None, None] * np.eye(k) - bend[:, None, None] * (u[:, :, None] * u[:, None, :])
    H = np.zeros((m, k, m, k))
    H[:, np.arange(k), :, np.arange(k)] = G
    H[np.arange(m), :, np.arange(m), :] += blocks
    square = H.reshape(m * k, m * k)
    square[np.diag_indices(m * k)] += 1e-13 * np.trace(square) / (m * k)
    try:
        factor = cho_factor(square, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    step: Matrix = -cho_solve(factor, slopes.ravel()).reshape(m, k)
    return step


def _shortened(
    G: Matrix, C: Matrix, l1: Vector, l2: Vector, V: Matrix, step: Matrix, value: float
) -> tuple[Matrix, float] | None:
    """Halve a step until it lowers the value, rows that would turn round stopping at zero; None if none."""
    for halving in range(_HALVINGS):
        there = V + 0.5**halving * step
        there[np.sum(there * V, axis=1) <= 0] = 0.0
        found = _value(G, C, l1, l2, there)
        if found < value:
            return there, found
    return None
