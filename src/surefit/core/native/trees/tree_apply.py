"""Which leaf of a tree each row ends in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.trees.forest_grow import MISSING_LEFT
from surefit.core.native.trees.tree_grow import Grown


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """What rows are sent down by, 16 bytes a node: the left child of a node is the next one.

    feature: below 0 for a leaf; with MISSING_LEFT where missing values go left. threshold, left_levels,
    levels: as ``Grown`` has them; of leaves, threshold and right are the caller's own.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    right: NDArray[np.int32]
    left_levels: NDArray[np.uint64]
    levels: NDArray[np.int64]


def splits_of(tree: Grown | Splits) -> Splits:
    """The splits of a tree.

    >>> from surefit.core.native.trees.tree_grow import tree_grow
    >>> X = np.array([[0.0], [1.0]])
    >>> splits_of(tree_grow(X, X, criterion="squared")).right.tolist()
    [2, -1, -1]
    """
    if isinstance(tree, Splits):
        return tree
    goes_left = np.where((tree.feature >= 0) & (tree.missing_left != 0), MISSING_LEFT, 0)
    feature = (tree.feature | goes_left).astype(np.int32)
    return Splits(feature, tree.threshold, tree.right, tree.left_levels, tree.levels)


def tree_apply(tree: Grown | Splits, X: NDArray[Any], *, _threads: int | None = None) -> NDArray[np.int64]:
    """Return the node that each row ends in.

    >>> from surefit.core.native.trees.tree_grow import tree_grow
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> tree_apply(tree_grow(X, X, criterion="squared"), np.array([[0.2], [9.0], [np.nan]]))
    array([2, 6, 6])
    """
    native = compiled()
    if native is None:
        return tree_apply_twin(tree, X)
    splits = splits_of(tree)
    leaf = np.empty(len(X), dtype=np.int64)
    native.tree_apply(
        X,
        splits.feature,
        splits.threshold,
        splits.right,
        splits.left_levels,
        splits.levels,
        leaf,
        threads() if _threads is None else _threads,
    )
    return leaf


def tree_apply_twin(tree: Grown | Splits, X: NDArray[Any]) -> NDArray[np.int64]:
    """Do the same, all rows one step at a time."""
    splits = splits_of(tree)
    node = np.zeros(len(X), dtype=np.int64)
    for _ in range(len(splits.feature)):
        inner = np.flatnonzero(splits.feature[node] >= 0)
        if len(inner) == 0:
            break
        at = node[inner]
        column = splits.feature[at] & ~MISSING_LEFT
        x = X[inner, column].astype(np.float64)
        levels = splits.levels[column]
        with np.errstate(invalid="ignore"):
            goes = x <= splits.threshold[at]
            unknown = np.isnan(x) | ((levels > 0) & ((x < 0) | (x >= levels)))
        known = np.flatnonzero((levels > 0) & ~unknown)
        level = x[known].astype(np.int64)
        word = splits.left_levels[splits.threshold[at[known]].astype(np.int64) + level // 64]
        goes[known] = (word >> (level % 64).astype(np.uint64)) & np.uint64(1) == 1
        goes = np.where(unknown, splits.feature[at] & MISSING_LEFT != 0, goes)
        node[inner] = np.where(goes, at + 1, splits.right[at])
    return node
