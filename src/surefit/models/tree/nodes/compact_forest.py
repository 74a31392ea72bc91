"""What forests keep of their trees: 16 bytes a node, and of leaves what no other number tells.

A leaf has no threshold, so that what it says stands there where that is one number: a prediction, or the
share of the second of two classes; else, which row of the table that all leaves share. It has no column
either: how many rows it holds stands there, with what else fits beside it (``leaf_slots.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.forest_grow import NODE, ForestArrays, GrownForest, leaf_numbers
from surefit.core.native.trees.forest_walk import said_by_leaves
from surefit.models.tree.nodes.leaf_slots import WIDE, as_digits, fact_in, halves, is_digit, rows_in, whole_of
from surefit.models.tree.nodes.leaf_values import in_place, least_impurity, least_weight, shared_rows, single

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CompactForest(ForestArrays):
    """The trees of a ``GrownForest`` as they are kept.

    leaf_value: (different, width), what leaves say; no rows where nodes say it. leaf_weight: of leaves, empty
    where it is how many rows they hold. leaf_impurity: empty for classes, whose shares tell it, and where it
    is 0. inner_value, inner_impurity: of nodes that are split, where leaves do not tell them (medians). Where
    weights and impurities stand beside the rows of leaves, they are as ``leaf_slots.py`` has them. Where
    those of splits do, too, which a tree has beside its first leaves, the numbers of leaves have given way
    (``wide_forest.py``), and the properties below are not there.
    """

    leaf_value: Matrix
    leaf_weight: NDArray[Any]
    leaf_impurity: NDArray[Any]
    inner_value: Matrix
    inner_impurity: NDArray[Any]

    @property
    def value(self) -> Matrix:
        """What leaves say, (leaves, width)."""
        if not self.is_shared:
            return said_by_leaves(self, self.leaf_value.shape[1])
        return np.asarray(self.leaf_value[said_by_leaves(self, 1)[:, 0].astype(np.intp)])

    @property
    def said(self) -> Matrix | int:
        """The same as the walk takes it."""
        return self.leaf_value if self.is_shared else self.leaf_value.shape[1]

    @property
    def is_shared(self) -> bool:
        """Whether leaves say which row of ``leaf_value`` is theirs."""
        return len(self.leaf_value) > 0

    @property
    def facts(self) -> tuple[NDArray[Any], ...]:
        """What may stand beside the rows of leaves."""
        return self.leaf_weight, self.leaf_impurity

    def slots(self) -> NDArray[np.int64]:
        """The number in place of the column of each leaf."""
        at, number = leaf_numbers(self)
        found = np.empty(len(at), dtype=np.int64)
        found[number] = whole_of(self.nodes.view(NODE).reshape(-1)["feature"][at])
        return found

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many rows each leaf holds."""
        return rows_in(self.slots(), self.facts)

    @property
    def weight(self) -> Vector:
        """The weight of each leaf."""
        if not len(self.leaf_weight):
            return self.rows.astype(np.float64)
        return fact_in(self.slots(), self.facts, 0).astype(np.float64)

    @property
    def impurity(self) -> Vector:
        """The impurity of each leaf; 0 for classes, whose shares tell it."""
        if not len(self.leaf_impurity):
            return np.zeros(int(self.leaf_start[-1]))
        return fact_in(self.slots(), self.facts, 1).astype(np.float64)

    @property
    def inner(self) -> Matrix:
        """Impurity and value of all nodes, where leaves do not tell them; else empty."""
        if not len(self.inner_value):
            return np.empty((0, 1 + self.leaf_value.shape[1]))
        at, number = leaf_numbers(self)
        split = self.nodes.view(NODE).reshape(-1)["feature"] >= 0
        found = np.empty((len(split), 1 + self.inner_value.shape[1]))
        found[split] = np.column_stack([self.inner_impurity, self.inner_value])
        found[at] = np.column_stack([self.impurity, self.value])[number]
        return found


def compact_forest(forest: GrownForest, classes: tuple[int, ...]) -> CompactForest:
    """The trees as they are kept, given those with shares of classes, or predictions, as values.

    The nodes are theirs from here on: they are changed where they stand.
    """
    nodes = forest.nodes.view(NODE).reshape(-1)
    at, number = leaf_numbers(forest)
    value = forest.value
    if in_place(value.shape[1], classes):
        nodes["threshold"][at] = value[number, -1]
        value = value[:0].copy()  # a view would keep all of it
    else:
        value, which = shared_rows(value)
        nodes["threshold"][at] = which[number]
    split = np.ones(len(nodes) if len(forest.inner) else 0, dtype=bool)
    split[at if len(split) else []] = False
    weight = least_weight(forest.weight, forest.rows)
    cost = np.empty(0) if classes else least_impurity(forest.impurity, len(split) > 0)
    slots, (weight, cost) = as_digits(forest.rows, (weight, cost))
    nodes["feature"][at] = -1 - slots[number]
    return CompactForest(
        **{entry.name: getattr(forest, entry.name) for entry in fields(ForestArrays)},
        leaf_value=value,
        leaf_weight=weight,
        leaf_impurity=cost,
        inner_value=forest.inner[split, 1:] if len(split) else np.empty((0, 0)),
        inner_impurity=single(forest.inner[split, 0]) if len(split) else np.empty(0),
    )


def without_digits(forest: CompactForest) -> CompactForest:
    """The same, with nothing beside the rows of leaves."""
    if not any(map(is_digit, forest.facts)):
        return forest
    at, number = leaf_numbers(forest)
    packed, slots = forest.nodes.copy(), forest.slots()
    packed.view(NODE).reshape(-1)["feature"][at] = -1 - forest.rows[number]
    weight, cost = (fact_in(slots, forest.facts, which) for which in (0, 1))
    return replace(forest, nodes=packed, leaf_weight=weight, leaf_impurity=cost)


def leaf_ranks(forest: CompactForest) -> tuple[Whole, Whole]:
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


def widened(forest: CompactForest) -> CompactForest:
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


def numbered(forest: CompactForest) -> CompactForest:
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


def _among_all(forest: CompactForest, at: Whole) -> Whole:
    """The number of the first leaf of the tree of each of some nodes."""
    return forest.leaf_start[np.searchsorted(forest.node_start, at, side="right") - 1]
