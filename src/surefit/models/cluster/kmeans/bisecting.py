"""k-means from the top: the worst cluster is split in two until there are enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError, ParameterError
from surefit.core.native.centres.cluster_sums import cluster_cost
from surefit.core.parameters import Count, RandomState, Tolerance, WholeNumber
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine, choose_engine
from surefit.models.base import Learned
from surefit.models.cluster.hierarchy.merge_tree import MergeTree
from surefit.models.cluster.kmeans.base import CentreModel, check_count, fixed_point, scale_of
from surefit.models.cluster.kmeans.kmeans import Algorithm, skips_of
from surefit.models.cluster.kmeans.lloyd import lloyd
from surefit.models.cluster.kmeans.passes import InMemory, nearest_of
from surefit.models.cluster.kmeans.starts import Starts
from surefit.models.rows_in_memory import gathered
from surefit.resample.streams import seed_of
from surefit.stats.cluster_sums import dense_blocks
from surefit.stats.spread import Spread


@dataclass(frozen=True, slots=True)
class BisectingParameters:
    """Centres of the clusters, labels, cost, weights, and the tree: the centre of each node, its cost, and
    its two children or, for a leaf, -1 and its cluster.
    """

    cluster_centers: Matrix
    labels: NDArray[np.int32]
    inertia: float
    n_iter: int
    cluster_weights: Vector
    tree_centers: Matrix
    tree_costs: Vector
    tree_children: NDArray[np.int32]


class BisectingKMeans(CentreModel):
    """Split rows in two by k-means, then the cluster with the largest cost, or the most rows, and so on.

    init, n_init, max_iter, tol, algorithm: of each split, as in KMeans. bisecting_strategy:
    ``"biggest_inertia"`` or ``"largest_cluster"``. verbose and copy_x: without effect. A new row goes down
    the tree, at each node to the nearer child. Splits need all rows in memory. The certificate is a fixed
    point of every split: rows are with the nearer child, and centres are means.

    This is divisive clustering, whose tree is there in the form of AgglomerativeClustering: ``children_`` and
    ``heights_`` with the clusters as leaves, and the height of a node the sum of squares of its rows. Cut
    into k, it gives the clusters that a fit with k gives, as the largest cost is split first. With as many
    clusters as rows, the leaves are rows. ``plots.plot_dendrogram(model)`` draws it.

    >>> from surefit import BisectingKMeans
    >>> model = BisectingKMeans(3, random_state=0).fit([[0.0], [1.0], [9.0], [10.0], [50.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 9.5, 50.0]
    >>> model.heights_
    array([  82., 1702.])
    """

    learns = BisectingParameters
    tree_centers_: Matrix
    tree_costs_: Vector
    tree_children_: NDArray[np.int32]

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        init: Literal["k-means++", "random"] | Callable[..., Any] = "random",
        n_init: Count = 1,
        random_state: RandomState = None,
        max_iter: Count = 300,
        verbose: WholeNumber | bool = 0,
        tol: Tolerance = 1e-4,
        copy_x: bool = True,
        algorithm: Algorithm = "lloyd",
        bisecting_strategy: Literal["biggest_inertia", "largest_cluster"] = "biggest_inertia",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy

    def _iteration_limit(self) -> None:
        return None

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        batch = gathered(source)
        X = np.concatenate([block for _, block in dense_blocks(batch.X)])
        spread = Spread.of(Batch(X, weight=batch.weight))
        check_count(type(self).__name__, spread.rows, self.n_clusters)
        weight = np.ones(len(X)) if batch.weight is None else batch.weight
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        nodes = [_Node(spread.mean.astype(np.float64), np.arange(len(X)), X, weight)]
        children: list[tuple[int, int]] = [(-1, 0)]
        shift = 0.0
        while sum(left < 0 for left, _ in children) < self.n_clusters:
            leaves = [n for n, (left, _) in enumerate(children) if left < 0 and nodes[n].splits]
            if not leaves or trace.asked_to_stop:
                break
            by_cost = self.bisecting_strategy == "biggest_inertia"
            worst = max(leaves, key=lambda n: nodes[n].cost if by_cost else nodes[n].weight)
            pair, moved = self._split(nodes[worst], X, weight, seed + len(nodes), trace)
            shift = max(shift, moved)
            children[worst] = (len(nodes), len(nodes) + 1)
            nodes.extend(pair)
            children.extend([(-1, 0), (-1, 0)])
        return self._grown(nodes, children, len(X), trace, shift)

    def _split(
        self, node: _Node, X: NDArray[Any], weight: Vector, seed: int, trace: Trace
    ) -> tuple[list[_Node], float]:
        rows = np.ascontiguousarray(X[node.rows])
        source = ArraySource(Schema(X.shape[1], None, len(rows)), Batch(rows, weight=weight[node.rows]))
        scale = scale_of(Spread.of(source.batch))
        starts = Starts(self.init, 2, source, choose_engine(source), seed)
        best: Any = None
        for restart in range(self.n_init):
            passes = InMemory(rows, weight[node.rows], skips_of(self.algorithm), 2)
            found = lloyd(passes, starts.of(restart), scale, self.max_iter, self.tol, trace)
            if best is None or found.cost < best[0].cost:
                best = found, passes.labels()
        found, labels = best
        pair = [_Node(found.centres[side], node.rows[labels == side], X, weight) for side in (0, 1)]
        return pair, found.shift

    def _grown(
        self, nodes: list[_Node], children: list[tuple[int, int]], rows: int, trace: Trace, shift: float
    ) -> Learned:
        leaves = [n for n, (left, _) in enumerate(children) if left < 0]
        labels = np.zeros(rows, dtype=np.int32)
        for cluster, leaf in enumerate(leaves):
            labels[nodes[leaf].rows] = cluster
            children[leaf] = (-1, cluster)
        parameters = BisectingParameters(
            np.array([nodes[leaf].centre for leaf in leaves]),
            labels,
            float(sum(nodes[leaf].cost for leaf in leaves)),
            len(trace),
            np.array([nodes[leaf].weight for leaf in leaves]),
            np.array([node.centre for node in nodes]),
            np.array([node.cost for node in nodes]),
            np.array(children, dtype=np.int32),
        )
        return Learned(parameters, fixed_point(shift, self.tol))

    @property
    def tree_(self) -> MergeTree:
        """The splits, read from below as merges of clusters."""
        nodes, count = self.tree_children_.tolist(), len(self.cluster_centers_)
        cost = self.tree_costs_.tolist()
        for node in range(len(nodes) - 1, -1, -1):  # a whole costs no less than its parts, rounding aside
            left, right = nodes[node]
            if left >= 0:
                cost[node] = max(cost[node], cost[left], cost[right])
        inner = [node for node in range(len(nodes) - 1, -1, -1) if nodes[node][0] >= 0]
        inner.sort(key=cost.__getitem__)  # of equal ones the later is below
        place = {node: right for node, (left, right) in enumerate(nodes) if left < 0}
        place |= {node: count + t for t, node in enumerate(inner)}
        merges = [[place[left], place[right]] for left, right in (nodes[node] for node in inner)]
        children = np.array(merges, dtype=np.int64).reshape(-1, 2)
        return MergeTree(children, np.array([cost[node] for node in inner], dtype=np.float64))

    @property
    def children_(self) -> NDArray[np.int64]:
        """Which two nodes each merge joins: clusters up to their number, earlier merges from there on."""
        return self.tree_.children

    @property
    def heights_(self) -> Vector:
        """The weighted sum of squares of the rows of each merge, rising."""
        return self.tree_.heights

    @property
    def n_clusters_(self) -> int:
        """How many clusters there are: fewer than asked for where all others are of equal rows."""
        return len(self.cluster_centers_)

    def cut(self, n_clusters: int | None = None, height: float | None = None) -> NDArray[np.int64]:
        """Labels for fewer clusters, or for those whose sum of squares is below a height.

        >>> from surefit import BisectingKMeans
        >>> model = BisectingKMeans(3, random_state=0).fit([[0.0], [1.0], [9.0], [10.0], [50.0]])
        >>> len(set(model.cut(2)[:4])), len(set(model.cut(2))), len(set(model.cut(height=1000.0)))
        (1, 2, 2)
        """
        if (n_clusters is None) == (height is None):
            raise ParameterError("cut takes a number of clusters or a height, one of the two.")
        tree = self.tree_
        count = tree.count_below(float(height or 0.0)) if n_clusters is None else n_clusters
        return tree.cut(count)[self.labels_]

    def linkage_matrix(self) -> Matrix:
        """The tree as scipy's functions take it, with clusters as leaves."""
        return self.tree_.as_linkage()

    def leaf_order(self, X: Any = None) -> NDArray[np.int64]:
        """The clusters from left to right in the dendrogram; X: without effect."""
        return self.tree_.leaf_order()

    def _nearest(self, X: Any) -> NDArray[np.int32]:
        labels = np.zeros(X.shape[0], dtype=np.int32)
        for rows, block in dense_blocks(X):
            self._descend(0, block, np.arange(len(block)), labels[rows])
        return labels

    def _descend(self, node: int, X: NDArray[Any], rows: NDArray[np.intp], labels: NDArray[np.int32]) -> None:
        waiting = [(node, rows)]
        while waiting:
            node, rows = waiting.pop()
            left, right = self.tree_children_[node]
            if left < 0:
                labels[rows] = right
            elif len(rows):
                pair = np.ascontiguousarray(self.tree_centers_[[left, right]])
                side = nearest_of(pair, np.ascontiguousarray(X[rows]))
                waiting += [(int(left), rows[side == 0]), (int(right), rows[side == 1])]

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Every row down the tree again by plain differences, every centre against the mean of its rows."""
        batch = gathered(source)
        X = np.concatenate([block for _, block in dense_blocks(batch.X)]).astype(np.float64)
        weight = np.ones(len(X)) if batch.weight is None else batch.weight
        scale = scale_of(Spread.of(Batch(X, weight=weight)))
        if len(self.labels_) != len(X):
            return fixed_point(np.inf, self.tol)
        shift, waiting, excess, cost, copied = 0.0, [(0, np.arange(len(X)))], 0.0, 0.0, 0.0
        total, inside = np.zeros(len(self.cluster_centers_)), self._clusters_below()
        leaves, costs = np.zeros(len(X), dtype=np.int32), np.zeros(len(self.tree_costs_))
        while waiting:
            node, rows = waiting.pop()
            centre, s = self.tree_centers_[node], weight[rows]
            if s.sum() > 0:
                drift = (s @ (X[rows] - centre)) / s.sum()
                shift = max(shift, float(np.linalg.norm(drift)) / float(np.sqrt(scale.variance)))
            costs[node] = float(s @ np.square(X[rows] - centre).sum(axis=1))
            left, right = self.tree_children_[node]
            if left < 0:
                leaves[rows], total[right] = right, s.sum()
                copied = max(copied, float(np.abs(self.cluster_centers_[right] - centre).max()))
                cost += costs[node]
                continue
            # Rows stay where their label says; that they are not nearer to the other side is looked at.
            to_right = np.isin(self.labels_[rows], inside[right])
            squares = [np.square(X[rows] - self.tree_centers_[side]).sum(axis=1) for side in (left, right)]
            own, other = np.where(to_right, squares[::-1], squares)
            excess += float(s @ np.maximum(own - other, 0.0))
            waiting += [(int(left), rows[~to_right]), (int(right), rows[to_right])]
        size = max(scale.scatter, cost, 1e-300)
        return fixed_point(
            shift,
            self.tol,
            cost_of_rows_nearer_to_another_centre=excess / size + float((leaves != self.labels_).any()),
            change_of_a_centre=copied / float(np.sqrt(scale.variance)),
            change_of_the_cost=max(abs(self.inertia_ - cost), float(np.abs(self.tree_costs_ - costs).max()))
            / size,
            change_of_a_weight=float(np.abs(self.cluster_weights_ - total).max() / weight.sum()),
        )

    def _clusters_below(self) -> list[list[int]]:
        """The clusters below each node; children come after their parents."""
        below: list[list[int]] = [[] for _ in self.tree_children_]
        for node in range(len(below) - 1, -1, -1):
            left, right = (int(side) for side in self.tree_children_[node])
            below[node] = [right] if left < 0 else below[left] + below[right]
        return below

    def check_loaded(self) -> None:
        """Children come after their parents, and each leaf is a cluster."""
        super().check_loaded()
        children, count = self.tree_children_, len(self.tree_children_)
        if children.shape != (len(self.tree_centers_), 2) or children.dtype.kind != "i" or not count:
            raise FormatError("the file's tree has not two children for each centre.")
        if self.tree_costs_.shape != (count,):
            raise FormatError("the file's tree has not one cost for each centre.")
        leaves = np.sort(children[children[:, 0] < 0, 1])
        below = np.sort(children[children[:, 0] >= 0].ravel())
        if not np.array_equal(leaves, np.arange(len(self.cluster_centers_))) or not np.array_equal(
            below, np.arange(1, count)
        ):
            raise FormatError("in the file's tree, each cluster must be one leaf, each node one child.")
        for node, (left, right) in enumerate(children.tolist()):
            if left < 0 and not 0 <= right < len(self.cluster_centers_):
                raise FormatError("a leaf of the file's tree is no cluster.")
            if left >= 0 and not (node < left < count and node < right < count):
                raise FormatError("a node of the file's tree comes before its parent.")


class _Node:
    """Some rows, their centre, weight and cost."""

    def __init__(self, centre: Vector, rows: NDArray[np.intp], X: NDArray[Any], weight: Vector) -> None:
        self.centre, self.rows = centre, rows
        s = weight[rows]
        self.weight = float(s.sum())
        own = np.zeros(len(rows), np.int32)
        block = np.ascontiguousarray(X[rows])
        self.cost = cluster_cost(block, s, np.ascontiguousarray(centre)[None], own) if len(rows) else 0.0
        counted = block[s > 0]
        self.splits = len(counted) > 1 and bool((counted != counted[0]).any())
