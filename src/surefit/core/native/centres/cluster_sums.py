"""Sums of the rows of each cluster, to twice double precision, and their cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled

Labels = NDArray[np.int32]
_FEW = 20_000  # cells, below which asking what the process may use takes longer than the work


def _count(X: NDArray[Any], given: int | None) -> int:
    return (1 if X.size < _FEW else threads()) if given is None else given


def cluster_sums(
    X: NDArray[Any],
    weight: Vector | None,
    before: Labels | None,
    after: Labels,
    high: Matrix,
    low: Matrix,
    *,
    _threads: int | None = None,
) -> int:
    """Add each row whose label has changed to its new cluster and take it from the old; return how many have.

    ``high + low`` holds, for each cluster, the sums of its columns and its weight. Without ``before``, all
    rows are new; a label of -1 is no cluster.

    >>> high, low, labels = np.zeros((2, 2)), np.zeros((2, 2)), np.array([1, 1], np.int32)
    >>> cluster_sums(np.array([[1.0], [3.0]]), None, None, labels, high, low)
    2
    >>> high.tolist()
    [[0.0, 0.0], [4.0, 2.0]]
    """
    native = compiled()
    if native is None:
        return cluster_sums_twin(X, weight, before, after, high, low)
    changed: int = native.cluster_sums(X, weight, before, after, high, low, _count(X, _threads))
    return changed


def cluster_sums_twin(
    X: NDArray[Any], weight: Vector | None, before: Labels | None, after: Labels, high: Matrix, low: Matrix
) -> int:
    """Do the same with sums of plain precision."""
    before = np.full(len(X), -1, np.int32) if before is None else before
    changed = np.flatnonzero(before != after)
    s = np.ones(len(changed)) if weight is None else weight[changed]
    rows = np.column_stack([X[changed].astype(np.float64), np.ones(len(changed))]) * s[:, None]
    for labels, sign in ((before[changed], -1.0), (after[changed], 1.0)):
        known = labels >= 0
        np.add.at(high, labels[known], sign * rows[known])
    return len(changed)


def cluster_cost(
    X: NDArray[Any],
    weight: Vector | None,
    centres: Matrix,
    labels: Labels,
    squares: Vector | None = None,
    *,
    _threads: int | None = None,
) -> float:
    r"""Return :math:`\sum_i s_i \|x_i - c_{l_i}\|^2`; write the squared distances where asked to.

    >>> cluster_cost(np.array([[1.0], [4.0]]), None, np.array([[2.0]]), np.zeros(2, np.int32))
    5.0
    """
    native = compiled()
    if native is None:
        return cluster_cost_twin(X, weight, centres, labels, squares)
    cost: float = native.cluster_cost(X, weight, centres, labels, squares, _count(X, _threads))
    return cost


def cluster_cost_twin(
    X: NDArray[Any], weight: Vector | None, centres: Matrix, labels: Labels, squares: Vector | None = None
) -> float:
    """Do the same by all differences at once."""
    found = np.square(X.astype(np.float64, copy=False) - centres[labels]).sum(axis=1)
    if squares is not None:
        squares[:] = found
    return float(found.sum() if weight is None else weight @ found)
