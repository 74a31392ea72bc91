"""What the arrays of a file must hold before anything walks them: a tree in every tree, and room for all.

Kernels and loops follow children, columns, starts and words of levels without asking again, so that a file
that was made by hand is refused here, in a few passes over whole arrays. ``check_links`` says that nodes are
trees: each but a root is the child of one node, which stands before it in the same tree, so that no walk is
endless and no tree is larger than its nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import FormatError
from surefit.core.native.trees.forest_grow import MISSING_LEFT, NODE
from surefit.models.tree.nodes.compact_forest import CompactForest, numbered
from surefit.models.tree.nodes.compact_tree import CompactTree
from surefit.models.tree.nodes.leaf_slots import BASE, FLOATS, fact_in, is_digit, rows_in, whole_of
from surefit.models.tree.nodes.leaf_values import in_place
from surefit.models.tree.nodes.surrogate_arrays import Surrogates

Whole = NDArray[Any]
FACTS = (np.uint32, np.float32, np.float64)  # of leaves that stand apart
DRAWS_BY_WEIGHT = 64  # what is drawn weighs 1 in a tree, or as much in all where classes are balanced


def expect(holds: Any, what: str) -> None:
    """Refuse what does not hold; ``what`` must.

    >>> expect(1 < 2, "one must be below two")
    """
    if not holds:
        raise FormatError(f"its trees are damaged: {what}.")


def check_levels(levels: Any, width: int, most: int | None = None) -> NDArray[np.int64]:
    """Return how many levels each column has; 0 for numbers.

    >>> check_levels((), 2).tolist(), check_levels((np.array(["a", "b"]), np.empty(0)), 2).tolist()
    ([0, 0], [2, 0])
    """
    if not levels:
        return np.zeros(width, dtype=np.int64)
    expect(len(levels) == width, "every column must have its levels")
    expect(all(own.ndim == 1 for own in levels), "levels must be lists")
    counts = np.array([len(own) for own in levels], dtype=np.int64)
    expect(most is None or counts.max() <= most, "a column must not have more levels than bins")
    return counts


def check_starts(starts: Whole, trees: int, count: int, what: str, least: int = 0) -> None:
    """Check that starts ascend from 0 to how many there are; ``least``: what each tree has."""
    expect(starts.ndim == 1 and len(starts) == trees + 1, f"every tree must have a start of its {what}")
    rising = (starts[1:] - least >= starts[:-1]).all() and (starts >= 0).all()
    expect(
        starts[0] == 0 and starts[-1] == count and rising, f"the starts of {what} must ascend to their end"
    )


def check_links(start: Whole, split: Whole, left: Whole, right: Whole) -> None:
    """Check that nodes are trees, given the places of split nodes and of their children among all nodes.

    >>> check_links(np.array([0, 3]), np.array([0]), np.array([1]), np.array([2]))
    """
    count, trees = int(start[-1]), len(start) - 1
    expect(count == 2 * len(split) + trees, "a tree must have one leaf more than splits")
    end = np.repeat(start[1:], np.diff(start))[split]
    inside = (left > split) & (right > split) & (left < end) & (right < end)
    expect(inside.all(), "children must stand after their parent and in its tree")
    seen = np.zeros(count, dtype=bool)
    seen[left] = True
    seen[right] = True
    # As many children as nodes that are no root: each stands below one node.
    expect(np.count_nonzero(seen) == 2 * len(split), "a node must be the child of one node")
    expect(not seen[start[:-1]].any(), "a root must be no child")


def check_words(column: Whole, begin: Whole, levels: NDArray[np.int64], words: Any) -> None:
    """Check that columns are in the table, and that the words of levels lie in their block.

    begin: of splits, where those that are by levels have their words; words: how many there are.
    """
    expect(
        not len(column) or (column.min() >= 0 and column.max() < len(levels)), "columns must be in the table"
    )
    if not levels.any():
        return
    count = levels[column]
    needed = np.where(count > 0, begin + (count + 63) // 64, 0.0)
    begins = np.where(count > 0, begin, 0.0)
    expect(((begins >= 0.0) & (needed <= words)).all(), "words of levels must lie in their block")


def check_said(value: Whole, said: Whole, width: int, classes: tuple[int, ...]) -> None:
    """Check what leaves say; said: in place of their thresholds."""
    expect(value.ndim == 2 and value.shape[1] == width, "leaves must say one number an output or class")
    if not len(value):
        expect(in_place(width, classes), "leaves must say one number an output or class")
        return
    expect(((said >= 0.0) & (said < len(value))).all(), "leaves must say a row of what they share")


def check_fact(fact: Whole, count: int, what: str) -> None:
    """Check a fact of ``count`` leaves or splits, which may be none, apart or a digit."""
    expect(fact.ndim == 1, f"{what} must be a list")
    if is_digit(fact):
        digits = len(fact) == 3 and fact[0] >= 0 and fact[BASE] >= 1 and fact[FLOATS] in (0, 1)
        expect(digits, f"the digits of {what} must have a base")
    else:
        expect(fact.dtype in FACTS and len(fact) in (0, count), f"every node must have its {what}")


def check_inner(value: Whole, fact: Whole, splits: int, width: int) -> None:
    """Check what is kept of splits: both of all of them, or neither."""
    check_fact(fact, splits, "impurity of splits")
    expect(value.ndim == 2 and len(value) in (0, splits), "every split must have its value")
    expect((len(value) > 0) == (len(fact) > 0) or splits == 0, "splits must have a value and an impurity")
    expect(not len(value) or value.shape[1] == width, "splits must say one number an output")


def check_classes(labels: Any, outputs: int) -> tuple[int, ...]:
    """Return how many classes each output has; labels: an array, or a list of one for each output."""
    each = labels if isinstance(labels, list) else [labels]
    fits = all(isinstance(own, np.ndarray) and own.ndim == 1 and len(own) for own in each)
    expect(fits and len(each) == outputs, "every output must have its classes")
    return tuple(len(own) for own in each)


def check_tree(
    tree: CompactTree, others: Surrogates, levels: NDArray[np.int64], classes: tuple[int, ...], outputs: int
) -> None:
    """Check the arrays of one tree, and the splits that stand in for missing values."""
    nodes = len(tree.feature)
    for own in (tree.feature, tree.threshold, tree.right):
        expect(own.shape == (nodes,), "every node must have its column, threshold and child")
    expect(tree.level_bits.ndim == 1 and nodes > 0, "a tree must have a root and a list of words")
    leaf = tree.feature < 0
    split = np.flatnonzero(~leaf)
    check_links(np.array([0, nodes]), split, split + 1, tree.right[split].astype(np.int64))
    column, words = tree.feature[split] & ~MISSING_LEFT, len(tree.level_bits)
    check_words(column, tree.threshold[split], levels, words)
    width = sum(classes) or outputs
    check_said(tree.leaf_value, tree.threshold[leaf], width, classes)
    check_fact(tree.leaf_weight, nodes - len(split), "weight of leaves")
    check_fact(tree.leaf_impurity, nodes - len(split), "impurity of leaves")
    check_inner(tree.inner_value, tree.inner_decrease, len(split), width)
    listed = (others.column, others.threshold, others.turned, others.agreement)
    one_each = others.node.ndim == 1 and all(each.shape == others.node.shape for each in listed)
    expect(one_each, "surrogates must have one entry each")
    if len(others.node):
        rising = others.node[0] >= 0 and others.node[-1] < nodes and (np.diff(others.node) >= 0).all()
        expect(rising and not leaf[others.node].any(), "surrogates must follow the splits they stand in for")
        check_words(others.column, others.threshold, levels, words)


def check_forest(
    forest: CompactForest, levels: NDArray[np.int64], classes: tuple[int, ...], outputs: int
) -> None:
    """Check the arrays of a forest as it is stored."""
    expect(forest.nodes.ndim == 2 and forest.nodes.shape[1] == 2, "nodes must have two words each")
    expect(forest.node_start.ndim == 1 and len(forest.node_start) > 1, "a forest must have a tree")
    nodes, trees = np.ascontiguousarray(forest.nodes).view(NODE).reshape(-1), forest.trees
    start = forest.node_start
    check_starts(start, trees, len(nodes), "nodes", least=1)
    feature, child = nodes["feature"], nodes["child"].astype(np.int64)
    leaf = feature < 0
    split, at = np.flatnonzero(~leaf), np.flatnonzero(leaf)
    first = np.repeat(start[:-1], np.diff(start))
    left = first[split] + child[split]
    check_links(start, split, left, left + 1)
    check_starts(forest.leaf_start, trees, len(at), "leaves")
    sizes = np.diff(start)
    expect((2 * np.diff(forest.leaf_start) == sizes + 1).all(), "leaves must be counted by tree")
    expect(forest.level_bits.ndim == 1, "words of levels must be a list")
    check_starts(forest.level_start, trees, len(forest.level_bits), "words of levels")
    words: Any = 0
    if levels.any():
        words = np.repeat(np.diff(forest.level_start), sizes)[split]
    check_words(feature[split] & ~MISSING_LEFT, nodes["threshold"][split], levels, words)
    width = sum(classes) or outputs
    check_said(forest.leaf_value, nodes["threshold"][at], width, classes)
    if not is_digit(forest.inner_impurity):  # else leaves have no numbers
        count = np.repeat(np.diff(forest.leaf_start), sizes)[at]
        own, place = child[at], np.repeat(forest.leaf_start[:-1], sizes)[at]
        expect(((own >= 0) & (own < count)).all(), "leaves must be numbered within their tree")
        seen = np.zeros(len(at), dtype=bool)
        seen[place + own] = True
        expect(seen.all(), "leaves must be numbered within their tree")
    check_fact(forest.leaf_weight, len(at), "weight of leaves")
    check_fact(forest.leaf_impurity, len(at), "impurity of leaves")
    check_inner(forest.inner_value, forest.inner_impurity, len(split), width)
    expect(forest.importance.shape == (trees, len(levels)), "every tree must have the importance of columns")


def check_samples(
    forest: CompactForest, draws: int, rows: int, cumulative: Whole, members: Whole, target: Whole
) -> None:
    """Check what is kept of the samples that trees were grown from, given a forest that is whole."""
    expect(0 <= rows < 2**31, "rows must be counted")
    by_weight = cumulative.ndim == 1 and len(cumulative) in (0, 1, rows)
    expect(by_weight, "rows that were drawn by weight must have one each")
    expect(abs(draws) <= DRAWS_BY_WEIGHT * _held(forest), "what was drawn must weigh something in leaves")
    expect(
        members.ndim == 1 and target.ndim == 2, "the rows of leaves must be a list, and their targets a table"
    )
    if not len(members):
        return
    whole = numbered(forest)
    inside = members.min() >= 0 and members.max() < len(target) == rows
    sizes = np.rint(whole.weight) if draws else whole.rows.astype(np.float64)
    counted = (sizes >= 1).all() and sizes.sum() == len(members)
    expect(inside and counted and target.shape[1] > 0, "the rows of leaves must be those of the fit")


def _held(forest: CompactForest) -> float:
    """What all leaves hold: rows, and their weights, in any order."""
    nodes = forest.nodes.view(NODE).reshape(-1)
    at, facts = np.flatnonzero(nodes["feature"] < 0), forest.facts
    wide = is_digit(forest.inner_impurity)
    number = whole_of(nodes["feature"][at], nodes["child"][at] if wide else None)
    facts = (forest.inner_impurity, *facts) if wide else facts
    weight = fact_in(number, facts, 1 if wide else 0).astype(np.float64)
    return float(np.abs(rows_in(number, facts)).sum() + np.nansum(np.abs(weight)))


def check_boosted(nodes: Any, levels: NDArray[np.int64], rounds: int, outputs: int) -> None:
    """Check the arrays of boosted trees, as ``BoostedNodes`` has them."""
    count = len(nodes.column)
    for own in (nodes.column, nodes.number, nodes.left, nodes.right, nodes.missing_left, nodes.by_levels):
        expect(own.shape == (count,), "every node must have its column, number and children")
    expect(nodes.root.ndim == nodes.bits.ndim == 1, "roots and words of levels must be lists")
    expect(rounds >= 0 and outputs >= 1, "rounds and outputs must be counted")
    expect(len(nodes.root) == rounds * outputs, "every round must have one tree an output")
    start = np.append(nodes.root, count)
    check_starts(start, len(nodes.root), count, "nodes", least=min(1, len(nodes.root)))
    split = np.flatnonzero(nodes.column >= 0)
    expect((np.maximum(nodes.left, nodes.right) < count).all(), "children must be nodes")  # of leaves, too
    check_links(start, split, nodes.left[split].astype(np.int64), nodes.right[split].astype(np.int64))
    column, by_levels = nodes.column[split], nodes.by_levels[split] != 0
    check_words(column, np.zeros(len(split)), levels, np.inf)
    expect((levels[column[by_levels]] > 0).all(), "a column that is split by levels must have some")
    begin = nodes.number[split][by_levels]  # of four words each, whatever levels a column has
    expect(
        ((begin >= 0.0) & (begin + 4.0 <= len(nodes.bits))).all(), "words of levels must lie in their block"
    )
