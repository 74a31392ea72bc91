"""How a tree's answers change when a column is exchanged for that of other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.trees.tree_apply import splits_of, tree_apply_twin


def tree_shuffle(
    tree: Any,
    values: NDArray[np.float64],
    X: NDArray[Any],
    order: NDArray[np.int64],
    change: NDArray[np.float64],
    *,
    _threads: int | None = None,
) -> None:
    """Add the changes to ``change``, (columns, repeats, rows, width).

    tree: its nodes, as :func:`~surefit.core.native.trees.tree_grow.tree_grow` returns them. values: (nodes,
    width). order: (repeats, rows), the row that each takes the column from.

    >>> from surefit.core.native.trees.tree_grow import tree_grow
    >>> X = np.array([[0.0], [1.0]])
    >>> tree = tree_grow(X, X, criterion="squared")
    >>> change = np.zeros((1, 1, 2, 1))
    >>> tree_shuffle(tree, np.array([[0.5], [0.0], [1.0]]), X, np.array([[1, 0]]), change)
    >>> change.ravel()
    array([ 1., -1.])
    """
    native = compiled()
    if native is None:
        tree_shuffle_twin(tree, values, X, order, change)
        return
    splits = splits_of(tree)
    native.tree_shuffle(
        X,
        splits.feature,
        splits.threshold,
        splits.right,
        splits.left_levels,
        splits.levels,
        np.ascontiguousarray(values, dtype=np.float64).reshape(-1),
        np.ascontiguousarray(order, dtype=np.int64).reshape(-1),
        change.reshape(-1),
        bool((tree.levels == 0).all())
        and bool(np.isfinite(X.sum(dtype=np.float64)) or not np.isnan(X).any()),
        threads() if _threads is None else _threads,
    )


def tree_shuffle_twin(
    tree: Any,
    values: NDArray[np.float64],
    X: NDArray[Any],
    order: NDArray[np.int64],
    change: NDArray[np.float64],
) -> None:
    """Do the same, a whole table for each column and repeat."""
    now = values[tree_apply_twin(tree, X)]
    for j in range(X.shape[1]):
        other = np.array(X)
        for r, rows in enumerate(order):
            other[:, j] = X[rows, j]
            change[j, r] += values[tree_apply_twin(tree, other)] - now
