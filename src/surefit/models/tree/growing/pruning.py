"""Cutting a grown tree back: by cost and complexity, by a validation part, and where leaves agree."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.models.tree.nodes.node_arrays import Nodes


def kept_below(nodes: Nodes, cut: NDArray[np.bool_]) -> Nodes:
    """The tree in which the nodes that are ``cut`` are leaves; what hung below them is gone."""
    grown = nodes.grown
    parents = nodes.parents
    keep = np.ones(nodes.node_count, dtype=bool)
    for at in range(1, nodes.node_count):  # parents come first
        above = parents[at]
        keep[at] = keep[above] and not cut[above]
    place = np.cumsum(keep) - 1
    inner = keep & nodes.inner & ~cut

    def child(of: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(inner, place[of], -1).astype(np.int32)[keep]

    by_level = inner & (grown.levels[grown.feature] > 0)
    words = int(max((grown.levels + 63) // 64, default=0))
    starts = grown.threshold[by_level].astype(np.int64)
    bits = grown.left_levels[(starts[:, None] + np.arange(words)).ravel()]
    threshold = np.where(inner, grown.threshold, 0.0)
    threshold[by_level] = words * np.arange(len(starts))
    below = replace(
        grown,
        feature=np.where(inner, grown.feature, -1).astype(np.int32)[keep],
        threshold=threshold[keep],
        left=child(grown.left),
        right=child(grown.right),
        missing_left=np.where(inner, grown.missing_left, 0).astype(np.uint8)[keep],
        impurity=grown.impurity[keep],
        weight=grown.weight[keep],
        rows=grown.rows[keep],
        sums=grown.sums[keep],
        left_levels=bits,
    )
    return Nodes(below, nodes.value[keep], nodes.classes)


def weakest_links(nodes: Nodes) -> tuple[list[int], Vector, Vector]:
    r"""The nodes that lose their branch as a leaf gets dearer, the prices, and the impurity from then on.

    A branch with leaves :math:`L` below node t is worth :math:`\alpha_t = (R(t) - \sum_{l \in L} R(l)) /
    (|L| - 1)`; the least of them goes first, R being the share of the weight times the impurity.
    """
    grown, parents = nodes.grown, nodes.parents.tolist()
    inner = nodes.inner
    cost = (grown.impurity * grown.weight / grown.weight[0]).tolist()
    left, right = grown.left.tolist(), grown.right.tolist()
    branch, leaves = list(cost), [1] * nodes.node_count
    for at in reversed(np.flatnonzero(inner).tolist()):
        branch[at] = branch[left[at]] + branch[right[at]]
        leaves[at] = leaves[left[at]] + leaves[right[at]]
    standing = inner.tolist()
    version = [0] * nodes.node_count

    def price(at: int) -> float:
        return (cost[at] - branch[at]) / (leaves[at] - 1)

    heap = [(price(at), at, 0) for at in np.flatnonzero(inner).tolist()]
    heapq.heapify(heap)
    order, alphas, impurities = [], [0.0], [branch[0]]
    while heap:
        alpha, at, seen = heapq.heappop(heap)
        if not standing[at] or seen != version[at]:
            continue
        order.append(at)
        alphas.append(alpha)
        below = [at]
        while below:
            gone = below.pop()
            if standing[gone]:
                standing[gone] = False
                below += [left[gone], right[gone]]
        change, fewer = cost[at] - branch[at], leaves[at] - 1
        above = at
        while above >= 0:
            branch[above] += change
            leaves[above] -= fewer
            version[above] += 1
            if standing[above]:
                heapq.heappush(heap, (price(above), above, version[above]))
            above = parents[above]
        impurities.append(branch[0])
    return order, np.array(alphas), np.array(impurities)


def pruning_path(nodes: Nodes) -> tuple[Vector, Vector]:
    """The prices of a leaf at which the tree loses a branch, 0 first, and its impurity from each on."""
    _, alphas, impurities = weakest_links(nodes)
    return alphas, impurities


def pruned_at(nodes: Nodes, alpha: float) -> Nodes:
    """The tree that is cheapest when a leaf costs ``alpha``."""
    order, alphas, _ = weakest_links(nodes)
    cut = np.zeros(nodes.node_count, dtype=bool)
    for at, price in zip(order, alphas[1:].tolist(), strict=True):
        if price > alpha:
            break
        cut[at] = True
    return kept_below(nodes, cut)


def simplified(nodes: Nodes, same: NDArray[np.int64]) -> Nodes:
    """The tree without splits whose two sides answer the same; ``same`` numbers the answers of nodes."""
    grown = nodes.grown
    answer = np.where(nodes.inner, -1, same)  # of a whole branch; -1 where it has several
    cut = np.zeros(nodes.node_count, dtype=bool)
    for at in np.flatnonzero(nodes.inner)[::-1]:
        one, other = answer[grown.left[at]], answer[grown.right[at]]
        # The split goes only if its node, as a leaf, would give that answer too.
        if one == other and one >= 0 and same[at] == one:
            answer[at], cut[at] = one, True
    return kept_below(nodes, cut)


def reduced_error_cuts(nodes: Nodes, errors: Vector) -> NDArray[np.bool_]:
    """Which nodes to make leaves, one after the other, as long as that does not raise the validation error.

    errors: of each node, what its rows of the validation part would lose if it were a leaf. Each time the
    node whose cut gains most goes; of equal ones the smaller tree is taken, and then the first node.
    """
    grown, parents = nodes.grown, nodes.parents.tolist()
    left, right = grown.left.tolist(), grown.right.tolist()
    inner = np.flatnonzero(nodes.inner).tolist()
    branch, leaves = errors.tolist(), [1] * nodes.node_count
    for at in reversed(inner):
        branch[at] = branch[left[at]] + branch[right[at]]
        leaves[at] = leaves[left[at]] + leaves[right[at]]
    cut = np.zeros(nodes.node_count, dtype=bool)
    standing = set(inner)
    while standing:
        best = max(standing, key=lambda at: (branch[at] - errors[at], leaves[at], -at))
        if branch[best] - errors[best] < -1e-12 * (1.0 + abs(branch[best])):
            break
        cut[best] = True
        below = [best]
        while below:
            gone = below.pop()
            if gone in standing:
                standing.remove(gone)
                below += [left[gone], right[gone]]
        gained, fewer = branch[best] - float(errors[best]), leaves[best] - 1
        above = best
        while above >= 0:
            branch[above] -= gained
            leaves[above] -= fewer
            above = parents[above]
    return cut
