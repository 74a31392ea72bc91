"""What a forest keeps of itself, and each of its trees as a tree by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.forest_grow import MISSING_LEFT, NODE, GrownForest
from surefit.core.native.trees.tree_grow import Grown
from surefit.core.parameters import Interval
from surefit.models.tree.nodes.compact_forest import CompactForest
from surefit.models.tree.nodes.leaf_slots import is_digit
from surefit.models.tree.nodes.node_arrays import Nodes
from surefit.models.tree.nodes.node_facts import NodeFacts, add_up
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.rows.matrix import Levels

# Types of parameters that all forests have.
OutOfBag = bool | Callable[..., Any]
Bootstrap = bool | Literal["poisson"]
RowsDrawn = Annotated[int, Interval(1, None)] | Annotated[float, Interval(0, None, open_low=True)] | None
ForestClassWeights = Literal["balanced", "balanced_subsample"] | dict[Any, Any] | list[Any] | None
ForestMissing = Literal["learned", "category"]


@dataclass(frozen=True, slots=True)
class ForestParameters:
    """The trees, as ``CompactForest`` has them, and what is needed to draw their samples again.

    loss_curve: the loss of rows out of bag, or of all where trees leave none out, after each block of trees;
    loss_trees: how many trees there were then.
    member_error: the mean squared error of one tree; member_correlation: that of the errors of two.
    seed, draws: of the samples; 0
    draws take all rows, and a number below 0 says that each row was drawn by its number, so many on average;
    rows: how many there were; row_cumulative: the running sums of the weights they were drawn by, or these
    themselves where rows were drawn by their numbers (one NaN where they were not kept); empty without.
    oob_answers: the mean answer for each
    row by the trees that have not seen it, and oob_value its score. leaf_member: the training rows of each
    leaf, in the order of leaves; member_target: their targets. Both pairs are kept where they are asked for,
    and empty otherwise.
    """

    loss_curve: Vector
    loss_trees: NDArray[np.int64]
    member_error: float
    member_correlation: float
    nodes: NDArray[np.uint64]
    node_start: NDArray[np.int64]
    leaf_value: Matrix
    leaf_weight: NDArray[Any]
    leaf_impurity: NDArray[Any]
    leaf_start: NDArray[np.int64]
    tree_importance: Matrix
    level_bits: NDArray[np.uint64]
    level_start: NDArray[np.int64]
    inner_value: Matrix
    inner_impurity: NDArray[Any]
    tree_seeds: NDArray[np.uint64]
    levels: Levels
    seed: int
    draws: int
    rows: int
    row_cumulative: Vector
    searched_by_bins: bool
    max_features: int
    n_outputs: int
    oob_answers: Matrix
    oob_value: float
    leaf_member: NDArray[np.int32]
    member_target: Matrix


@dataclass(frozen=True, slots=True)
class ClassForestParameters(ForestParameters):
    """The same, and the labels: one array, or a list of one for each output."""

    classes: Any


def answers_in_units(answers: Matrix, target: Target) -> Matrix:
    """Answers for a scaled target, in the units of the target as it came."""
    if target.classes:
        return answers
    return answers / target.factor + (0.0 if target.centre is None else target.centre)


def loss_unit(target: Target) -> float:
    """What losses for a scaled target are divided by, to be those for the target as it came."""
    return 1.0 if target.classes else target.factor**2


def in_target_units(forest: GrownForest, target: Target) -> GrownForest:
    """The trees of a scaled target in the units of the target as it came; weights of classes as shares."""
    if target.classes:
        return replace(forest, value=forest.value / forest.weight[:, None])
    scale, inner = target.factor**target.power, forest.inner
    if len(inner):
        inner = np.column_stack([inner[:, 0] / scale, answers_in_units(inner[:, 1:], target)])
    return replace(
        forest,
        value=answers_in_units(forest.value, target),
        impurity=forest.impurity / scale,
        importance=forest.importance / scale,
        inner=inner,
    )


def some_trees(forest: Any, first: int, last: int) -> Any:
    """Some neighbouring trees of a forest, of its kind."""
    starts = {
        "node": forest.node_start,
        "leaf": forest.leaf_start,
        "level": forest.level_start,
        "split": forest.node_start - forest.leaf_start,
    }
    spans = {name: slice(own[first], own[last]) for name, own in starts.items()}
    kinds = {"nodes": "node", "inner": "node", "level_bits": "level"}
    kinds |= {"inner_value": "split", "inner_impurity": "split"}

    def of(name: str) -> Any:
        values = getattr(forest, name)
        if name.endswith("_start"):
            return values[first : last + 1] - values[first]
        if name == "importance":
            return values[first:last]
        if name == "leaf_value" or (name != "rows" and is_digit(values)):  # all trees share it
            return values
        return values[spans[kinds.get(name, "leaf")]]

    return replace(forest, **{entry.name: of(entry.name) for entry in fields(forest)})


def walk_order(
    forest: CompactForest | GrownForest, t: int
) -> tuple[Any, NDArray[np.int64], list[NDArray[np.int64]]]:
    """The nodes of a tree, the place of each in a walk that goes left first, and the nodes of each depth."""
    nodes = forest.nodes[forest.node_start[t] : forest.node_start[t + 1]].view(NODE).reshape(-1)
    depths = [np.array([0])]
    while len(inner := depths[-1][nodes["feature"][depths[-1]] >= 0]):
        left = nodes["child"][inner].astype(np.int64)
        depths.append(np.concatenate([left, left + 1]))
    size = np.ones(len(nodes), dtype=np.int64)
    for level in reversed(depths):
        inner = level[nodes["feature"][level] >= 0]
        left = nodes["child"][inner]
        size[inner] += size[left] + size[left + 1]
    place = np.zeros(len(nodes), dtype=np.int64)
    for level in depths:
        inner = level[nodes["feature"][level] >= 0]
        left = nodes["child"][inner]
        place[left] = place[inner] + 1
        place[left + 1] = place[inner] + 1 + size[left]
    return nodes, place, depths


def leaf_places(forest: CompactForest, t: int) -> NDArray[np.int64]:
    """The place of each leaf of a tree among the nodes of ``tree_nodes``."""
    nodes, place, _ = walk_order(forest, t)
    leaves = np.flatnonzero(nodes["feature"] < 0)
    found = np.empty(len(leaves), dtype=np.int64)
    found[nodes["child"][leaves]] = place[leaves]
    return found


def tree_nodes(
    forest: CompactForest | GrownForest,
    t: int,
    kind: str,
    classes: tuple[int, ...],
    levels: NDArray[np.int64],
) -> Nodes:
    """A tree as arrays, one entry a node; what inner nodes would say is added up from their leaves.

    forest: with shares of classes, or predictions, as values. kind: the kernel's name of the criterion.
    """
    nodes, place, depths = walk_order(forest, t)
    split, one = nodes["feature"] >= 0, some_trees(forest, t, t + 1)
    leaves, child = np.flatnonzero(~split), nodes["child"].astype(np.int64)
    at = child[leaves]
    own = NodeFacts(one.weight[at], one.rows[at], one.value[at], one.impurity[at])
    inner = [level[split[level]] for level in depths]
    facts = add_up(leaves, own, inner, child, child + 1, kind, classes)
    cost, value, weight = facts.impurity, facts.value, facts.weight
    if len(told := one.inner):
        cost, value = told[:, 0], told[:, 1:]
    back = np.argsort(place)
    left = np.where(split, place[np.where(split, nodes["child"], 0)], -1)
    right = np.where(split, place[np.where(split, nodes["child"] + 1, 0)], -1)
    grown = Grown(
        np.where(split, nodes["feature"] & ~MISSING_LEFT, -1).astype(np.int32)[back],
        np.where(split, nodes["threshold"], 0.0)[back],
        left.astype(np.int32)[back],
        right.astype(np.int32)[back],
        (split & (nodes["feature"] & MISSING_LEFT != 0)).astype(np.uint8)[back],
        cost[back],
        weight[back],
        facts.rows[back],
        value[back] * weight[back, None],
        one.level_bits,
        levels,
    )
    return Nodes(grown, value[back], classes)
