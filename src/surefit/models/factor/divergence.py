"""How far a product of nonnegative factors is from a table, and the updates that lower it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.arrays import Matrix, Vector

TINY = float(np.finfo(np.float32).eps)  # what is not divided by; as scikit-learn's
POWERS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}


def power_of(loss: Any) -> float:
    """The power of a divergence by its name, or the number itself."""
    return POWERS[loss] if isinstance(loss, str) else float(loss)


def divergence(X: Any, W: Matrix, H: Matrix, power: float, s: Vector) -> float:
    r"""The weighted sum over cells of :math:`d_\beta(x, wh)`.

    >>> divergence(np.array([[3.0]]), np.array([[1.0]]), np.array([[1.0]]), 2.0, np.ones(1))
    2.0
    """
    if power == 2:
        if sparse.issparse(X):
            data = np.repeat(s, np.diff(X.indptr)) @ X.data**2
            whole = float(((W.T @ (s[:, None] * W)) * (H @ H.T)).sum())
            return float(data + whole - 2 * (np.asarray(X @ H.T) * W * s[:, None]).sum()) / 2
        return float(s @ ((X - W @ H) ** 2).sum(axis=1)) / 2
    dense = X.toarray() if sparse.issparse(X) else X
    made = W @ H
    there = dense > TINY
    x, y = dense[there].astype(np.float64), np.maximum(made[there], TINY)
    weight = np.broadcast_to(s[:, None], dense.shape)[there]
    if power == 1:
        return float(weight @ (x * np.log(x / y) - x)) + float(s @ made.sum(axis=1))
    if power == 0:
        return float(weight @ (x / y - np.log(x / y) - 1))
    rest = float(s @ (np.maximum(made, TINY) ** power).sum(axis=1)) * (power - 1)
    return (float(weight @ (x**power - power * x * y ** (power - 1))) + rest) / (power * (power - 1))


def multiplied(
    X: Any,
    s: Vector,
    W: Matrix,
    H: Matrix,
    power: float,
    penalties: tuple[float, float, float, float],
    *,
    parts: bool = True,
) -> None:
    """One multiplicative update of W, and of H where ``parts``, in place; neither raises the objective."""
    l1_W, l1_H, l2_W, l2_H = penalties
    exponent = 1 / (2 - power) if power < 1 else 1 / (power - 1) if power > 2 else 1.0
    up, down = _pull(X, W, H, power)
    _scale(
        W,
        np.asarray(up @ H.T),
        np.asarray(down @ H.T) if down is not None else W @ (H @ H.T),
        l1_W,
        l2_W,
        exponent,
    )
    if not parts:
        return
    sW = s[:, None] * W
    up, down = _pull(X, W, H, power)
    _scale(
        H,
        np.asarray(up.T @ sW).T,
        np.asarray(down.T @ sW).T if down is not None else (sW.T @ W) @ H,
        l1_H,
        l2_H,
        exponent,
    )


def _pull(X: Any, W: Matrix, H: Matrix, power: float) -> tuple[Any, Any]:
    """What pulls each cell up and down; None stands for the product itself."""
    if power == 2:
        return X, None
    dense = X.toarray() if sparse.issparse(X) else X
    made = np.maximum(W @ H, TINY)
    return dense * made ** (power - 2), made ** (power - 1)


def _scale(factor: Matrix, up: Matrix, down: Matrix, l1: float, l2: float, exponent: float) -> None:
    down = down + l1 + l2 * factor
    down[down == 0] = TINY
    step = up / down
    factor *= step if exponent == 1 else step**exponent
