"""Weight, mean and scatter of each column within each group of rows, in one pass over dense or CSR data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, matrix_arguments, row_weights
from surefit.core.native.sums.moments import column_moments_twin


@dataclass(frozen=True, slots=True)
class GroupedMoments:
    """W of each group, and for each group and column m and sum_i s_i (x_i - m)^2; zeros without rows."""

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]


def grouped_moments(
    X: Any, group: Any, groups: int, weight: Any = None, *, _threads: int | None = None
) -> GroupedMoments:
    """Return the moments of the columns of X over the rows of each group, which are codes below ``groups``.

    Rows of weight 0 are not looked at. NaN makes the mean and scatter of its group and column NaN.

    >>> grouped_moments(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]), 2).mean
    array([[2.],
           [7.]])
    """
    native = compiled()
    if native is None:
        return grouped_moments_twin(X, group, groups, weight)
    suffix, arguments = matrix_arguments(X)
    codes = np.ascontiguousarray(group, dtype=np.int64)
    total, outputs = np.empty(groups), [np.empty((groups, X.shape[1])) for _ in range(2)]
    count = threads() if _threads is None else _threads
    kernel = getattr(native, f"grouped_moments{suffix}")
    kernel(*arguments, codes, row_weights(weight), total, *outputs, count)
    return GroupedMoments(total, *outputs)


def grouped_moments_twin(X: Any, group: Any, groups: int, weight: Any = None) -> GroupedMoments:
    """Do the same one group after the other."""
    dense, codes = float64_rows(X), np.asarray(group)
    if codes.min(initial=0) < 0 or codes.max(initial=-1) >= groups:
        raise ValueError("a row's group is not one of 0 to groups - 1: pass codes in that range.")
    s = np.ones(len(dense)) if weight is None else np.asarray(weight, dtype=np.float64)
    parts = [column_moments_twin(dense[codes == g], s[codes == g]) for g in range(groups)]
    mean, scatter = (
        np.array([getattr(part, name) for part in parts]).reshape(groups, -1) for name in ("mean", "scatter")
    )
    return GroupedMoments(np.array([part.weight for part in parts]), mean, scatter)
