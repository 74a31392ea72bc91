"""What inner nodes would say as leaves, added up from the leaves below them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.count_distance import count_distance
from surefit.models.tree.nodes.criteria import impurity

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class NodeFacts:
    """Weight, rows, value (nodes, width) and impurity of each node."""

    weight: Vector
    rows: Whole
    value: Matrix
    impurity: Vector


def add_up(
    leaves: Whole,
    own: NodeFacts,
    inner: list[Whole],
    left: Whole,
    right: Whole,
    kind: str,
    classes: tuple[int, ...],
    told: Vector | None = None,
) -> NodeFacts:
    """The facts of all nodes, given those of ``leaves``.

    inner: the inner nodes of each depth, the root first. left, right: the children of each node. kind: the
    kernel's name of the criterion. The impurities of leaves are not looked at where classes tell them. told:
    of all nodes, by how much a split lowers impurity, and their values, where leaves do not tell them.
    """
    count = len(left)
    weight, rows, cost = np.zeros(count), np.zeros(count, dtype=np.int64), np.zeros(count)
    value = np.zeros((count, own.value.shape[1]))
    weight[leaves], rows[leaves] = own.weight, own.rows
    value[leaves] = _class_weights(own) if classes else own.value
    if not classes:
        cost[leaves] = own.impurity
    for at in reversed(inner):
        one, two = left[at], right[at]
        weight[at], rows[at] = weight[one] + weight[two], rows[one] + rows[two]
        if classes:
            value[at] = value[one] + value[two]
            continue
        share = (weight[one] / weight[at])[:, None]
        cost[at] = share[:, 0] * cost[one] + (1.0 - share[:, 0]) * cost[two]
        if told is not None:
            cost[at], value[at] = cost[at] + told[at, 0], told[at, 1:]
            continue
        value[at] = share * value[one] + (1.0 - share) * value[two]
        cost[at] += _between(kind, share, value[one], value[two], value[at])
    if classes:
        return NodeFacts(weight, rows, value / weight[:, None], impurity(value, weight, kind, classes))
    return NodeFacts(weight, rows, value, cost)


def _class_weights(own: NodeFacts) -> Vector:
    """The weights of classes in leaves; whole ones without the rounding of their shares."""
    weight = own.weight[:, None]
    held = own.value * weight
    near = np.rint(held)
    whole = (weight == np.rint(weight)) & (np.abs(held - near) <= 1e-15 * weight)
    return np.where(whole, near, held)


def _between(kind: str, share: Vector, one: Vector, two: Vector, both: Vector) -> Vector:
    """What the impurity of a node has beyond that within its children."""
    if kind == "poisson":
        gap = one - two  # of which each side has the other's share
        parts = share * count_distance((1.0 - share) * gap, both)
        parts = parts + (1.0 - share) * count_distance(-share * gap, both)
    else:
        parts = share * (1.0 - share) * (one - two) ** 2
    return np.asarray(parts.mean(axis=1))
