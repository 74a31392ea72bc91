"""Heights of merges, computed again from the definitions of the linkages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.clusters.linkage import stretched
from surefit.models.cluster.compared_rows import EUCLIDEAN, Rows, distances
from surefit.models.cluster.hierarchy.connectivity import Edges
from surefit.models.cluster.hierarchy.merge_tree import MergeTree

WHOLE = 1000  # rows up to which every merge is made again
_BLOCK = 2**22  # distances held at once
_CENTRED = ("ward", "centroid", "median")


def largest_error(tree: MergeTree, rows: Rows, linkage: str, metric: Any, *, sample: int, most: int) -> float:
    """By how much, as a share of the largest height, a height is off, or another merge was closer.

    All merges for a few rows; else ``sample`` of those of at most ``most`` pairs, and the last where
    ``most`` allows.
    """
    scale = float(np.abs(tree.heights).max(initial=0.0)) or 1.0
    if len(rows) <= WHOLE and len(tree.children) == len(rows) - 1:
        return _replayed(tree, rows, linkage, metric) / scale
    weights = _weights_within(tree, rows, linkage)
    if linkage in _CENTRED:
        return _between_centres(tree, rows, linkage, weights) / scale
    return _of_members(tree, rows, linkage, metric, sample, most) / scale


def error_along(tree: MergeTree, rows: Rows, linkage: str, edges: Edges) -> float:
    """The same for merges along the edges of a graph, all of them, by passing on each node's edges."""
    n, w = len(rows), rows.weights.tolist()
    centre = list(np.asarray(rows.X, dtype=np.float64)) if linkage == "ward" else []

    def ward(a: int, b: int) -> float:
        apart = centre[a] - centre[b]
        return float(np.sqrt(2 * w[a] * w[b] / (w[a] + w[b]) * (apart @ apart)))

    near: list[dict[int, float]] = [{} for _ in range(n)]
    for a, b, d in zip(*(entry.tolist() for entry in edges), strict=True):
        near[a][b] = near[b][a] = ward(a, b) if linkage == "ward" else d
    worst, scale = 0.0, float(np.abs(tree.heights).max(initial=0.0)) or 1.0
    for t, (a, b) in enumerate(tree.children.tolist()):
        if b not in near[a]:
            return float("inf")
        found, height, k = near[a][b], float(tree.heights[t]), n + t
        closest = min(min(near[a].values()), min(near[b].values()))
        worst = max(worst, abs(found - height), found - closest)
        w.append(w[a] + w[b])
        if linkage == "ward":
            centre.append((w[a] * centre[a] + w[b] * centre[b]) / w[k])
        one, two = near[a], near[b]
        near[a], near[b] = {}, {}
        near.append({})
        for c in (one.keys() | two.keys()) - {a, b}:
            ends = [(w[node], side[c]) for node, side in ((a, one), (b, two)) if c in side]
            far = ward(k, c) if linkage == "ward" else _joined(linkage, ends)
            near[k][c] = near[c][k] = far
            near[c].pop(a, None)
            near[c].pop(b, None)
    return worst / scale


def _joined(linkage: str, ends: list[tuple[float, float]]) -> float:
    """How far a union is, from the weights and distances of those of its two halves that have an edge."""
    if linkage == "single":
        return min(d for _, d in ends)
    if linkage == "complete":
        return max(d for _, d in ends)
    if linkage == "average":
        return sum(v * d for v, d in ends) / sum(v for v, _ in ends)
    return sum(d for _, d in ends) / len(ends)


def square_of(rows: Rows, metric: Any) -> Matrix:
    """The distances between all rows."""
    if metric == "precomputed":
        return np.array(rows.X, dtype=np.float64)
    if callable(metric):
        return np.array(metric(rows.X), dtype=np.float64)
    return distances(rows.X, rows.X, metric)


