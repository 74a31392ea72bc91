"""What one tree keeps: 16 bytes a node, and of leaves what no other number tells.

A leaf has neither a threshold nor a column: what it says and how many rows it holds stand there, as in
``compact_forest.py``, with what else fits beside the latter (``leaf_slots.py``). Nor has it a right child:
how many rows a split node holds stands there, since rows that go both ways do not add up. Where they do, a
tree of absolute errors has room there for more, by how much a split lowers them first of all. There is one
leaf more than there are splits, so each has a place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.forest_grow import MISSING_LEFT
from surefit.core.native.trees.tree_apply import splits_of
from surefit.core.native.trees.tree_grow import Grown
from surefit.models.tree.nodes.leaf_slots import WIDE, as_digits, fact_in, halves, is_digit, rows_in, whole_of
from surefit.models.tree.nodes.leaf_values import in_place, least_impurity, least_weight, shared_rows, single
from surefit.models.tree.nodes.node_arrays import Nodes, decreases
from surefit.models.tree.nodes.node_facts import NodeFacts, add_up


@dataclass(frozen=True, slots=True, eq=False)
class CompactTree:
    """One tree as it is kept, in the order of a walk that goes left first: see ``Splits``.

    right: of a leaf, how many rows the split node of the same number holds, unless inner_decrease stands
    beside the rows of leaves. leaf_value, leaf_weight, leaf_impurity, inner_value: as ``CompactForest`` has
    them. inner_decrease: by how much splits lower impurity, where leaves do not tell it: impurities
    themselves would lose its digits.
    """

    feature: NDArray[np.int32]
    threshold: Vector
    right: NDArray[np.int32]
    level_bits: NDArray[np.uint64]
    leaf_value: Matrix
    leaf_weight: NDArray[Any]
    leaf_impurity: NDArray[Any]
    inner_value: Matrix
    inner_decrease: NDArray[Any]

    def said(self, leaves: NDArray[np.int64]) -> Matrix:
        """What leaves say, given the numbers of their nodes."""
        said = self.threshold[leaves]
        if len(self.leaf_value):
            return np.asarray(self.leaf_value[said.astype(np.intp)])
        if self.leaf_value.shape[1] == 2:
            return np.column_stack([1.0 - said, said])
        return said[:, None]

    def nodes(self, levels: NDArray[np.int64], kind: str, classes: tuple[int, ...]) -> Nodes:
        """All that is known of all nodes."""
        leaf = self.feature < 0
        leaves, split = np.flatnonzero(leaf), np.flatnonzero(~leaf)
        left, right = np.where(leaf, -1, np.arange(1, len(leaf) + 1)), np.where(leaf, -1, self.right)
        inner, level = [], np.zeros(1, dtype=np.int64)
        while len(level := level[~leaf[level]]):
            inner.append(level)
            level = np.concatenate([left[level], right[level]])
        wide = is_digit(self.inner_decrease)
        number = whole_of(self.feature[leaves], self.right[leaves] if wide else None)
        facts = (self.inner_decrease, self.leaf_weight, self.leaf_impurity)
        rows, held = rows_in(number, facts), fact_in(number, facts, 1)
        weight = (held if len(held) else rows).astype(np.float64)
        cost = fact_in(number, facts, 2)
        cost = cost.astype(np.float64) if len(cost) else np.zeros(len(leaves))
        own = NodeFacts(weight, rows, self.said(leaves), cost)
        told = None
        if len(self.inner_value):
            told = np.zeros((len(leaf), 1 + self.inner_value.shape[1]))
            told[split] = np.column_stack([fact_in(number, facts, 0)[: len(split)], self.inner_value])
        found = add_up(leaves, own, inner, left, right, kind, classes, told)
        if not wide:
            found.rows[split] = self.right[leaves[:-1]]
        grown = Grown(
            np.where(leaf, -1, self.feature & ~MISSING_LEFT).astype(np.int32),
            np.where(leaf, 0.0, self.threshold),
            left.astype(np.int32),
            right.astype(np.int32),
            (~leaf & (self.feature & MISSING_LEFT != 0)).astype(np.uint8),
            found.impurity,
            found.weight,
            found.rows,
            found.value * found.weight[:, None],
            self.level_bits,
            levels,
        )
        return Nodes(grown, found.value, classes)


def compact_tree(nodes: Nodes, kind: str) -> CompactTree:
    """A tree as it is kept; kind: the kernel's name of its criterion."""
    grown, leaf, absolute = nodes.grown, ~nodes.inner, kind == "absolute"
    splits = splits_of(grown)
    weight = least_weight(grown.weight[leaf], grown.rows[leaf])
    cost = np.empty(0) if nodes.classes else least_impurity(grown.impurity[leaf], absolute)
    fall = single(decreases(nodes)[absolute & ~leaf])
    below = grown.rows[grown.left[~leaf]] + grown.rows[grown.right[~leaf]]
    wide = len(fall) > 0 and fall.dtype == np.float32 and np.array_equal(below, grown.rows[~leaf])
    feature, right = splits.feature.astype(np.int32), grown.right.astype(np.int32)
    if wide:
        facts = np.append(fall, np.float32(0)), weight, cost
        number, (fall, weight, cost) = as_digits(grown.rows[leaf], facts, WIDE)
        feature[leaf], right[leaf] = halves(number)
    else:
        number, (weight, cost) = as_digits(grown.rows[leaf], (weight, cost))
        feature[leaf], right[leaf] = -1 - number, np.append(grown.rows[~leaf], 0)
    threshold, value = grown.threshold.copy(), nodes.value[leaf]
    if in_place(value.shape[1], nodes.classes):
        threshold[leaf], value = value[:, -1], value[:0].copy()
    else:
        value, threshold[leaf] = shared_rows(value)
    return CompactTree(
        feature,
        threshold,
        right,
        grown.left_levels,
        value,
        weight,
        cost,
        nodes.value[~leaf & absolute],
        fall,
    )
