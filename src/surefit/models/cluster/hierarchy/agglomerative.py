"""Agglomerative clustering: the two closest clusters merge, again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError
from surefit.core.native.clusters.linkage import (
    Merges,
    linkage_along_edges,
    linkage_of_rows,
    linkage_of_square,
)
from surefit.core.parameters import Count, Has, NonNegative
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.cluster.compared_rows import EUCLIDEAN, Rows, RowsCompared
from surefit.models.cluster.hierarchy.connectivity import Edges, graph_of
from surefit.models.cluster.hierarchy.merge_tree import MergeTree, optimal_order
from surefit.models.cluster.hierarchy.recheck import error_along, largest_error, square_of
from surefit.models.rows_in_memory import gathered

Linkage = Literal["ward", "complete", "average", "single", "weighted", "centroid", "median"]
Graph = Annotated[object, Has("shape")] | list[Any] | Callable[..., Any]
TOLERANCE = 1e-8  # heights of Ward are roots of sums whose roundings are 1e-16 of the largest


@dataclass(frozen=True, slots=True)
class AgglomerativeParameters:
    """Labels; the merges and their heights; how many clusters, leaves and pieces of the graph; the rows that
    were merged.
    """

    labels: NDArray[np.int64]
    children: NDArray[np.int64]
    heights: Vector
    n_clusters: int
    n_leaves: int
    n_connected_components: int
    rows: Any


class AgglomerativeClustering(RowsCompared):
    r"""Start with a cluster for each row and merge the two closest, until ``n_clusters`` are left.

    linkage: how far clusters A and B are from each other: ``"single"`` the least distance of a row of A from
    one of B, ``"complete"`` the largest, ``"average"`` the mean of all, ``"weighted"`` the mean over the two
    halves that B was made of, ``"centroid"`` the distance of their means, ``"median"`` of the middles of
    their halves; ``"ward"``, the default, :math:`\sqrt{2 n_A n_B / (n_A + n_B)}\,\|m_A - m_B\|`, as scipy has
    it: its half square is by how much merging raises the sum of squares (see ``merge_heights``).

    metric: a name that scikit-learn knows, a function of X that returns all distances, or ``"precomputed"``
    for X as a square of dissimilarities. connectivity: a graph, or a function of X that returns one; only
    clusters joined by an edge merge. distance_threshold: merge only below this height, in place of a number
    of clusters. compute_full_tree: False stops at ``n_clusters`` where there is a graph. compute_distances:
    whether ``distances_`` shows the heights; ``heights_`` always has them. memory: without effect.

    Ward and single take memory in proportion to the rows, the others hold up to :math:`n^2` distances.
    A weight counts as so many equal rows.

    >>> from surefit import AgglomerativeClustering
    >>> model = AgglomerativeClustering(2, linkage="average").fit([[0.0], [1.0], [3.0], [7.0]])
    >>> model.labels_, model.heights_.round(3)
    (array([0, 0, 0, 1]), array([1.   , 2.5  , 5.667]))
    """

    accepts = Accepts(sparse=False)
    learns = AgglomerativeParameters
    least_rows = 2

    children_: NDArray[np.int64]
    heights_: Vector
    n_clusters_: int
    n_leaves_: int
    n_connected_components_: int

    def __init__(
        self,
        n_clusters: Count | None = 2,
        *,
        metric: str | Callable[..., Any] = "euclidean",
        memory: str | Annotated[object, Has("cache")] | None = None,
        connectivity: Graph | None = None,
        compute_full_tree: Literal["auto"] | bool = "auto",
        linkage: Linkage = "ward",
        distance_threshold: NonNegative | None = None,
        compute_distances: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances

    @property
    def distances_(self) -> Vector:
        """The heights of the merges, where they were asked for."""
        if "heights_" in self.__dict__ and (self.compute_distances or self.distance_threshold is not None):
            return self.heights_
        raise AttributeError("distances_ is there after a fit with compute_distances=True; heights_ always.")

    @property
    def tree_(self) -> MergeTree:
        """The merges, as a tree that can be cut and ordered."""
        return MergeTree(self.children_, self.heights_)

    def _refuse_unusable(self) -> None:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ParameterError(
                "Exactly one of n_clusters and distance_threshold has to be set, and the other needs to be "
                "None."
            )
        if self.distance_threshold is not None and not self.compute_full_tree:
            raise ParameterError("compute_full_tree must be True if distance_threshold is set.")
        if self.linkage in ("ward", "centroid", "median") and self.metric not in EUCLIDEAN:
            raise ParameterError(
                f"{self.metric} was provided as metric. {self.linkage.capitalize()} can only work with "
                "euclidean distances (i.e. 'euclidean' and 'l2')."
            )
        if self.connectivity is not None and self.linkage in ("centroid", "median"):
            raise ParameterError(
                f"linkage={self.linkage!r} takes no connectivity: clusters may come closer by merging."
            )

    def _source(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, **also: Any) -> Source:
        shape: Any = getattr(X, "shape", ())
        if self.metric == "precomputed" and len(shape) == 2 and shape[0] != shape[1]:
            raise DataError(f"Distance matrix should be square, got matrix of shape {tuple(shape)}")
        return super()._source(X, y, sample_weight, reset=reset, **also)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self._refuse_unusable()
        rows = self._rows(source)
        return self._finished(source, rows, *self._merged(rows))

    def _merged(self, rows: Rows) -> tuple[Merges, Edges | None, int]:
        """The merges, and the graph and its number of pieces."""
        n = len(rows)
        if self.connectivity is not None:
            graph, pieces = self._graph(rows)
            merges = None if self._whole_tree(n) else n - int(self.n_clusters or 1)
            X = rows.X if self.linkage == "ward" else np.zeros((n, 0))
            return linkage_along_edges(X, self.linkage, graph, rows.weight, merges), graph, pieces
        if self.metric in EUCLIDEAN:
            X = np.asarray(rows.X, dtype=np.float64)
            return linkage_of_rows(X, self.linkage, rows.weight), None, 1
        if self.metric == "cosine" and (~np.asarray(rows.X).any(axis=1)).any():
            raise DataError("Cosine affinity cannot be used when X contains zero vectors")
        square = np.ascontiguousarray(square_of(rows, self.metric))
        if square.shape != (n, n):
            raise DataError(f"metric must return {n} by {n} distances, not {square.shape}.")
        return linkage_of_square(square, self.linkage, rows.weight), None, 1

    def _graph(self, rows: Rows) -> tuple[Edges, int]:
        connectivity: Any = self.connectivity
        if rows.kept is not None and not callable(connectivity):
            given = connectivity if sparse.issparse(connectivity) else np.asarray(connectivity)
            connectivity = sparse.csr_matrix(given)[rows.kept][:, rows.kept]
        return graph_of(connectivity, rows.X, len(rows), self.metric)

    def _whole_tree(self, n: int) -> bool:
        if self.connectivity is None or self.distance_threshold is not None:
            return True
        if self.compute_full_tree == "auto":
            return int(self.n_clusters or 1) < max(100, 0.02 * n)
        return bool(self.compute_full_tree)

    def _labels_of(self, tree: MergeTree, n: int) -> tuple[NDArray[np.int64], int]:
        if self.distance_threshold is not None:
            count = tree.count_below(float(self.distance_threshold))
        else:
            count = int(self.n_clusters or 1)
        whole = len(tree.children) == n - 1
        return (tree.cut(count) if whole and self._whole_tree(n) else tree.heads(n)), count

    def _finished(
        self, source: Source, rows: Rows, merges: Merges, graph: Edges | None, pieces: int
    ) -> Learned:
        tree = MergeTree(merges.children, merges.height)
        labels, count = self._labels_of(tree, len(rows))
        every = self._for_all(rows, labels, lambda: gathered(source).X)
        kept = np.zeros((0, 0)) if self._pairwise() else np.array(rows.X)
        parameters = AgglomerativeParameters(
            every, merges.children, merges.height, count, len(rows), pieces, kept
        )
        certificate = self._checked(tree, rows, graph, sample=16, most=2**16)
        return Learned(parameters, certificate, {"rows": len(rows)})

    def _checked(
        self, tree: MergeTree, rows: Rows, graph: Edges | None, *, sample: int, most: int
    ) -> Certificate:
        if graph is not None:
            error = error_along(tree, rows, self.linkage, graph)
        else:
            error = largest_error(tree, rows, self.linkage, self.metric, sample=sample, most=most)
        measure = "largest error of a height, as a share of the highest"
        return Certificate("exact", measure, error, TOLERANCE)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Compute heights again by the definition of the linkage, and cut the tree again."""
        rows, tree = self._rows(source), self.tree_
        if len(rows) != self.n_leaves_:
            return Certificate("exact", "rows other than those of the fit", float("inf"), TOLERANCE)
        graph = None if self.connectivity is None else self._graph(rows)[0]
        found = self._checked(tree, rows, graph, sample=64, most=2**28)
        labels, count = self._labels_of(tree, len(rows))
        every = self._for_all(rows, labels, lambda: gathered(source).X)
        same = np.array_equal(every, self.labels_) and count == self.n_clusters_
        if not self._pairwise():
            same = same and np.array_equal(np.asarray(rows.X), self.rows_)
        return found if same else Certificate("exact", "labels other than a cut", float("inf"), TOLERANCE)

    def check_loaded(self) -> None:
        """Refuse nodes that are none, which the walks over the tree rely on."""
        children, n = self.children_, self.n_leaves_
        t = np.arange(len(children))
        if (
            children.shape != (len(self.heights_), 2)
            or not 1 <= n <= len(self.labels_)
            or len(children) > n - 1
            or (children < 0).any()
            or (children >= n + t[:, None]).any()
            or len(np.unique(children)) != children.size
        ):
            raise FormatError("its children are no tree: each node merges once, after its own merge.")
        if self.metric != "precomputed" and self.rows_.shape[0] != n:
            raise FormatError("there must be as many rows as leaves.")

    def _predict(self, X: Any) -> NDArray[np.int64]:
        counted = self._counted_labels()
        return counted[self._nearest(X, Rows(self.rows_, None, None, self.n_leaves_))]

    def _counted_labels(self) -> NDArray[np.int64]:
        """The labels of the rows that were merged."""
        if len(self.labels_) == self.n_leaves_:
            return self.labels_
        return self._labels_of(self.tree_, self.n_leaves_)[0]

    def cut(self, n_clusters: int | None = None, height: float | None = None) -> NDArray[np.int64]:
        """Labels for another number of clusters, or of those that merge below a height.

        >>> from surefit import AgglomerativeClustering
        >>> model = AgglomerativeClustering(linkage="single").fit([[0.0], [1.0], [3.0], [7.0]])
        >>> model.cut(height=1.5), model.cut(1)
        (array([0, 0, 2, 1]), array([0, 0, 0, 0]))
        """
        if (n_clusters is None) == (height is None):
            raise ParameterError("cut takes a number of clusters or a height, one of the two.")
        tree = self._whole()
        return tree.cut(tree.count_below(float(height or 0.0)) if n_clusters is None else n_clusters)

    def _whole(self) -> MergeTree:
        if len(self.children_) != self.n_leaves_ - 1:
            raise DataError("the tree was not built to its top: fit with compute_full_tree=True.")
        return self.tree_

    def merge_heights(self, convention: Literal["distance", "increase"] = "distance") -> Vector:
        r"""The heights of the merges: as distances, as scipy has them, or, for Ward, as the increase of the
        sum of squares, :math:`h^2 / 2`.

        >>> from surefit import AgglomerativeClustering
        >>> model = AgglomerativeClustering().fit([[0.0], [1.0], [3.0], [7.0]])
        >>> model.merge_heights("increase").round(4)
        array([ 0.5   ,  4.1667, 24.0833])
        """
        if convention == "distance":
            return self.heights_
        if self.linkage != "ward":
            raise ParameterError("only the heights of Ward's linkage are an increase of the sum of squares.")
        return self.heights_**2 / 2

    def linkage_matrix(self) -> Matrix:
        """The merges as scipy's ``linkage`` returns them, for its functions."""
        return self._whole().as_linkage()

    def leaf_order(self, X: Any = None) -> NDArray[np.int64]:
        """The rows from left to right in the dendrogram; with the fitted rows (or distances) in the order, of
        all that the tree allows, in which neighbours are closest.
        """
        tree = self._whole()
        if X is None:
            return tree.leaf_order()
        return optimal_order(tree, self._square(X))

    def cophenetic_distances(self) -> Vector:
        """At which height each two rows come together, in scipy's condensed order."""
        return self._whole().cophenetic()

    def cophenetic_correlation(self, X: Any) -> float:
        """How well heights stand for distances: their correlation over all pairs of the fitted rows."""
        square = self._square(X)
        return float(np.corrcoef(self.cophenetic_distances(), square[np.triu_indices(len(square), 1)])[0, 1])

    def _square(self, X: Any) -> Matrix:
        X = np.asarray(X, dtype=np.float64)
        if len(X) != self.n_leaves_:
            raise DataError(f"give the {self.n_leaves_} rows that the model was fitted to.")
        return square_of(Rows(X, None, None, len(X)), self.metric)
