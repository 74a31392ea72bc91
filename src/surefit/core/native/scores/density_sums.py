"""Sums of a smoothing kernel over weighted points, with a bound on the error that was allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled

KERNELS = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")
_LEAF = 256  # points of a leaf at the most: summing them costs about as much as the boxes above them


@dataclass(frozen=True, slots=True)
class DensityTree:
    """Points in the order of a tree of boxes: columns (d, n), weights, boxes, and the weight of each box."""

    order: NDArray[np.int64]
    columns: Matrix
    weight: Vector
    boxes: Matrix
    totals: Vector

    @property
    def places(self) -> NDArray[np.int64]:
        """Where each row stands in the tree's order."""
        places = np.empty_like(self.order)
        places[self.order] = np.arange(len(self.order))
        return places


def density_tree(X: Matrix, weight: Vector | None = None, leaf: int = _LEAF) -> DensityTree:
    """Put points in the order of a balanced tree of boxes.

    >>> tree = density_tree(np.array([[3.0], [1.0], [2.0]]), leaf=1)
    >>> tree.columns.tolist(), tree.boxes[0].tolist()
    ([[1.0, 2.0, 3.0]], [1.0, 3.0])
    """
    rows, s = len(X), np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    levels = 0
    while rows >> levels > leaf:
        levels += 1
    native, X = compiled(), np.ascontiguousarray(X, dtype=np.float64)
    if native is None:
        levels, order = 0, np.arange(rows)
        boxes = np.concatenate([X.min(axis=0), X.max(axis=0)])[None, :]
    else:
        order, boxes = np.empty(rows, dtype=np.int64), np.empty((2 ** (levels + 1) - 1, 2 * X.shape[1]))
        native.density_tree(X, levels, order, boxes)
    sums = np.concatenate([[0.0], np.cumsum(s[order])])
    edges = [(rows * np.arange(2**level + 1)) >> level for level in range(levels + 1)]
    totals = np.concatenate([np.diff(sums[edge]) for edge in edges])
    return DensityTree(order, np.ascontiguousarray(X[order].T), np.ascontiguousarray(s[order]), boxes, totals)


def density_sums(
    tree: DensityTree,
    queries: Matrix,
    kernel: str,
    h: float,
    relative: float = 0.0,
    absolute: float = 0.0,
    skip: Any = None,
    *,
    _threads: int | None = None,
) -> tuple[Vector, Vector]:
    r"""Return :math:`\log \sum_i w_i K(|q - x_i| / h)` for each query, and a bound on its relative error.

    K(0) is 1. relative and absolute: the error that is tolerated, of a sum and besides. skip: for each
    query the row of which one copy is left out, -1 for none.

    >>> tree = density_tree(np.array([[0.0], [1.0]]))
    >>> density_sums(tree, np.array([[0.0]]), "linear", 2.0)[0].round(4)
    array([0.4055])
    """
    native = compiled()
    own = None if skip is None else np.ascontiguousarray(np.where(skip < 0, -1, tree.places[skip]))
    if native is None:
        return density_sums_twin(tree, queries, kernel, h, skip=own)
    found, error = np.empty(len(queries)), np.empty(len(queries))
    count = threads() if _threads is None else _threads
    points = np.ascontiguousarray(queries, dtype=np.float64)
    native.density_sums(
        tree.columns,
        tree.weight,
        tree.boxes,
        tree.totals,
        points,
        KERNELS.index(kernel),
        h,
        relative,
        absolute,
        own,
        found,
        error,
        count,
    )
    return found, error


def density_sums_twin(
    tree: DensityTree, queries: Matrix, kernel: str, h: float, skip: Any = None
) -> tuple[Vector, Vector]:
    """Do the same point by point, exactly; ``skip`` are places in the tree's order."""
    found = np.empty(len(queries))
    for q, query in enumerate(np.asarray(queries, dtype=np.float64)):
        u = np.sqrt(((tree.columns.T - query) ** 2).sum(axis=1)) / h
        weight = tree.weight.copy()
        if skip is not None and skip[q] >= 0:
            weight[skip[q]] = max(weight[skip[q]] - 1.0, 0.0)
        found[q] = _log_sum(log_kernel(kernel, u), weight)
    return found, np.zeros(len(queries))


def log_kernel(kernel: str, u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log K(u), with K(0) = 1, at distances in bandwidths.

    >>> log_kernel("gaussian", np.array([0.0, 2.0]))
    array([-0., -2.])
    """
    if kernel == "gaussian":
        return np.asarray(-0.5 * u**2)
    if kernel == "exponential":
        return np.asarray(-u)
    inside = np.minimum(u, 1.0)
    shape = {
        "tophat": np.ones_like(u),
        "epanechnikov": 1 - inside**2,
        "linear": 1 - inside,
        "cosine": np.cos(0.5 * np.pi * inside),
    }[kernel]
    found: NDArray[np.float64] = np.log(shape, out=np.full(u.shape, -np.inf), where=(u < 1) & (shape > 0))
    return found


def _log_sum(logs: NDArray[np.float64], weight: Vector) -> float:
    there = weight > 0
    best = logs[there].max(initial=-np.inf)
    if best == -np.inf:
        return -np.inf
    return float(best + np.log(weight[there] @ np.exp(logs[there] - best)))
