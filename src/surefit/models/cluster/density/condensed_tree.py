"""Which clusters of a tree of merges last longest: the tree condensed, and clusters chosen in it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector


@dataclass(frozen=True, slots=True)
class Chosen:
    """The label of each row, -1 for noise, and how surely it belongs there, from 0 to 1."""

    label: NDArray[np.int64]
    probability: Vector


@dataclass(slots=True)
class Condensed:
    """Clusters that split only into clusters of at least some weight; what is less falls out of them.

    Cluster 0 is the whole table. ``parent``, ``birth`` (1 / distance) and ``weight`` are of each cluster;
    ``home`` and ``leaves`` say of each row which cluster it fell out of, and when.
    """

    parent: list[int]
    birth: list[float]
    weight: list[float]
    home: NDArray[np.int64]
    leaves: Vector

    def stability(self, row_weight: Vector) -> Vector:
        """The sum over a cluster's rows of how long they stay in it, on the scale of 1 / distance."""
        birth = np.array(self.birth)
        stay = np.zeros(len(birth))
        own = np.bincount(self.home, row_weight * (_finite(self.leaves) - birth[self.home]), len(birth))
        stay += own
        for child in range(1, len(birth)):
            up = self.parent[child]
            stay[up] += (birth[child] - birth[up]) * self.weight[child]
        return stay


def _finite(x: Vector) -> Vector:
    """1 / 0 for rows at distance 0: as far as floats reach without a sum that overflows."""
    return np.minimum(x, 1e150)


def condense(children: NDArray[np.int64], heights: Vector, weight: Vector, least: float) -> Condensed:
    """Go down from the top of the tree and keep the splits into two parts of at least ``least`` each."""
    n = len(weight)
    heavy = weight.tolist()
    pairs = children.tolist()
    for a, b in pairs:
        heavy.append(heavy[a] + heavy[b])
    found = Condensed([-1], [0.0], [heavy[-1]], np.zeros(n, dtype=np.int64), np.zeros(n))
    high = heights.tolist()
    queue = deque([(2 * n - 2, 0)])  # level by level, which is the order of numbers
    while queue:
        node, cluster = queue.popleft()
        if node < n:
            found.home[node], found.leaves[node] = cluster, np.inf
            continue
        height = high[node - n]
        density = 1.0 / height if height > 0 else np.inf
        a, b = pairs[node - n]
        if heavy[a] >= least and heavy[b] >= least:
            for child in (a, b):
                found.parent.append(cluster)
                found.birth.append(min(density, 1e150))
                found.weight.append(heavy[child])
                queue.append((child, len(found.parent) - 1))
            continue
        for child in (a, b):
            if heavy[child] >= least:
                queue.append((child, cluster))
            else:
                _fall(child, n, pairs, found, cluster, density)
    return found


def _fall(node: int, n: int, pairs: list[list[int]], found: Condensed, cluster: int, density: float) -> None:
    """All rows of a node leave a cluster at once."""
    stack = [node]
    while stack:
        at = stack.pop()
        if at < n:
            found.home[at], found.leaves[at] = cluster, density
        else:
            stack += pairs[at - n]


def choose(
    tree: Condensed,
    weight: Vector,
    *,
    method: str,
    allow_single: bool,
    epsilon: float = 0.0,
    most: float = np.inf,
) -> Chosen:
    """Choose clusters, none inside another, by excess of mass (``"eom"``) or as the ``"leaf"`` ones."""
    count = len(tree.parent)
    below: list[list[int]] = [[] for _ in range(count)]
    for child in range(1, count):
        below[tree.parent[child]].append(child)
    chosen = np.zeros(count, dtype=bool)
    if method == "leaf":
        chosen[[c for c in range(count) if not below[c]]] = True
    else:
        _by_mass(tree, weight, below, chosen, allow_single, most)
    if not allow_single or (method == "leaf" and count > 1):
        chosen[0] = False
    if epsilon > 0 and count > 1:
        chosen = _no_finer(tree, chosen, epsilon, allow_single)
    return _labelled(tree, chosen, epsilon)


def _by_mass(
    tree: Condensed,
    weight: Vector,
    below: list[list[int]],
    chosen: NDArray[np.bool_],
    allow: bool,
    most: float,
) -> None:
    """From the leaves upwards, keep a cluster or its best parts, whichever lasts longer."""
    stability = tree.stability(weight)
    worth = stability.copy()
    for cluster in range(len(below) - 1, -1 if allow else 0, -1):
        inside = sum(worth[child] for child in below[cluster])
        if inside > stability[cluster] or tree.weight[cluster] > most:
            worth[cluster] = inside
            continue
        chosen[cluster] = True
        stack = list(below[cluster])
        while stack:
            child = stack.pop()
            chosen[child] = False
            stack += below[child]


def _no_finer(tree: Condensed, chosen: NDArray[np.bool_], epsilon: float, allow: bool) -> NDArray[np.bool_]:
    """Replace clusters born below a distance of ``epsilon`` by the first above them born beyond it."""
    kept = np.zeros_like(chosen)
    for cluster in np.flatnonzero(chosen).tolist():
        at = cluster
        while at > 0 and tree.birth[at] > 1 / epsilon:
            up = tree.parent[at]
            if up == 0 and not allow:
                break
            at = up
        kept[at] = True
    for cluster in np.flatnonzero(kept).tolist():  # the outermost of those inside each other
        up = tree.parent[cluster]
        while up >= 0 and not kept[up]:
            up = tree.parent[up]
        if up >= 0:
            kept[cluster] = False
    return kept


def _labelled(tree: Condensed, chosen: NDArray[np.bool_], epsilon: float) -> Chosen:
    count = len(tree.parent)
    owner = np.full(count, -1)
    for cluster in range(count):
        up = tree.parent[cluster]
        owner[cluster] = cluster if chosen[cluster] else owner[up] if up >= 0 else -1
    at = owner[tree.home]
    alone = bool(chosen[0])
    if alone:  # what falls out before anything else splits would belong to it all
        bound = 1 / epsilon if epsilon > 0 else tree.leaves[tree.home == 0].max(initial=0.0)
        at = np.where((tree.home == 0) & (tree.leaves < bound), -1, at)
    number = np.cumsum(chosen) - 1
    label = np.where(at >= 0, number[at], -1)
    peak = np.zeros(count)
    leaves = _finite(tree.leaves)
    np.maximum.at(peak, tree.home, leaves)
    for cluster in range(1, count):
        up = tree.parent[cluster]
        peak[up] = max(peak[up], tree.birth[cluster])
    top = np.maximum(peak[at], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(top > 0, np.minimum(leaves, top) / top, 1.0)
    return Chosen(label.astype(np.int64), np.where(label >= 0, share, 0.0))
