"""The softmax loss of linear scores in one pass: value, gradient and gap sums."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import row_weights
from surefit.core.native.linear.linear_loss import GapSums, LossSums, rows_argument, rows_that_count


def class_loss(
    X: Any,
    y: Any,
    coef: Any,
    intercept: Any = None,
    weight: Any = None,
    offset: Any = None,
    *,
    want: Literal["gradient", "gap"] = "gradient",
    _threads: int | None = None,
) -> LossSums:
    """Return the loss of codes y under scores X coef + intercept + offset, summed, and its gradient.

    coef is (p, K), the gradient (p + 1, K). Rows of weight 0 may hold anything.

    >>> class_loss(np.array([[1.0], [3.0]]), [0, 1], np.zeros((1, 2))).gradient
    array([[ 1., -1.],
           [ 0.,  0.]])
    """
    native = compiled()
    if native is None:
        return class_loss_twin(X, y, coef, intercept, weight, offset, want=want)
    coef = np.ascontiguousarray(coef, dtype=np.float64)
    p, classes = coef.shape
    pairs = classes * (classes + 1) // 2
    gradient = np.empty((p + 1) * classes)
    gap = GapSums.empty(p, pairs) if want == "gap" else None
    value = native.class_loss(
        rows_argument(X),
        coef.ravel(),
        None if intercept is None else np.ascontiguousarray(intercept, dtype=np.float64),
        np.ascontiguousarray(y, dtype=np.int64),
        row_weights(weight),
        row_weights(offset),
        gradient,
        *(gap or (None,) * 4),
        threads() if _threads is None else _threads,
    )
    if gap is not None:
        gap = gap._replace(bends=gap.bends.reshape(-1, pairs))
    return LossSums(value, gradient.reshape(-1, classes), None, gap)


def class_loss_twin(
    X: Any, y: Any, coef: Any, *beside: Any, want: Literal["gradient", "gap"] = "gradient"
) -> LossSums:
    """Do the same by plain products over a float64 copy."""
    A, code, s, z = rows_that_count(X, y, coef, *beside)
    code, rows = code.astype(np.intp), np.arange(len(A))
    level = z.max(axis=1, keepdims=True, initial=-np.inf) if len(z) else z[:, :1]
    total = level + np.log(np.exp(z - level).sum(axis=1, keepdims=True))
    value = float(s @ (total[:, 0] - z[rows, code]))
    p = np.exp(z - total)
    u = p.copy()
    u[rows, code] -= 1.0
    u *= s[:, None]
    gap = None
    if want == "gap":
        first, second = np.triu_indices(p.shape[1])
        h = s[:, None] * p[:, first] * ((first == second) - p[:, second])
        signs = np.array([u[u < 0].sum(), u[u > 0].sum(), (u * u / s[:, None]).sum()])
        gap = GapSums(np.vstack([A.T @ h, h.sum(axis=0)]), A.T @ s, (A * A).T @ s, signs)
    return LossSums(value, np.vstack([A.T @ u, u.sum(axis=0)]), None, gap)
