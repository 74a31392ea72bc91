"""One iteration of fuzzy c-means: memberships from distances, and the sums that the next centres are made
of.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled

_FEW = 20_000  # cells, below which asking what the process may use takes longer than the work


def fuzzy_step(
    X: NDArray[Any],
    weight: Vector | None,
    centres: Matrix,
    power: float,
    shares: Matrix | None = None,
    *,
    _threads: int | None = None,
) -> tuple[Matrix, float]:
    r"""Return for each centre the sums of :math:`s r^m x`, with that of :math:`s r^m` last, and the cost.

    Memberships :math:`r_{ik} = 1 / \sum_j (d_{ik}^2 / d_{ij}^2)^{1/(m-1)}` are written where asked for; a
    row at a centre has 1 there.

    >>> fuzzy_step(np.array([[1.0]]), None, np.array([[0.0], [3.0]]), 2.0)[0].round(2)
    array([[0.64, 0.64],
           [0.04, 0.04]])
    """
    native = compiled()
    if native is None:
        return fuzzy_step_twin(X, weight, centres, power, shares)
    sums = np.empty((len(centres), X.shape[1] + 1))
    count = (1 if X.size < _FEW else threads()) if _threads is None else _threads
    cost: float = native.fuzzy_step(X, weight, centres, power, sums, shares, count)
    return sums, cost


def fuzzy_step_twin(
    X: NDArray[Any], weight: Vector | None, centres: Matrix, power: float, shares: Matrix | None = None
) -> tuple[Matrix, float]:
    """Do the same with matrices of distances and memberships."""
    rows = np.column_stack([X, np.ones(len(X))]).astype(np.float64)
    squares = np.square(rows[:, None, :-1] - centres).sum(axis=2)
    least = squares.min(axis=1, keepdims=True, initial=np.inf)
    ratio = np.divide(least, squares, out=np.ones_like(squares), where=squares > least)
    found = ratio ** (1 / (power - 1))
    found /= found.sum(axis=1, keepdims=True)
    if shares is not None:
        shares[:] = found
    raised = found**power * (1.0 if weight is None else weight[:, None])
    return raised.T @ rows, float((raised * squares).sum())
