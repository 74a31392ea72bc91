"""Trees over points, and the nearest points of queries by any norm of differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.neighbours.norms import Norm

GROUP = 16  # points that are looked at together
TREE_KINDS = ("box", "ball", "none")


@dataclass(frozen=True, slots=True)
class Nearest:
    """For each query the numbers of the nearest points and their sums, in order: (m, k) each."""

    index: NDArray[np.int64]
    value: Matrix


@dataclass(frozen=True, slots=True)
class Lists:
    """What each query found: numbers and sums at ``start[i]`` to ``start[i + 1]``."""

    start: NDArray[np.int64]
    index: NDArray[np.int64]
    value: Vector


@dataclass(frozen=True, slots=True)
class PointTree:
    """Points in leaves of ``bucket``, in groups of 16, and the boxes or balls around them; or no tree."""

    X: Matrix  # the points as they were given
    norm: Norm
    bucket: int
    kind: Literal["box", "ball", "none"]
    points: Vector
    ids: NDArray[np.int32]
    bounds: Vector

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return -(-len(self.X) // self.bucket)


def grow_point_tree(
    X: Matrix,
    norm: Norm | None = None,
    *,
    bucket: int = GROUP,
    kind: Literal["box", "ball", "none"] = "box",
    _threads: int | None = None,
) -> PointTree:
    """Put the rows of a C-ordered float64 matrix into a tree.

    >>> tree = grow_point_tree(np.array([[0.0], [1.0], [3.0]]))
    >>> tree_nearest(tree, np.array([[2.0]]), 2).index
    array([[1, 2]])
    """
    norm = Norm() if norm is None else norm
    leaves, width = -(-len(X) // bucket), X.shape[1]
    size = {"box": 2 * width, "ball": width + 1, "none": 0}[kind]
    tree = PointTree(
        X,
        norm,
        bucket,
        kind,
        np.empty(leaves * bucket * width),
        np.empty(leaves * bucket, dtype=np.int32),
        np.empty(max(2 * leaves - 1, 0) * size),
    )
    native = compiled()
    if native is not None:
        used = threads() if _threads is None else _threads
        native.grow_point_tree(X, norm.kind, norm.p, bucket, kind, tree.points, tree.ids, tree.bounds, used)
    return tree


def _held(tree: PointTree) -> tuple[Any, ...]:
    norm = tree.norm
    return len(tree.X), norm.kind, norm.p, tree.bucket, tree.kind, tree.points, tree.ids, tree.bounds


def tree_nearest(
    tree: PointTree, Q: Matrix, k: int, own: bool = False, *, _threads: int | None = None
) -> Nearest:
    """Return the k nearest points of each query; with ``own``, Q is the points, none its own neighbour."""
    native = compiled()
    if native is None:
        return nearest_twin(tree.X, tree.norm, Q, k, own)
    found = Nearest(np.empty((len(Q), k), dtype=np.int64), np.empty((len(Q), k)))
    used = threads() if _threads is None else _threads
    native.tree_nearest(*_held(tree), Q, own, found.index, found.value, used)
    return found


def tree_within(
    tree: PointTree,
    Q: Matrix,
    radius: Vector,
    own: bool = False,
    by_distance: bool = False,
    *,
    _threads: int | None = None,
) -> Lists:
    """Return all points whose sum from query i is at most ``radius[i]``, by number or by distance."""
    native = compiled()
    if native is None:
        return within_twin(tree.X, tree.norm, Q, radius, own, by_distance)
    used = threads() if _threads is None else _threads
    return Lists(*native.tree_within(*_held(tree), Q, radius, own, by_distance, used))


def nearest_twin(X: Matrix, norm: Norm, Q: Matrix, k: int, own: bool) -> Nearest:
    """Do the same with a stable sort of all sums."""
    index, value = np.empty((len(Q), k), dtype=np.int64), np.empty((len(Q), k))
    step = max(1, 2**20 // max(1, len(X)))
    for start in range(0, len(Q), step):
        sums = norm.sums(Q[start : start + step], X)
        order = np.argsort(sums, axis=1, kind="stable")
        if own:
            order = np.array([row[row != start + i] for i, row in enumerate(order)]).reshape(len(order), -1)
        kept = order[:, :k]
        index[start : start + step, : kept.shape[1]] = kept
        value[start : start + step, : kept.shape[1]] = np.take_along_axis(sums, kept, axis=1)
        index[start : start + step, kept.shape[1] :] = -1
        value[start : start + step, kept.shape[1] :] = np.inf
    return Nearest(index, value)


def within_twin(X: Matrix, norm: Norm, Q: Matrix, radius: Vector, own: bool, by_distance: bool) -> Lists:
    """Do the same by looking at all sums."""
    counts, index, value = [0], [], []
    for i, row in enumerate(Q):
        sums = norm.sums(row[None], X)[0]
        near = sums <= radius[i]
        if own:
            near[i] = False
        mine = np.flatnonzero(near)
        mine = mine[np.argsort(sums[mine], kind="stable")] if by_distance else mine
        counts.append(len(mine))
        index.append(mine)
        value.append(sums[mine])
    none = [np.empty(0)]
    return Lists(
        np.cumsum(counts), np.concatenate([*none, *index]).astype(np.int64), np.concatenate([*none, *value])
    )
