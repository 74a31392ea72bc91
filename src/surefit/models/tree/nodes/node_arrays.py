"""A fitted tree as arrays, and the view of it that scikit-learn's users know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.tree_apply import tree_apply
from surefit.core.native.trees.tree_grow import Grown

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TreeStructure:
    """Of each node in a walk that goes left first: the one above it, -1 for the root, and how many are."""

    parents: Whole
    depths: Whole

    @classmethod
    def of(cls, feature: NDArray[Any], right: NDArray[Any]) -> TreeStructure:
        """That of stored splits: ``feature`` is negative for leaves, left children follow their parents.

        >>> found = TreeStructure.of(np.array([0, 1, -1, -1, -1]), np.array([4, 3, 0, 0, 0]))
        >>> found.parents.tolist(), found.depths.tolist()
        ([-1, 0, 1, 1, 0], [0, 1, 2, 2, 1])
        """
        parents = np.full(len(feature), -1, dtype=np.int64)
        depths = np.zeros(len(feature), dtype=np.int64)
        level, depth = np.zeros(1, dtype=np.int64), 0
        while len(level := level[feature[level] >= 0]):
            depth += 1
            left, other = level + 1, right[level].astype(np.int64)
            parents[left] = parents[other] = level
            level = np.concatenate([left, other])
            depths[level] = depth
        return cls(parents, depths)

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.parents)

    @property
    def max_depth(self) -> int:
        """How many splits are above the deepest leaf."""
        return int(self.depths.max())


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """A tree, one entry a node, in the order of a walk that goes left first.

    grown: the splits. value: (nodes, width): the share of each class, those of several outputs one after the
    other, or the prediction of each output. classes: how many each output has; empty for numbers.
    """

    grown: Grown
    value: Matrix
    classes: tuple[int, ...] = ()

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.grown.feature)

    @property
    def inner(self) -> NDArray[np.bool_]:
        """Which nodes are split."""
        return self.grown.feature >= 0

    @property
    def n_leaves(self) -> int:
        """How many nodes are not split."""
        return int(np.count_nonzero(~self.inner))

    @property
    def depths(self) -> NDArray[np.int64]:
        """How many splits are above each node."""
        return TreeStructure.of(self.grown.feature, self.grown.right).depths

    @property
    def parents(self) -> NDArray[np.int64]:
        """The node above each; -1 for the root."""
        parent = np.full(self.node_count, -1, dtype=np.int64)
        at = np.flatnonzero(self.inner)
        parent[self.grown.left[at]] = at
        parent[self.grown.right[at]] = at
        return parent

    @property
    def max_depth(self) -> int:
        """How many splits are above the deepest leaf."""
        return int(self.depths.max())

    def left_levels(self, at: int) -> NDArray[np.int64]:
        """The codes of the levels that go left at a node that splits a column of levels."""
        return self.levels_at(int(self.grown.threshold[at]), int(self.grown.feature[at]))

    def levels_at(self, start: int, column: int) -> NDArray[np.int64]:
        """The codes of the levels of a column whose bits begin there."""
        grown = self.grown
        count, words = int(grown.levels[column]), int(max((grown.levels + 63) // 64))
        bits = np.unpackbits(grown.left_levels[start : start + words].view(np.uint8), bitorder="little")
        return np.flatnonzero(bits[:count])

    def importances(self) -> Vector:
        """The decrease of impurity by the splits of each column, as shares that add up to 1."""
        grown = self.grown
        at = np.flatnonzero(self.inner)
        total = np.zeros(len(grown.levels))
        np.add.at(total, grown.feature[at], np.maximum(decreases(self) * grown.weight, 0.0)[at])
        return total / total.sum() if total.sum() > 0 else total


def decreases(nodes: Nodes) -> Vector:
    """By how much the split of each node lowers its impurity; 0 for leaves."""
    grown, at = nodes.grown, np.flatnonzero(nodes.inner)
    cost = grown.impurity * grown.weight
    found = np.zeros(nodes.node_count)
    found[at] = (cost[at] - cost[grown.left[at]] - cost[grown.right[at]]) / grown.weight[at]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class TreeView:
    """What scikit-learn calls ``tree_``: the same arrays under its names, -2 where a leaf has no split."""

    nodes: Nodes
    n_features: int
    n_outputs: int

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return self.nodes.node_count

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return self.nodes.n_leaves

    @property
    def max_depth(self) -> int:
        """How deep the deepest leaf lies."""
        return self.nodes.max_depth

    @property
    def children_left(self) -> NDArray[np.int64]:
        """The left child of each node; -1 for a leaf."""
        return self.nodes.grown.left.astype(np.int64)

    @property
    def children_right(self) -> NDArray[np.int64]:
        """The right child of each node; -1 for a leaf."""
        return self.nodes.grown.right.astype(np.int64)

    @property
    def feature(self) -> NDArray[np.int64]:
        """The column that each node splits; -2 for a leaf."""
        return np.where(self.nodes.inner, self.nodes.grown.feature, -2).astype(np.int64)

    @property
    def threshold(self) -> Vector:
        """What goes left is at most this; -2 for a leaf, NaN for levels."""
        grown, inner = self.nodes.grown, self.nodes.inner
        levels = inner & (grown.levels[grown.feature] > 0)
        return np.where(inner, np.where(levels, np.nan, grown.threshold), -2.0)

    @property
    def missing_go_to_left(self) -> NDArray[np.uint8]:
        """Whether missing values go left."""
        return self.nodes.grown.missing_left

    @property
    def impurity(self) -> Vector:
        """The impurity of each node."""
        return self.nodes.grown.impurity

    @property
    def n_node_samples(self) -> NDArray[np.int64]:
        """How many rows came by."""
        return self.nodes.grown.rows

    @property
    def weighted_n_node_samples(self) -> Vector:
        """What those rows weigh."""
        return self.nodes.grown.weight

    @property
    def n_classes(self) -> NDArray[np.int64]:
        """How many classes each output has; 1 for numbers."""
        return np.array(self.nodes.classes or [1] * self.n_outputs, dtype=np.int64)

    @property
    def max_n_classes(self) -> int:
        """The most classes that an output has."""
        return int(self.n_classes.max())

    @property
    def value(self) -> Matrix:
        """(nodes, outputs, classes): shares of classes, or one prediction an output."""
        nodes = self.nodes
        if not nodes.classes:
            return nodes.value[:, :, None]
        found = np.zeros((nodes.node_count, self.n_outputs, self.max_n_classes))
        for o, share in enumerate(np.split(nodes.value, np.cumsum(nodes.classes)[:-1], axis=1)):
            found[:, o, : share.shape[1]] = share
        return found

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each row, dense or sparse."""
        return tree_apply(self.nodes.grown, X.toarray() if issparse(X) else X)

    def predict(self, X: NDArray[Any]) -> Vector:
        """Return the value of the leaf of each row."""
        return self.value[self.apply(X)]

    def decision_path(self, X: NDArray[Any]) -> csr_array:
        """Return which nodes each row comes by, as a sparse matrix of ones."""
        return decision_path(self.nodes, self.apply(X))

    def compute_feature_importances(self, normalize: bool = True) -> Vector:
        """Return the decrease of impurity by column, as shares of all of it unless told otherwise."""
        found = self.nodes.importances()
        if normalize:
            return found
        grown = self.nodes.grown
        leaves = ~self.nodes.inner
        spent = grown.impurity[0] - (grown.impurity * grown.weight)[leaves].sum() / grown.weight[0]
        return found * spent


def decision_path(nodes: Nodes | TreeStructure, leaves: NDArray[np.int64]) -> csr_array:
    """Return which nodes lie above each of these leaves, themselves included."""
    parents, depths = nodes.parents, nodes.depths
    lengths = depths[leaves] + 1
    starts = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.empty(starts[-1], dtype=np.int64)
    at, place = leaves.astype(np.int64), starts[1:] - 1
    rows = np.arange(len(leaves))
    while len(rows):
        indices[place[rows]] = at[rows]
        place[rows] -= 1
        at[rows] = parents[at[rows]]
        rows = rows[at[rows] >= 0]
    return csr_array((np.ones(len(indices)), indices, starts), shape=(len(leaves), nodes.node_count))
