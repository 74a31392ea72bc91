"""The logistic and the softmax loss of linear scores, with their gradient, in one pass over dense rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, row_weights

Vector = NDArray[np.float64]


class ClassLoss(NamedTuple):
    """Sums over the rows: the loss, and its gradient with the intercept's last, (p + 1,) or (p + 1, K).

    slope, bend: the weighted derivatives of the logistic loss, one a row, where asked for.
    """

    value: float
    gradient: Vector
    slope: Vector | None
    bend: Vector | None


def takes(X: Any) -> bool:
    """Whether the kernel is there, and X is dense rows that it reads."""
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in (np.float32, np.float64)
    return dense and (X.flags.c_contiguous or X.flags.f_contiguous) and hasattr(compiled(), "class_loss")


def class_loss(
    X: Any,
    y: Any,
    coef: Any,
    intercept: Any = None,
    weight: Any = None,
    offset: Any = None,
    *,
    rows: bool = False,
    _threads: int | None = None,
) -> ClassLoss:
    """Return the sums at coefficients (p,) for y in [0, 1], or (p, K) for codes 0 to K - 1.

    >>> X, y = np.array([[1.0], [3.0]]), np.array([0.0, 1.0])
    >>> class_loss(X, y, np.zeros(1)).gradient
    array([-1.,  0.])
    """
    native = compiled()
    if native is None:
        return class_loss_twin(X, y, coef, intercept, weight, offset, rows=rows)
    coef = np.ascontiguousarray(coef, dtype=np.float64)
    flat = coef.ndim == 1
    gradient = np.empty(coef.size + (1 if flat else coef.shape[1]))
    slope, bend = (np.empty(len(X)), np.empty(len(X))) if rows else (None, None)
    target = np.ascontiguousarray(y, dtype=np.float64 if flat else np.int64)
    start = None if intercept is None else np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    value = native.class_loss(
        X,
        coef.ravel(),
        start,
        target if flat else None,
        None if flat else target,
        row_weights(weight),
        row_weights(offset),
        gradient,
        slope,
        bend,
        threads() if _threads is None else _threads,
    )
    return ClassLoss(value, gradient if flat else gradient.reshape(-1, coef.shape[1]), slope, bend)


def class_loss_twin(
    X: Any,
    y: Any,
    coef: Any,
    intercept: Any = None,
    weight: Any = None,
    offset: Any = None,
    *,
    rows: bool = False,
) -> ClassLoss:
    """Do the same by plain products over a float64 copy."""
    A, coef = float64_rows(X), np.asarray(coef, dtype=np.float64)
    s = np.ones(len(A)) if weight is None else np.asarray(weight, dtype=np.float64)
    shift = np.zeros(len(A)) if offset is None else np.asarray(offset, dtype=np.float64)
    z = A @ coef + (0.0 if intercept is None else intercept)
    if coef.ndim == 1:
        z = z + shift
        p = 0.5 * (1.0 + np.tanh(0.5 * z))
        slope = s * (p - y)
        bend = s * p * (1.0 - p)
        value = float(s @ (np.logaddexp(0.0, z) - np.asarray(y) * z))
        return ClassLoss(
            value, np.append(A.T @ slope, slope.sum()), *((slope, bend) if rows else (None, None))
        )
    z = z + shift[:, None]
    level = z.max(axis=1, keepdims=True, initial=-np.inf) if len(z) else z[:, :1]
    total = level + np.log(np.exp(z - level).sum(axis=1, keepdims=True))
    value = float(s @ (total[:, 0] - z[np.arange(len(z)), np.asarray(y, dtype=np.intp)]))
    slopes = np.exp(z - total)
    slopes[np.arange(len(z)), np.asarray(y, dtype=np.intp)] -= 1.0
    slopes *= s[:, None]
    return ClassLoss(value, np.vstack([A.T @ slopes, slopes.sum(axis=0)]), None, None)
