"""Mean, scatter and product with a target of each column, each read from memory once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.columns.columns_dot import columns_dot
from surefit.core.native.columns.layout import chosen_dense, column_arguments
from surefit.core.native.inputs import row_weights
from surefit.core.native.sums.moments import column_moments


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """For each column m (zero when not centred), sum_i s_i (x_i - m)^2 and sum_i s_i (x_i - m) target_i."""

    mean: Vector
    scatter: Vector
    cross: Vector


def column_facts(
    X: Any, target: Any, weight: Any = None, centred: bool = True, *, _threads: int | None = None
) -> ColumnFacts:
    """Return the facts; X is dense or CSC, the target is centred if the columns are to be.

    >>> column_facts(np.array([[1.0], [3.0]]), [-1.0, 1.0]).scatter
    array([2.])
    """
    native = compiled()
    if native is None:
        return column_facts_twin(X, target, weight, centred)
    suffix, arguments = column_arguments(X)
    target, weight = np.ascontiguousarray(target, dtype=np.float64), row_weights(weight)
    total = float(X.shape[0]) if weight is None else float(weight.sum())
    if suffix == "" and not X.flags.f_contiguous and centred:
        moments = column_moments(X, weight, _threads=_threads)
        scaled = target if weight is None else weight * target
        cross = columns_dot(X, scaled, moments.mean, _threads=_threads)
        return ColumnFacts(moments.mean, moments.scatter, cross)
    if suffix == "" and not X.flags.f_contiguous:
        return _plain_facts(X, target, weight)
    facts = np.empty((3, X.shape[1]))
    count = threads() if _threads is None else _threads
    call = getattr(native, f"column_facts{suffix}")
    if call(*arguments, target, weight, total, centred, facts, count) is False:
        raise ValueError(
            "the sparse matrix has row indices that do not increase, or lie outside it: "
            "call X.sort_indices() and X.sum_duplicates(), or rebuild it."
        )
    return ColumnFacts(*facts)


def _plain_facts(X: NDArray[Any], target: Vector, weight: Vector | None) -> ColumnFacts:
    """Facts about zero of rows in C order, a block of rows at a time."""
    scatter, cross = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for start in range(0, len(X), 1024):
        rows = slice(start, start + 1024)
        block = X[rows].astype(np.float64, copy=False)
        s = np.ones(len(block)) if weight is None else weight[rows]
        scatter += np.einsum("i,ij,ij->j", s, block, block)
        cross += (s * target[rows]) @ block
    return ColumnFacts(np.zeros(X.shape[1]), scatter, cross)


def column_facts_twin(X: Any, target: Any, weight: Any = None, centred: bool = True) -> ColumnFacts:
    """Do the same over a float64 copy."""
    A, target = chosen_dense(X), np.asarray(target, dtype=np.float64)
    s = np.ones(len(A)) if weight is None else np.asarray(weight, dtype=np.float64)
    total = float(s.sum())
    mean = np.zeros(A.shape[1])
    if centred and total > 0:
        mean = A[0] + (s / total) @ (A - A[0])
    return ColumnFacts(mean, s @ (A - mean) ** 2, (s * target) @ (A - mean))
