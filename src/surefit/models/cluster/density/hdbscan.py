"""HDBSCAN: clusters of all densities, out of one tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError
from surefit.core.native.clusters.linkage import Merges, linkage_of_rows, linkage_of_square
from surefit.core.parameters import Count, Interval, NonNegative, Positive
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.cluster.compared_rows import EUCLIDEAN, Rows, RowsCompared, distances
from surefit.models.cluster.density.condensed_tree import Chosen, choose, condense
from surefit.models.cluster.hierarchy.merge_tree import MergeTree
from surefit.models.rows_in_memory import gathered

FILLED = 2**24  # cells of a sparse table that are filled
WHOLE = 1000  # rows up to which the whole spanning tree is made again
TREE_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class HDBSCANParameters:
    """Labels and how sure they are; the merges, their heights, core distances, the rows that count, their
    numbers and their weight.
    """

    labels: NDArray[np.int64]
    probabilities: Vector
    children: NDArray[np.int64]
    heights: Vector
    core_distances: Vector
    rows: Any
    counted_indices: NDArray[np.int64]
    total_weight: float


class HDBSCAN(RowsCompared):
    r"""Clusters that last over a range of densities, whatever their own; rows in none have label -1.

    A row's core distance is that to its ``min_samples``-th nearest row, itself included (by default as many
    as ``min_cluster_size``). Two rows are :math:`\max(c_i, c_j, d_{ij} / \alpha)` apart; the minimum spanning
    tree of that, sorted, is a tree of merges. Going down it, a split counts when both parts weigh at least
    ``min_cluster_size``, else rows fall out. Of clusters inside each other the ones are chosen that hold
    their rows longest on the scale of 1 / distance (``"eom"``), or the innermost (``"leaf"``).

    cluster_selection_epsilon: clusters that split below this distance stay whole. max_cluster_size: none
    weighs more. allow_single_cluster: the whole table may be one. ``probabilities_``: how deep a row is in
    its cluster. A new row joins the cluster of the nearest fitted row. store_centers: whether there are
    ``centroids_``, ``medoids_`` or both. algorithm, leaf_size, n_jobs and copy: without effect.

    >>> from surefit import HDBSCAN
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [99.0]]
    >>> HDBSCAN(min_cluster_size=3, min_samples=2).fit(X).labels_
    array([ 0,  0,  0,  1,  1,  1, -1])
    """

    accepts = Accepts()
    learns = HDBSCANParameters

    probabilities_: Vector
    children_: NDArray[np.int64]
    heights_: Vector
    core_distances_: Vector
    counted_indices_: NDArray[np.int64]
    total_weight_: float

    def __init__(
        self,
        min_cluster_size: Annotated[int, Interval(2, None)] = 5,
        min_samples: Count | None = None,
        cluster_selection_epsilon: NonNegative = 0.0,
        max_cluster_size: Count | None = None,
        metric: str | Callable[..., Any] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        alpha: Positive = 1.0,
        algorithm: Literal["auto", "brute", "kd_tree", "ball_tree"] = "auto",
        leaf_size: Count = 40,
        n_jobs: Annotated[int, Interval()] | None = None,
        cluster_selection_method: Literal["eom", "leaf"] = "eom",
        allow_single_cluster: bool = False,
        store_centers: Literal["centroid", "medoid", "both"] | None = None,
        copy: bool | Literal["warn"] = "warn",
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy

    def _needed(self) -> int:
        return int(self.min_cluster_size if self.min_samples is None else self.min_samples)

    def _rows(self, source: Source) -> Rows:
        """Small sparse tables as dense ones: ties of distances are common, and rounding would part them."""
        rows = super()._rows(source)
        if (
            self.metric in EUCLIDEAN
            and sparse.issparse(rows.X)
            and rows.X.shape[0] * rows.X.shape[1] <= FILLED
        ):
            return replace(rows, X=rows.X.toarray())
        return rows

    def _plain(self, rows: Rows) -> bool:
        return self.metric in EUCLIDEAN and not sparse.issparse(rows.X)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        if self.store_centers is not None and self._pairwise():
            raise DataError("Cannot store centers when using a precomputed distance matrix.")
        rows = self._rows(source)
        n, total = len(rows), float(rows.weights.sum())
        if n < 2 or total < self._needed():
            raise DataError(
                f"min_samples ({self._needed()}) must be at most the number of samples in X (n_samples={n})."
            )
        square = None if self._plain(rows) else self._square(rows, np.arange(n))
        core = self._core(rows, square)
        merges = self._merged(rows, core, square)
        found = self._chosen(merges.children, merges.height, rows.weights)
        every, sure = found.label, found.probability
        if rows.kept is not None:
            every = self._for_all(rows, found.label, lambda: gathered(source).X)
            sure = np.zeros(rows.total)
            sure[rows.kept] = found.probability
        kept = np.zeros((0, 0)) if self._pairwise() else rows.X.copy()
        places = np.arange(n) if rows.kept is None else rows.kept.astype(np.int64)
        parameters = HDBSCANParameters(every, sure, merges.children, merges.height, core, kept, places, total)
        return Learned(parameters, self._rechecked(rows, core, MergeTree(merges.children, merges.height), 16))

    def _square(self, rows: Rows, some: NDArray[np.intp]) -> Matrix:
        """Distances of some rows to all."""
        if self.metric == "precomputed":
            part = rows.X[some]
            if not sparse.issparse(part):
                return np.asarray(part, dtype=np.float64)
            square = np.full((len(some), len(rows)), np.inf)
            entries = sparse.coo_matrix(part)
            square[entries.row, entries.col] = entries.data
        else:
            square = distances(rows.X[some], rows.X, self.metric, self.metric_params)
        square[np.arange(len(some)), some] = 0.0
        return square

    def _core(self, rows: Rows, square: Matrix | None) -> Vector:
        """How far the row is that completes a weight of ``min_samples``."""
        k = self._needed()
        if square is None and rows.weight is None and rows.X.shape[1] <= TREE_COLUMNS:
            X = np.asarray(rows.X, dtype=np.float64)
            return np.asarray(cKDTree(X).query(X, [k])[0][:, 0], dtype=np.float64)
        parts, step = [], max(1, 2**24 // len(rows))
        for start in range(0, len(rows), step):
            some = np.arange(start, min(len(rows), start + step))
            parts.append(self._core_of(rows, self._square(rows, some) if square is None else square[some]))
        return np.concatenate(parts)

    def _core_of(self, rows: Rows, apart: Matrix) -> Vector:
        if rows.weight is None:
            return np.partition(apart, self._needed() - 1, axis=1)[:, self._needed() - 1]
        order = np.argsort(apart, axis=1, kind="stable")
        reached = np.cumsum(rows.weight[order], axis=1) >= self._needed() * (1 - 1e-12)
        at = order[np.arange(len(apart)), reached.argmax(axis=1)]
        return np.asarray(apart[np.arange(len(apart)), at])

    def _merged(self, rows: Rows, core: Vector, square: Matrix | None) -> Merges:
        if square is None:
            X = np.ascontiguousarray(rows.X, dtype=np.float64) / float(self.alpha)
            return linkage_of_rows(X, "single", core=core)
        reach = np.maximum(square / float(self.alpha), np.maximum(core[:, None], core))
        if not np.isfinite(reach).all() and not self._in_one_piece(reach):
            if not np.isfinite(core).all():
                raise DataError(
                    f"There exists points with fewer than {self._needed()} neighbors: give more distances, "
                    "or a smaller min_samples."
                )
            raise DataError(
                "HDBSCAN cannot be performed on a disconnected graph, and the sparse distances leave several "
                "connected components: give more, or fit each component alone."
            )
        return linkage_of_square(np.ascontiguousarray(np.maximum(reach, reach.T)), "single")

    @staticmethod
    def _in_one_piece(reach: Matrix) -> bool:
        from scipy.sparse.csgraph import connected_components

        return bool(connected_components(sparse.csr_matrix(np.isfinite(reach)))[0] == 1)

    def _chosen(self, children: NDArray[np.int64], heights: Vector, weight: Vector) -> Chosen:
        tree = condense(children, heights, weight, float(self.min_cluster_size) * (1 - 1e-12))
        return choose(
            tree,
            weight,
            method=self.cluster_selection_method,
            allow_single=self.allow_single_cluster,
            epsilon=float(self.cluster_selection_epsilon),
            most=np.inf if self.max_cluster_size is None else float(self.max_cluster_size),
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Make the spanning tree again by another way, or some of its edges, and choose clusters again."""
        rows = self._rows(source)
        same = len(rows) == len(self.core_distances_) and rows.total == len(self.labels_)
        same = same and abs(rows.weights.sum() - self.total_weight_) <= 1e-9 * self.total_weight_
        if same:
            again = self._chosen(self.children_, self.heights_, rows.weights)
            places = np.arange(rows.total) if rows.kept is None else rows.kept
            same = np.array_equal(again.label, self.labels_[places])
            same = same and np.allclose(again.probability, self.probabilities_[places], rtol=1e-9, atol=1e-12)
        if not same:
            return Certificate(
                "exact", "rows, weights or labels other than those of the fit", float("inf"), 0.0
            )
        return self._rechecked(rows, self.core_distances_, MergeTree(self.children_, self.heights_), 200)

    def _rechecked(self, rows: Rows, core: Vector, tree: MergeTree, sample: int) -> Certificate:
        n = len(rows)
        scale = float(tree.heights.max(initial=0.0)) or 1.0
        whole = n <= WHOLE
        some = np.arange(n) if whole else np.unique(np.linspace(0, n - 1, sample).astype(int))
        some = np.union1d(some, [int(core.argmax())])
        square = self._square(rows, some)
        error = float(np.abs(self._core_of(rows, square) - core[some]).max())
        reach = np.maximum(square / float(self.alpha), np.maximum(core[some][:, None], core))
        reach[np.arange(len(some)), some] = np.inf
        if whole:
            # scipy takes what is near 0 for no edge, so that heights are found one above, in their scale
            lifted = minimum_spanning_tree(np.where(np.isfinite(reach), reach / scale + 1.0, 0.0))
            edges = (lifted.data - 1.0) * scale
            complete = len(edges) == len(tree.heights)
            off = np.abs(np.sort(edges) - np.sort(tree.heights)) if complete else np.array([np.inf])
            error = max(error, float(off.max(initial=0.0)))
        else:
            first = np.full(n, np.inf)  # where each row merges
            nodes, at = np.nonzero(tree.children < n)
            first[tree.children[nodes, at]] = tree.heights[nodes]
            error = max(error, float(np.abs(reach.min(axis=1) - first[some]).max()))
        return Certificate(
            "exact", "largest error of a height, as a share of the highest", error / scale, 1e-9
        )

    def check_loaded(self) -> None:
        """Refuse nodes that are none, which the walks over the tree rely on."""
        n, t = len(self.core_distances_), np.arange(len(self.heights_))
        if (
            self.children_.shape != (n - 1, 2)
            or len(self.heights_) != n - 1
            or (self.children_ < 0).any()
            or (self.children_ >= n + t[:, None]).any()
            or len(np.unique(self.children_)) != self.children_.size
            or len(self.counted_indices_) != n
            or (self.counted_indices_ < 0).any()
            or (self.counted_indices_ >= len(self.labels_)).any()
            or len(self.labels_) != len(self.probabilities_)
            or (not self._pairwise() and self.rows_.shape[0] != n)
        ):
            raise FormatError("its children are no tree of its rows.")

    def _predict(self, X: Any) -> NDArray[np.int64]:
        rows = Rows(self.rows_, None, None, len(self.core_distances_))
        if self._pairwise():
            X = X[:, self.counted_indices_]
        return np.asarray(self.labels_[self.counted_indices_][self._nearest(X, rows)])

    def _members(self, asked: str) -> list[tuple[Any, Vector]]:
        """The rows of each cluster and how deep they are in it."""
        if self.store_centers not in (asked, "both"):
            raise AttributeError(f"there are no {asked}s without store_centers={asked!r}.")
        label = self.labels_[self.counted_indices_]
        depth = self.probabilities_[self.counted_indices_]
        members = [np.flatnonzero(label == each) for each in range(int(label.max(initial=-1)) + 1)]
        return [(self.rows_[some], depth[some]) for some in members]

    @property
    def centroids_(self) -> Matrix:
        """The mean of each cluster, in which a row counts as deep as it is in it."""
        found = [np.asarray(depth @ rows).ravel() / depth.sum() for rows, depth in self._members("centroid")]
        return np.array(found).reshape(len(found), self.rows_.shape[1])

    @property
    def medoids_(self) -> Matrix:
        """The row of each cluster that is nearest to its others, which count as deep as they are."""
        found = []
        for rows, depth in self._members("medoid"):
            blocks = [rows[start : start + 512] for start in range(0, rows.shape[0], 512)]
            sums = [distances(some, rows, self.metric, self.metric_params) @ depth for some in blocks]
            best = rows[[int(np.concatenate(sums).argmin())]]
            found.append(np.asarray(best.toarray() if sparse.issparse(best) else best)[0])
        return np.array(found).reshape(len(found), self.rows_.shape[1])

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> NDArray[np.int64]:
        """The clusters of one distance, as DBSCAN without border rows finds them; smaller ones are noise."""
        tree = MergeTree(self.children_, self.heights_)
        n = tree.leaves
        count = int(np.count_nonzero(self.heights_ > cut_distance)) + 1
        label = tree.cut(min(count, n))
        size = np.bincount(label)
        number = np.cumsum(size >= min_cluster_size) - 1
        return np.where(size[label] >= min_cluster_size, number[label], -1)
