"""The ways in which a split may send the rows of a node, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.node_random import MASK, mixed
from surefit.core.native.trees.tree_grow import FEW_LEVELS, Grown
from surefit.models.tree.nodes.node_arrays import Nodes

Whole = NDArray[np.int64]


def node_seeds(nodes: Nodes, seed: int) -> list[int]:
    """The seed of each node, from that of the tree."""
    found = [0] * nodes.node_count
    found[0] = mixed(seed)
    left, right = nodes.grown.left, nodes.grown.right
    for at in np.flatnonzero(nodes.inner).tolist():
        found[left[at]] = mixed(found[at] ^ 0x5851F42D4C957F2D)
        found[right[at]] = mixed(found[at] ^ 0x14057B7EF767814F)
    return found


def chosen_columns(block: NDArray[Any], count: int, seed: int) -> list[int]:
    """The columns that a node with these rows looks at."""
    every = list(range(block.shape[1]))
    varies = ~((block == block[0]) | (np.isnan(block) & np.isnan(block[0]))).all(axis=0)
    chosen: list[int] = []
    state = seed
    for left in range(len(every), 0, -1):
        if len(chosen) == count:
            break
        at = mixed(state) % left
        state = (state + 1) & MASK
        every[at], every[left - 1] = every[left - 1], every[at]
        if varies[every[left - 1]]:
            chosen.append(every[left - 1])
    return chosen


def drawn_threshold(known: NDArray[np.float64], column: int, seed: int) -> tuple[float, bool]:
    """The threshold that a node draws for a column, and whether missing values would go left."""
    low, high = float(known.min()), float(known.max())
    state = seed ^ mixed(column + 1)
    threshold = low + (high - low) * ((mixed(state) >> 11) * 2.0**-53)
    missing_left = bool(mixed((state + 1) & MASK) & 1)
    return (threshold if threshold < high else low), missing_left


def one_step(grown: Grown, X: NDArray[Any], rows: Whole, at: Whole) -> Whole:
    """The node below ``at`` that each row goes to; itself for a leaf."""
    below = at.copy()
    inner = np.flatnonzero(grown.feature[at] >= 0)
    node = at[inner]
    column = grown.feature[node]
    x = np.asarray(X[rows[inner], column], dtype=np.float64)
    levels = grown.levels[column]
    with np.errstate(invalid="ignore"):
        goes = x <= grown.threshold[node]
    unknown = np.isnan(x) | ((levels > 0) & ~((x >= 0) & (x < levels)))
    known = np.flatnonzero((levels > 0) & ~unknown)
    level = x[known].astype(np.int64)
    word = grown.left_levels[grown.threshold[node[known]].astype(np.int64) + level // 64]
    goes[known] = (word >> (level % 64).astype(np.uint64)) & np.uint64(1) == 1
    goes = np.where(unknown, grown.missing_left[node] == 1, goes)
    below[inner] = np.where(goes, grown.left[node], grown.right[node])
    return below


def between(low: float, high: float) -> float:
    """Half-way, or the lower of two neighbours that have nothing between them."""
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low


def number_splits(x: Vector, most: int = 256) -> NDArray[np.bool_]:
    """Who goes left at each threshold, (m, rows), missing rows on either side; of very many, some."""
    values = np.unique(x[~np.isnan(x)])
    few = values if len(values) <= most else values[np.linspace(0, len(values) - 1, most).astype(int)]
    return _with_missing([x <= value for value in few], x)


def drawn_split(x: Vector, column: int, seed: int) -> NDArray[np.bool_]:
    """Who goes left at the threshold that the node draws, (1, rows); none where a column does not vary."""
    gone = np.isnan(x)
    known = x[~gone]
    if len(known) == 0 or known.min() == known.max():
        return np.empty((0, len(x)), dtype=bool)
    at, missing_left = drawn_threshold(known, column, seed)
    return np.where(gone, missing_left, x <= at)[None]


def level_splits(x: Vector, sums: Matrix, weight: Vector, orders: list[int]) -> NDArray[np.bool_]:
    """Who goes left by each set of levels that a search looks at, (m, rows).

    sums: what each row adds, (rows, width); orders: by which of them levels may be put in order.
    """
    values = np.unique(x[~np.isnan(x)])
    if len(orders) > 1 and len(values) <= FEW_LEVELS:
        bits = np.arange(1, 2 ** len(values) - 1)
        chosen = [values[(subset >> np.arange(len(values))) & 1 == 1] for subset in bits]
    else:
        chosen = []
        for order in orders:
            mean = [sums[x == value, order].sum() / weight[x == value].sum() for value in values]
            ranked = values[np.argsort(mean, kind="stable")]
            chosen += [ranked[: k + 1] for k in range(len(ranked))]
    ways = [np.isin(x, subset) for subset in chosen]
    if len(values) == 1 or not ways:
        ways = [np.isin(x, values)]
    return _with_missing(ways, x)


def _with_missing(ways: list[Any], x: Vector) -> NDArray[np.bool_]:
    gone = np.isnan(x)
    found = [way for way in ways if way.any() and not way.all()]
    if gone.any():
        found += [way | gone for way in ways if not (way | gone).all()]
    return np.array(found, dtype=bool).reshape(-1, len(x))
