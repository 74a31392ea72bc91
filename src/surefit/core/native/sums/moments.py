"""Weight, mean, scatter and range of each column, in one pass over dense or CSR data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, matrix_arguments, row_weights


@dataclass(frozen=True, slots=True)
class ColumnMoments:
    """W, and for each column m, sum_i s_i (x_i - m)^2 and the range over the rows with positive weight.

    Of no rows: zeros, and a range from inf to -inf, so that ranges join by minimum and maximum.
    """

    weight: float
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]


def column_moments(X: Any, weight: Any = None, *, _threads: int | None = None) -> ColumnMoments:
    """Return the moments of the columns of X, a numpy array or a CSR matrix, with row weights as frequencies.

    Rows of weight 0 are not looked at. NaN makes its column's mean and scatter NaN; the range passes over it.

    >>> column_moments(np.array([[1.0], [3.0]])).scatter
    array([2.])
    """
    native = compiled()
    if native is None:
        return column_moments_twin(X, weight)
    suffix, arguments = matrix_arguments(X)
    outputs = [np.empty(X.shape[1]) for _ in range(4)]
    count = threads() if _threads is None else _threads
    total = getattr(native, f"column_moments{suffix}")(*arguments, row_weights(weight), *outputs, count)
    return ColumnMoments(total, *outputs)


def column_moments_twin(X: Any, weight: Any = None) -> ColumnMoments:
    """Do the same in two passes over a float64 copy."""
    dense = float64_rows(X)
    s = np.ones(len(dense)) if weight is None else np.asarray(weight, dtype=np.float64)
    dense, s = dense[s > 0], s[s > 0]
    total = float(s.sum())
    share = s / total if total > 0 else s
    pivot = dense[0] if len(dense) else np.zeros(dense.shape[1])
    mean = pivot + share @ (dense - pivot)
    return ColumnMoments(
        total,
        mean,
        s @ (dense - mean) ** 2,
        np.fmin.reduce(dense, axis=0, initial=np.inf),
        np.fmax.reduce(dense, axis=0, initial=-np.inf),
    )
