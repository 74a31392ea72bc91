"""What trees keep: 16 bytes a node, and of leaves what no other number tells.

A leaf has no threshold, so that what it says stands there where that is one number: a prediction, or the
share of the second of two classes. It has no column either: how many rows it holds stands there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.forest_grow import MISSING_LEFT, NODE, GrownForest
from surefit.core.native.forest_walk import said_by_leaves
from surefit.core.native.tree_apply import splits_of
from surefit.core.native.tree_grow import Grown
from surefit.models.tree.node_facts import NodeFacts, add_up
from surefit.models.tree.nodes import Nodes

Floats = NDArray[np.float64]


def in_place(width: int, classes: tuple[int, ...]) -> bool:
    """Whether one number is all that a leaf says.

    >>> in_place(1, ()), in_place(2, (2,)), in_place(2, ()), in_place(3, (3,))
    (True, True, False, False)
    """
    return width == 1 or classes == (2,)


def least_bytes(weight: Floats) -> NDArray[Any]:
    """Weights of rows in half the bytes where they are whole numbers.

    >>> least_bytes(np.array([1.0, 2.0])).dtype, least_bytes(np.array([0.5])).dtype
    (dtype('uint32'), dtype('float64'))
    """
    half = weight.astype(np.uint32) if weight.max(initial=0.0) < 2**32 else weight
    return half if np.array_equal(half, weight) else weight


@dataclass(frozen=True, slots=True, eq=False)
class KeptForest:
    """The trees of a ``GrownForest`` as they are kept.

    leaf_value: (leaves, width); no leaves where nodes say it. weight, impurity: of leaves, the second empty
    for classes, whose shares tell it.
    """

    nodes: NDArray[np.uint64]
    node_start: NDArray[np.int64]
    leaf_value: Floats
    weight: NDArray[Any]
    impurity: Floats
    leaf_start: NDArray[np.int64]
    importance: Floats
    level_bits: NDArray[np.uint64]
    level_start: NDArray[np.int64]
    inner: Floats

    @property
    def trees(self) -> int:
        """How many trees there are."""
        return len(self.node_start) - 1

    @property
    def value(self) -> Floats:
        """What leaves say, (leaves, width)."""
        return self.leaf_value if len(self.leaf_value) else said_by_leaves(self, self.leaf_value.shape[1])

    @property
    def said(self) -> Floats | int:
        """The same as the walk takes it."""
        return self.leaf_value if len(self.leaf_value) else self.leaf_value.shape[1]

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many rows each leaf holds."""
        nodes = self.nodes.view(NODE).reshape(-1)
        found = np.empty(int(self.leaf_start[-1]), dtype=np.int64)
        for t in range(self.trees):
            own = nodes[self.node_start[t] : self.node_start[t + 1]]
            leaves = own[own["feature"] < 0]
            found[self.leaf_start[t] + leaves["child"]] = -1 - leaves["feature"].astype(np.int64)
        return found


def kept_forest(forest: GrownForest, classes: tuple[int, ...]) -> KeptForest:
    """The trees as they are kept, given those with shares of classes, or predictions, as values."""
    packed = forest.nodes.copy()
    nodes = packed.view(NODE).reshape(-1)
    leaf = nodes["feature"] < 0
    tree = np.repeat(np.arange(forest.trees), np.diff(forest.node_start))[leaf]
    at = forest.leaf_start[tree] + nodes["child"][leaf]
    nodes["feature"][leaf] = -1 - forest.rows[at]
    value = forest.value
    if in_place(value.shape[1], classes):
        nodes["threshold"][leaf] = value[at, -1]
        value = value[:0].copy()  # a view would keep all of it
    return KeptForest(
        packed,
        forest.node_start,
        value,
        least_bytes(forest.weight),
        np.empty(0) if classes else forest.impurity,
        forest.leaf_start,
        forest.importance,
        forest.level_bits,
        forest.level_start,
        forest.inner,
    )


@dataclass(frozen=True, slots=True, eq=False)
class KeptTree:
    """One tree as it is kept, in the order of a walk that goes left first: see ``Splits``.

    right: of a leaf its number among leaves. leaf_value, leaf_weight, leaf_impurity: as ``KeptForest`` has
    them. facts: (inner nodes, 3 + width), their weight, rows, impurity and value, where leaves do not tell
    them (medians, rows that go both ways); no rows otherwise.
    """

    feature: NDArray[np.int32]
    threshold: Floats
    right: NDArray[np.int32]
    level_bits: NDArray[np.uint64]
    leaf_value: Floats
    leaf_weight: NDArray[Any]
    leaf_impurity: Floats
    facts: Floats

    def said(self, leaves: NDArray[np.int64]) -> Floats:
        """What leaves say, given the numbers of their nodes."""
        if len(self.leaf_value):
            return np.asarray(self.leaf_value[self.right[leaves]])
        said = self.threshold[leaves]
        if self.leaf_value.shape[1] == 2:
            return np.column_stack([1.0 - said, said])
        return said[:, None]

    def nodes(self, levels: NDArray[np.int64], kind: str, classes: tuple[int, ...]) -> Nodes:
        """All that is known of all nodes."""
        leaf = self.feature < 0
        leaves = np.flatnonzero(leaf)
        left, right = np.where(leaf, -1, np.arange(1, len(leaf) + 1)), np.where(leaf, -1, self.right)
        inner, level = [], np.zeros(1, dtype=np.int64)
        while len(level := level[~leaf[level]]):
            inner.append(level)
            level = np.concatenate([left[level], right[level]])
        rows = -1 - self.feature[leaves].astype(np.int64)
        own = NodeFacts(self.leaf_weight.astype(np.float64), rows, self.said(leaves), self.leaf_impurity)
        found = add_up(leaves, own, inner, left, right, kind, classes)
        if len(self.facts):
            at, told = np.flatnonzero(~leaf), self.facts
            found.weight[at], found.rows[at], found.impurity[at] = told[:, 0], told[:, 1], told[:, 2]
            found.value[at] = told[:, 3:]
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


def kept_tree(nodes: Nodes, with_facts: bool) -> KeptTree:
    """A tree as it is kept."""
    grown, leaf = nodes.grown, ~nodes.inner
    splits = splits_of(grown)
    feature = np.where(leaf, -1 - grown.rows, splits.feature).astype(np.int32)
    right = np.where(leaf, np.cumsum(leaf) - 1, grown.right).astype(np.int32)
    threshold, value = grown.threshold, nodes.value[leaf]
    if in_place(value.shape[1], nodes.classes):
        threshold, value = np.where(leaf, nodes.value[:, -1], threshold), value[:0].copy()
    told = (grown.weight, grown.rows, grown.impurity, nodes.value)
    facts: Floats = np.column_stack(told).astype(np.float64)[~leaf & with_facts]
    cost = grown.impurity[leaf]
    return KeptTree(
        feature,
        threshold,
        right,
        grown.left_levels,
        value,
        least_bytes(grown.weight[leaf]),
        np.empty(0) if nodes.classes else cost,
        facts,
    )
