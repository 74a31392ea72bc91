"""Rows scored by normal densities with independent columns: all scores, or the best density of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled


def _count(X: NDArray[Any]) -> int:
    # For a few rows, asking what the process may use takes longer than scoring them.
    return 1 if X.size < 10_000 else threads()


def normal_scores(
    X: NDArray[Any], mean: Matrix, scale: Matrix, offset: Vector, *, _threads: int | None = None
) -> Matrix:
    r"""Return :math:`o_c - \frac12 \sum_j ((x_{ij} - m_{cj}) s_{cj})^2` for every row i and density c.

    >>> one = np.ones((1, 1))
    >>> normal_scores(np.array([[3.0], [1.0]]), one, one, np.zeros(1))
    array([[-2.],
           [ 0.]])
    """
    native = compiled()
    if native is None:
        return normal_scores_twin(X, mean, scale, offset)
    scores = np.empty((X.shape[0], len(offset)))
    native.normal_scores(X, mean, scale, offset, scores, _count(X) if _threads is None else _threads)
    return scores


def normal_scores_twin(X: NDArray[Any], mean: Matrix, scale: Matrix, offset: Vector) -> Matrix:
    """Do the same one density after the other."""
    scores = np.empty((X.shape[0], len(offset)))
    with np.errstate(over="ignore"):
        for c in range(len(offset)):
            deviation = (X.astype(np.float64, copy=False) - mean[c]) * scale[c]
            scores[:, c] = offset[c] - 0.5 * (deviation * deviation).sum(axis=1)
    return scores


def best_normal(
    X: NDArray[Any],
    mean: Matrix,
    scale: Matrix,
    offset: Vector,
    otherwise: int = 0,
    *,
    _threads: int | None = None,
) -> NDArray[np.int64]:
    """Return the density with the greatest score of each row, the first of equals.

    ``otherwise`` is the answer where every score is -inf.

    >>> best_normal(np.array([[3.0], [1.0]]), np.array([[0.0], [4.0]]), np.ones((2, 1)), np.zeros(2))
    array([1, 0])
    """
    native = compiled()
    if native is None:
        return best_normal_twin(X, mean, scale, offset, otherwise)
    best = np.empty(X.shape[0], dtype=np.int64)
    native.best_normal(X, mean, scale, offset, otherwise, best, _count(X) if _threads is None else _threads)
    return best


def best_normal_twin(
    X: NDArray[Any], mean: Matrix, scale: Matrix, offset: Vector, otherwise: int = 0
) -> NDArray[np.int64]:
    """Do the same from all scores."""
    scores = normal_scores_twin(X, mean, scale, offset)
    scores[np.isnan(scores)] = -np.inf
    return np.where(scores.max(axis=1) == -np.inf, otherwise, np.argmax(scores, axis=1))