def _replayed(tree: MergeTree, rows: Rows, linkage: str, metric: Any) -> float:
    """Make every merge again, with the whole matrix."""
    n = len(rows)
    D = square_of(rows, metric)
    w = rows.weights.copy()
    if linkage == "ward":
        D = D**2 * (2 * w[:, None] * w / (w[:, None] + w))
    elif linkage in _CENTRED:
        D = D**2
    np.fill_diagonal(D, np.inf)
    place, worst = list(range(n)), 0.0
    for t, (a, b) in enumerate(tree.children.tolist()):
        i, j = place[a], place[b]
        if i == j or i < 0 or j < 0:
            return float("inf")
        least = min(D[i].min(), D[j].min())
        found = np.sqrt(max(float(D[i, j]), 0.0)) if linkage in _CENTRED else float(D[i, j])
        best = np.sqrt(max(float(least), 0.0)) if linkage in _CENTRED else float(least)
        worst = max(worst, abs(found - tree.heights[t]), found - best)
        row = stretched(linkage, D[i], D[j], D[i, j], w[i], w[j], w)
        D[i] = D[:, i] = row
        D[j] = D[:, j] = np.inf
        D[i, i] = np.inf
        w[i] += w[j]
        place += [i]
        place[a] = place[b] = -1
    return float(worst)


def _weights_within(tree: MergeTree, rows: Rows, linkage: str) -> Vector:
    """The weight of each node."""
    weight = rows.weights.tolist()
    for a, b in tree.children.tolist():
        weight.append(weight[a] + weight[b])
    return np.array(weight)


def _between_centres(tree: MergeTree, rows: Rows, linkage: str, weight: Vector) -> float:
    """Compare every height with the centres of the two nodes."""
    X = np.asarray(rows.X, dtype=np.float64)
    n, worst = len(X), 0.0
    centre = np.empty((n + len(tree.children), X.shape[1]))
    centre[:n] = X
    for t, (a, b) in enumerate(tree.children.tolist()):
        share = 0.5 if linkage == "median" else weight[b] / (weight[a] + weight[b])
        apart = centre[b] - centre[a]
        centre[n + t] = centre[a] + share * apart
        factor = 2 * weight[a] * weight[b] / (weight[a] + weight[b]) if linkage == "ward" else 1.0
        worst = max(worst, abs(float(np.sqrt(factor * (apart @ apart))) - float(tree.heights[t])))
    return worst


def _of_members(tree: MergeTree, rows: Rows, linkage: str, metric: Any, sample: int, most: int) -> float:
    """Compare some heights with all distances between the rows of the two nodes."""
    order, start = tree.spans()
    size = tree.sizes()
    pairs = size[tree.children[:, 0]] * size[tree.children[:, 1]]
    able = np.flatnonzero(pairs <= most)
    chosen = set(able[np.linspace(0, len(able) - 1, min(sample, len(able))).astype(int)].tolist())
    if most >= pairs[-1]:
        chosen.add(len(pairs) - 1)
    worst = 0.0
    for t in sorted(chosen):
        a, b = tree.children[t].tolist()
        left, right = (order[start[c] : start[c] + size[c]] for c in (a, b))
        if linkage == "weighted":
            u, v = _halved(tree, a, left), _halved(tree, b, right)
        else:
            u, v = rows.weights[left], rows.weights[right]
        worst = max(worst, abs(_linked(rows, linkage, metric, left, right, u, v) - tree.heights[t]))
    return float(worst)


def _halved(tree: MergeTree, node: int, members: NDArray[np.int64]) -> Vector:
    """What each row counts in a node when the two halves of every merge count the same."""
    share, n = {node: 1.0}, tree.leaves
    stack = [node]
    while stack:
        at = stack.pop()
        if at >= n:
            for child in tree.children[at - n].tolist():
                share[child] = share[at] / 2
                stack.append(child)
    return np.array([share[leaf] for leaf in members.tolist()])


def _linked(
    rows: Rows, linkage: str, metric: Any, left: NDArray[np.int64], right: NDArray[np.int64], u: Any, v: Any
) -> float:
    """The linkage of two sets of rows, by its definition."""
    step = max(1, _BLOCK // len(right))
    parts = []
    for begin in range(0, len(left), step):
        some = left[begin : begin + step]
        if metric == "precomputed":
            block = np.asarray(rows.X)[np.ix_(some, right)]
        elif callable(metric):
            block = metric(rows.X)[np.ix_(some, right)]
        else:
            block = distances(rows.X[some], rows.X[right], metric if metric not in EUCLIDEAN else "euclidean")
        if linkage == "single":
            parts.append(block.min())
        elif linkage == "complete":
            parts.append(block.max())
        else:
            parts.append(u[begin : begin + step] @ block @ v)
    if linkage == "single":
        return float(min(parts))
    if linkage == "complete":
        return float(max(parts))
    return float(sum(parts) / (u.sum() * v.sum()))
