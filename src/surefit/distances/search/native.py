"""Searching where a distance is a norm of differences: compiled, by a tree or by all pairs."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.native.neighbours.near_rows import rows_nearest, rows_within
from surefit.core.native.neighbours.point_tree import (
    GROUP,
    PointTree,
    grow_point_tree,
    tree_nearest,
    tree_within,
)
from surefit.distances.base import Distance, Native
from surefit.distances.search.index import Found, Index, Lists

_SAFE = (1e-120, 1e120)  # sizes whose powers neither overflow nor vanish
_FEW = 64  # queries below which a product of matrices is not worth its start


class NativeIndex(Index):
    """Rows whose distance compiled code counts."""

    def __init__(
        self,
        rows: Matrix,
        distance: Distance,
        native: Native,
        kind: Literal["box", "ball", "none"],
        why: str,
        bucket: int = GROUP,
    ) -> None:
        algorithm = {"box": "kd_tree", "ball": "ball_tree", "none": "brute"}[kind]
        super().__init__(len(rows), distance, algorithm, why)
        self.native = native
        largest = float(np.abs(rows).max(initial=0.0))
        self._scale = 1.0 if largest == 0 or _SAFE[0] < largest < _SAFE[1] else _power_of_two(largest)
        self._X = rows if self._scale == 1.0 else np.ascontiguousarray(rows * self._scale)
        self._kind: Literal["box", "ball", "none"] = kind
        self._bucket = bucket
        self._tree: PointTree | None = None

    def tree(self) -> PointTree:
        """The rows in leaves; grown when it is first asked for."""
        if self._tree is None:
            self._tree = grow_point_tree(self._X, self.native.norm, bucket=self._bucket, kind=self._kind)
        return self._tree

    def _queries(self, Q: Any) -> Matrix:
        if Q is None:
            return self._X
        rows = np.ascontiguousarray(self.native.rows(Q), dtype=np.float64)
        return rows if self._scale == 1.0 else np.ascontiguousarray(rows * self._scale)

    def _by_products(self, queries: int) -> bool:
        return self._kind == "none" and self.native.norm.kind == "squared" and queries >= _FEW

    def _distances(self, sums: Any) -> Any:
        found = self.native.norm.distance(sums)
        plain = self.native.norm.kind == "differing" or self._scale == 1.0
        return self.native.finish(found if plain else found / self._scale)

    def _nearest(self, Q: Any, k: int) -> Found:
        queries = self._queries(Q)
        if self._by_products(len(queries)):
            with one_blas_thread():
                found = rows_nearest(self._X, queries, k, Q is None)
        else:
            found = tree_nearest(self.tree(), queries, k, Q is None)
        return Found(self._distances(found.value), found.index)

    def _within(self, Q: Any, radius: Vector, by_distance: bool) -> Lists:
        queries, norm = self._queries(Q), self.native.norm
        undone = self.native.undo(radius)
        limit = norm.power(undone if norm.kind == "differing" else undone * self._scale)
        # A little more than asked for, as roots and their inverses round; what is too far is left out below.
        limit = np.ascontiguousarray(limit * (1 + 1e-12))
        if self._by_products(len(queries)):
            with one_blas_thread():
                found = rows_within(self._X, queries, limit, Q is None, by_distance)
        else:
            found = tree_within(self.tree(), queries, limit, Q is None, by_distance)
        lists = Lists(found.start, found.index, self._distances(found.value))
        near = lists.distance <= np.repeat(radius, lists.counts())
        return lists if near.all() else lists.kept(near)

    def visited_share(self, k: int, sample: int = 32) -> float:
        """Which share of the leaves a query looks at, by the boxes and k-th distances of a sample of rows."""
        tree = self.tree()
        if tree.leaves == 1 or not len(tree.bounds):
            return 1.0
        width = self._X.shape[1]
        queries = np.ascontiguousarray(self._X[:: max(1, len(self._X) // sample)][:sample])
        bound = tree_nearest(tree, queries, min(k + 1, len(self._X))).value[:, -1]
        boxes = tree.bounds.reshape(-1, 2, width)[_leaf_nodes(tree.leaves)]
        looked = 0
        for q, far in zip(queries, bound, strict=True):
            out = np.maximum(np.maximum(boxes[:, 0] - q, q - boxes[:, 1]), 0.0)
            looked += int((self.native.norm.paired(out, np.zeros(width)) <= far).sum())
        return looked / (len(queries) * tree.leaves)


def _power_of_two(size: float) -> float:
    return float(np.ldexp(1.0, -int(np.clip(np.frexp(size)[1], -1000, 1000))))


def _leaf_nodes(leaves: int) -> Any:
    """The places of the leaves among the nodes in preorder: each turn to the right skips the left part."""
    node, first, count = (np.full(leaves, start, dtype=np.int64) for start in (0, 0, leaves))
    which = np.arange(leaves)
    while (count > 1).any():
        left = (count + 1) // 2
        inner, right = count > 1, (count > 1) & (which >= first + left)
        node = np.where(right, node + 2 * left, np.where(inner, node + 1, node))
        first = np.where(right, first + left, first)
        count = np.where(right, count - left, np.where(inner, left, count))
    return node
