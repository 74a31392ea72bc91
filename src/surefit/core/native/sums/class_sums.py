"""The weighted sum of each column within each class, in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, matrix_arguments, row_weights


def class_sums(
    X: Any,
    codes: Any,
    classes: int,
    weight: Any = None,
    threshold: float | None = None,
    *,
    _threads: int | None = None,
) -> tuple[Matrix, float]:
    """Return the sums, (classes, columns), and the least cell that was met, infinite where there is none.

    With a threshold, cells above it count as 1 and all others as 0; that of sparse rows is 0 at least. Of
    sparse rows only stored entries are met. Rows of weight 0 are not looked at.

    >>> class_sums(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]), 2)[0].tolist()
    [[4.0], [7.0]]
    """
    native = compiled()
    if native is None:
        return class_sums_twin(X, codes, classes, weight, threshold)
    suffix, arguments = matrix_arguments(X)
    sums, least = np.empty((classes, X.shape[1])), np.empty(1)
    kernel = getattr(native, f"class_sums{suffix}")
    count = threads() if _threads is None else _threads
    group = np.ascontiguousarray(codes, dtype=np.int64)
    kernel(*arguments, group, row_weights(weight), threshold, sums, least, count)
    return sums, float(least[0])


def class_sums_twin(
    X: Any, codes: Any, classes: int, weight: Any = None, threshold: float | None = None
) -> tuple[Matrix, float]:
    """Do the same one class after the other."""
    dense, group = float64_rows(X), np.asarray(codes)
    if group.min(initial=0) < 0 or group.max(initial=-1) >= classes:
        raise ValueError("a row's class is not one of 0 to classes - 1: pass codes in that range.")
    s = np.ones(len(dense)) if weight is None else np.asarray(weight, dtype=np.float64)
    counted = dense if threshold is None else (dense > threshold).astype(np.float64)
    sums = np.array([s[group == c] @ counted[group == c] for c in range(classes)])
    met = dense[s > 0] if isinstance(X, np.ndarray) else X[s > 0].data
    return sums.reshape(classes, dense.shape[1]), float(np.min(met, initial=np.inf))
