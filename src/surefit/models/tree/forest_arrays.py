"""What a forest keeps of itself, and each of its trees as a tree by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.forest_grow import MISSING_LEFT, NODE, GrownForest
from surefit.core.native.tree_grow import Grown
from surefit.core.parameters import Interval
from surefit.models.tree.arrays import Target
from surefit.models.tree.criteria import impurity, x_log_x
from surefit.models.tree.nodes import Nodes
from surefit.models.tree.rows import Levels

Floats = NDArray[np.float64]

# Types of parameters that all forests have.
OutOfBag = bool | Callable[..., Any]
Bootstrap = bool | Literal["poisson"]
RowsDrawn = Annotated[int, Interval(1, None)] | Annotated[float, Interval(0, None, open_low=True)] | None
ForestClassWeights = Literal["balanced", "balanced_subsample"] | dict[Any, Any] | list[Any] | None
ForestMissing = Literal["learned", "category"]


@dataclass(frozen=True, slots=True)
class ForestParameters:
    """The trees, as ``GrownForest`` has them, and what is needed to draw their samples again.

    loss_curve: the loss of rows out of bag, or of all where trees leave none out, after each block of trees;
    loss_trees: how many trees there were then.
    member_error: the mean squared error of one tree; member_correlation: that of the errors of two.
    leaf_value: the share of each class, or the prediction of each output. seed, draws: of the samples; 0
    draws take all rows, and a number below 0 says that each row was drawn by its number, so many on average;
    rows: how many there were; row_cumulative: the running sums of the weights they were drawn by, or these
    themselves where rows were drawn by their numbers (one NaN where they were not kept); empty without.
    oob_answers: the mean answer for each
    row by the trees that have not seen it, and oob_value its score. leaf_member: the training rows of each
    leaf, in the order of leaves; member_target: their targets. Both pairs are kept where they are asked for,
    and empty otherwise.
    """

    loss_curve: Floats
    loss_trees: NDArray[np.int64]
    member_error: float
    member_correlation: float
    nodes: NDArray[np.uint64]
    node_start: NDArray[np.int64]
    leaf_value: Floats
    leaf_weight: Floats
    leaf_impurity: Floats
    leaf_rows: NDArray[np.int64]
    leaf_start: NDArray[np.int64]
    tree_importance: Floats
    level_bits: NDArray[np.uint64]
    level_start: NDArray[np.int64]
    inner: Floats
    tree_seeds: NDArray[np.uint64]
    levels: Levels
    seed: int
    draws: int
    rows: int
    row_cumulative: Floats
    searched_by_bins: bool
    max_features: int
    n_outputs: int
    oob_answers: Floats
    oob_value: float
    leaf_member: NDArray[np.int32]
    member_target: Floats


@dataclass(frozen=True, slots=True)
class ClassForestParameters(ForestParameters):
    """The same, and the labels: one array, or a list of one for each output."""

    classes: Any


def answers_in_units(answers: Floats, target: Target) -> Floats:
    """Answers for a scaled target, in the units of the target as it came."""
    if target.classes:
        return answers
    return answers / target.factor + (0.0 if target.centre is None else target.centre)


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


def walk_order(forest: GrownForest, t: int) -> tuple[Any, NDArray[np.int64], list[NDArray[np.int64]]]:
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


def leaf_places(forest: GrownForest, t: int) -> NDArray[np.int64]:
    """The place of each leaf of a tree among the nodes of ``tree_nodes``."""
    nodes, place, _ = walk_order(forest, t)
    leaves = np.flatnonzero(nodes["feature"] < 0)
    found = np.empty(len(leaves), dtype=np.int64)
    found[nodes["child"][leaves]] = place[leaves]
    return found


def tree_nodes(
    forest: GrownForest, t: int, kind: str, classes: tuple[int, ...], levels: NDArray[np.int64]
) -> Nodes:
    """A tree as arrays, one entry a node; what inner nodes would say is added up from their leaves.

    forest: with shares of classes, or predictions, as values. kind: the kernel's name of the criterion.
    """
    nodes, place, depths = walk_order(forest, t)
    count, width = len(nodes), forest.value.shape[1]
    own = slice(forest.leaf_start[t], forest.leaf_start[t + 1])
    weight, rows = np.zeros(count), np.zeros(count, dtype=np.int64)
    value, cost = np.zeros((count, width)), np.zeros(count)
    leaves = np.flatnonzero(nodes["feature"] < 0)
    at = nodes["child"][leaves]
    weight[leaves], rows[leaves] = forest.weight[own][at], forest.rows[own][at]
    value[leaves], cost[leaves] = forest.value[own][at], forest.impurity[own][at]
    for level in reversed(depths):
        inner = level[nodes["feature"][level] >= 0]
        left = nodes["child"][inner].astype(np.int64)
        right = left + 1
        weight[inner] = weight[left] + weight[right]
        rows[inner] = rows[left] + rows[right]
        share = (weight[left] / weight[inner])[:, None]
        value[inner] = share * value[left] + (1.0 - share) * value[right]
        if not classes:
            cost[inner] = _cost_above(kind, share[:, 0], value, cost, inner, left)
    if classes:
        inner = np.flatnonzero(nodes["feature"] >= 0)
        cost[inner] = impurity(value[inner] * weight[inner, None], weight[inner], kind, classes)
    if len(forest.inner):
        all_nodes = forest.inner[forest.node_start[t] : forest.node_start[t + 1]]
        cost, value = all_nodes[:, 0], all_nodes[:, 1:]
    back = np.argsort(place)
    split = nodes["feature"] >= 0
    left = np.where(split, place[np.where(split, nodes["child"], 0)], -1)
    right = np.where(split, place[np.where(split, nodes["child"] + 1, 0)], -1)
    grown = Grown(
        np.where(split, nodes["feature"] & ~MISSING_LEFT, -1).astype(np.int32)[back],
        nodes["threshold"][back],
        left.astype(np.int32)[back],
        right.astype(np.int32)[back],
        (split & (nodes["feature"] & MISSING_LEFT != 0)).astype(np.uint8)[back],
        cost[back],
        weight[back],
        rows[back],
        value[back] * weight[back, None],
        forest.level_bits[forest.level_start[t] : forest.level_start[t + 1]],
        levels,
    )
    return Nodes(grown, value[back], classes)


def _cost_above(
    kind: str, share: Floats, value: Floats, cost: Floats, inner: Any, left: NDArray[np.int64]
) -> Floats:
    """The impurity of nodes from their children's: what is within them, and what is between."""
    right = left + 1
    within = share * cost[left] + (1.0 - share) * cost[right]
    if kind == "poisson":
        between = share[:, None] * x_log_x(value[left]) + (1.0 - share)[:, None] * x_log_x(value[right])
        return np.asarray(within + (between - x_log_x(value[inner])).mean(axis=1))
    between = (share * (1.0 - share))[:, None] * (value[left] - value[right]) ** 2
    return np.asarray(within + between.mean(axis=1))
