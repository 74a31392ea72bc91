"""Forests of absolute errors as they are stored: a leaf's number gives way to what no other number tells.

Leaves are numbered as a walk that goes left first meets them, so that the splits tell their numbers. Rows are
sent to what leaves say without them; whatever asks for numbers gets them back first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.forest_grow import NODE
from surefit.models.tree.kept_forest import KeptForest, without_digits
from surefit.models.tree.leaf_slots import WIDE, as_digits, fact_in, halves, is_digit, rows_in, whole_of

Whole = NDArray[np.int64]


def leaf_ranks(forest: KeptForest) -> tuple[Whole, Whole]:
    """Return the places of leaves among all nodes, and the number of each in a walk of its tree."""
    nodes = forest.nodes.view(NODE).reshape(-1)
    starts = forest.node_start[:-1]
    left = nodes["child"] + np.repeat(starts, np.diff(forest.node_start))
    split = nodes["feature"] >= 0
    levels, level = list[Whole](), starts
    while len(level := level[split[level]]):
        levels.append(level)
        level = np.concatenate([left[level], left[level] + 1])
    leaves, first = np.ones(len(nodes), dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
    for level in reversed(levels):
        leaves[level] = leaves[left[level]] + leaves[left[level] + 1]
    for level in levels:
        first[left[level]] = first[level]
        first[left[level] + 1] = first[level] + leaves[left[level]]
    at = np.flatnonzero(~split)
    return at, first[at]


def widened(forest: KeptForest) -> KeptForest:
    """Return a forest as it is stored: where leaves do not tell impurities, these stand with them."""
    if forest.inner_impurity.dtype != np.float32:
        return forest
    at, rank = leaf_ranks(forest)
    if not np.array_equal(rank, forest.nodes.view(NODE).reshape(-1)["child"][at]):
        return forest
    plain = without_digits(forest)
    inner = np.insert(plain.inner_impurity, (plain.node_start - plain.leaf_start)[1:], np.float32(0))
    slots, kept = as_digits(plain.rows, (inner, plain.leaf_weight, plain.leaf_impurity), WIDE)
    packed = plain.nodes.copy()
    nodes = packed.view(NODE).reshape(-1)
    nodes["feature"][at], nodes["child"][at] = halves(slots[_among_all(forest, at) + rank])
    return replace(plain, nodes=packed, inner_impurity=kept[0], leaf_weight=kept[1], leaf_impurity=kept[2])


def numbered(forest: KeptForest) -> KeptForest:
    """Return a stored forest with the numbers of its leaves, which others work with."""
    if not is_digit(forest.inner_impurity):
        return forest
    at, rank = leaf_ranks(forest)
    packed, number = forest.nodes.copy(), _among_all(forest, at) + rank
    nodes = packed.view(NODE).reshape(-1)
    slots = np.empty(len(at), dtype=np.int64)
    slots[number] = whole_of(nodes["feature"][at], nodes["child"][at])
    facts = (forest.inner_impurity, forest.leaf_weight, forest.leaf_impurity)
    nodes["feature"][at], nodes["child"][at] = -1 - rows_in(slots, facts)[number], rank
    inner, weight, cost = (fact_in(slots, facts, which) for which in range(3))
    return replace(
        forest,
        nodes=packed,
        inner_impurity=np.delete(inner, forest.leaf_start[1:] - 1),
        leaf_weight=weight,
        leaf_impurity=cost,
    )


def _among_all(forest: KeptForest, at: Whole) -> Whole:
    """The number of the first leaf of the tree of each of some nodes."""
    return forest.leaf_start[np.searchsorted(forest.node_start, at, side="right") - 1]
