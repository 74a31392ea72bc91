"""Which leaf of a tree each row ends in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.tree_grow import Grown


def tree_apply(tree: Grown, X: NDArray[Any], *, _threads: int | None = None) -> NDArray[np.int64]:
    """Return the node that each row ends in.

    >>> from surefit.core.native.tree_grow import tree_grow
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> tree_apply(tree_grow(X, X, criterion="squared"), np.array([[0.2], [9.0], [np.nan]]))
    array([2, 6, 6])
    """
    native = compiled()
    if native is None:
        return tree_apply_twin(tree, X)
    leaf = np.empty(len(X), dtype=np.int64)
    native.tree_apply(
        X,
        tree.feature,
        tree.threshold,
        tree.left,
        tree.right,
        tree.missing_left,
        tree.left_levels,
        tree.levels,
        leaf,
        threads() if _threads is None else _threads,
    )
    return leaf


def tree_apply_twin(tree: Grown, X: NDArray[Any]) -> NDArray[np.int64]:
    """Do the same, all rows one step at a time."""
    node = np.zeros(len(X), dtype=np.int64)
    for _ in range(len(tree.feature)):
        inner = np.flatnonzero(tree.feature[node] >= 0)
        if len(inner) == 0:
            break
        at = node[inner]
        column = tree.feature[at]
        x = X[inner, column].astype(np.float64)
        levels = tree.levels[column]
        with np.errstate(invalid="ignore"):
            goes = x <= tree.threshold[at]
            unknown = np.isnan(x) | ((levels > 0) & ((x < 0) | (x >= levels)))
        known = np.flatnonzero((levels > 0) & ~unknown)
        level = x[known].astype(np.int64)
        word = tree.left_levels[tree.threshold[at[known]].astype(np.int64) + level // 64]
        goes[known] = (word >> (level % 64).astype(np.uint64)) & np.uint64(1) == 1
        goes = np.where(unknown, tree.missing_left[at] == 1, goes)
        node[inner] = np.where(goes, tree.left[at], tree.right[at])
    return node
