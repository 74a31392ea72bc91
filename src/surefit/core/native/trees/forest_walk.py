"""What the trees of a forest say of rows: the sums of their leaves, and which leaves they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import matrix_arguments
from surefit.core.native.trees.forest_grow import MISSING_LEFT, NODE, leaf_numbers

LeftOut = NDArray[np.uint8] | None
Sums = tuple[Vector, NDArray[np.int64]]
Walked = Any  # a GrownForest, or whatever has its nodes, levels and starts under the same names


def forest_sums(
    forest: Walked,
    X: NDArray[Any],
    values: Vector | int,
    levels: NDArray[np.int64] | None = None,
    left_out: LeftOut = None,
    *,
    shared: bool = False,
    more_than: Sums | None = None,
    _threads: int | None = None,
) -> Sums:
    """Add up the values, (leaves, width), of each row's leaves; return them, and how many trees saw the row.

    values: 1 or 2 instead where leaves say them in place of a threshold: a number, or the share of the second
    of two classes. levels: of each column, None where all are numbers. left_out: (trees, rows), 1 where a
    tree does not see a row. shared: the threshold of a leaf says which row of values is its own. more_than:
    what earlier trees gave, which is added to.

    >>> from surefit.core.native.trees.forest_grow import forest_grow
    >>> X = np.array([[0.0], [1.0]])
    >>> forest = forest_grow(X, X, np.array([7, 8], dtype=np.uint64), criterion="squared")
    >>> forest_sums(forest, np.array([[0.2], [9.0]]), forest.value)[0].ravel()
    array([0., 2.])
    """
    native = compiled()
    if native is None:
        return forest_sums_twin(forest, X, values, levels, left_out, shared=shared, more_than=more_than)
    matrix_arguments(X)
    width = values if isinstance(values, int) else values.shape[1]
    out, counts = _no_sums(len(X), width) if more_than is None else more_than
    native.forest_sums(
        X,
        *_view(forest, levels),
        None if isinstance(values, int) else np.ascontiguousarray(values).reshape(-1),
        width,
        None if left_out is None else left_out.reshape(-1),
        out.reshape(-1),
        counts,
        threads() if _threads is None else _threads,
        shared,
    )
    return out, counts


def forest_apply(
    forest: Walked,
    X: NDArray[Any],
    levels: NDArray[np.int64] | None = None,
    left_out: LeftOut = None,
    *,
    _threads: int | None = None,
) -> NDArray[np.int32]:
    """Return the number of each row's leaf among those of each tree, (rows, trees); -1 where left out.

    >>> from surefit.core.native.trees.forest_grow import forest_grow
    >>> X = np.array([[0.0], [1.0]])
    >>> forest = forest_grow(X, X, np.array([7, 8], dtype=np.uint64), criterion="squared")
    >>> forest_apply(forest, np.array([[0.2], [9.0]])).tolist()
    [[0, 0], [1, 1]]
    """
    native = compiled()
    if native is None:
        return forest_apply_twin(forest, X, levels, left_out)
    matrix_arguments(X)
    out = np.empty((len(X), forest.trees), dtype=np.int32)
    native.forest_apply(
        X,
        *_view(forest, levels),
        None if left_out is None else left_out.reshape(-1),
        out.reshape(-1),
        threads() if _threads is None else _threads,
    )
    return out


def _view(forest: Walked, levels: NDArray[np.int64] | None) -> tuple[Any, ...]:
    if levels is not None and not levels.any():
        levels = None
    return (
        forest.nodes,
        forest.node_start,
        forest.leaf_start,
        forest.level_bits,
        forest.level_start,
        levels,
    )


def forest_apply_twin(
    forest: Walked, X: NDArray[Any], levels: NDArray[np.int64] | None = None, left_out: LeftOut = None
) -> NDArray[np.int32]:
    """Do the same, all rows of a tree one step at a time."""
    every = forest.nodes.view(NODE).reshape(-1)
    counts = np.zeros(X.shape[1], dtype=np.int64) if levels is None else levels
    found = np.empty((len(X), forest.trees), dtype=np.int32)
    for t in range(forest.trees):
        nodes = every[forest.node_start[t] : forest.node_start[t + 1]]
        bits = forest.level_bits[forest.level_start[t] :]
        at = np.zeros(len(X), dtype=np.int64)
        while len(rows := np.flatnonzero(nodes["feature"][at] >= 0)):
            node = nodes[at[rows]]
            column = node["feature"] & ~MISSING_LEFT
            x = X[rows, column].astype(np.float64)
            goes = x <= node["threshold"]
            unknown = np.isnan(x) | ((counts[column] > 0) & ((x < 0) | (x >= counts[column])))
            known = np.flatnonzero((counts[column] > 0) & ~unknown)
            level = x[known].astype(np.int64)
            word = bits[node["threshold"][known].astype(np.int64) + level // 64]
            goes[known] = (word >> (level % 64).astype(np.uint64)) & np.uint64(1) == 1
            goes = np.where(unknown, (node["feature"] & MISSING_LEFT) != 0, goes)
            at[rows] = node["child"] + ~goes
        found[:, t] = nodes["child"][at]
        if left_out is not None:
            found[left_out[t] != 0, t] = -1
    return found


def forest_sums_twin(
    forest: Walked,
    X: NDArray[Any],
    values: Vector | int,
    levels: NDArray[np.int64] | None = None,
    left_out: LeftOut = None,
    *,
    shared: bool = False,
    more_than: Sums | None = None,
) -> Sums:
    """Do the same from the leaves of all trees."""
    leaves = forest_apply_twin(forest, X, levels, left_out)
    if shared and not isinstance(values, int):
        values = values[said_by_leaves(forest, 1)[:, 0].astype(np.intp)]
    if isinstance(values, int):
        values = said_by_leaves(forest, values)
    out, counts = _no_sums(len(X), values.shape[1]) if more_than is None else more_than
    for t in range(forest.trees):
        seen = leaves[:, t] >= 0
        out[seen] += values[forest.leaf_start[t] + leaves[seen, t]]
    counts += np.count_nonzero(leaves >= 0, axis=1)
    return out, counts


def _no_sums(rows: int, width: int) -> Sums:
    return np.zeros((rows, width)), np.zeros(rows, dtype=np.int64)


def said_by_leaves(forest: Walked, width: int) -> Matrix:
    """What leaves say in place of a threshold, (leaves, width): a number, or the shares of two classes.

    >>> from surefit.core.native.trees.forest_grow import forest_grow
    >>> X = np.array([[0.0], [1.0]])
    >>> said_by_leaves(forest_grow(X, X, np.array([7], dtype=np.uint64), criterion="squared"), 2).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    at, number = leaf_numbers(forest)
    found = np.empty((len(at), width))
    found[number, width - 1] = forest.nodes.view(NODE).reshape(-1)["threshold"][at]
    if width == 2:
        found[:, 0] = 1.0 - found[:, 1]
    return found
