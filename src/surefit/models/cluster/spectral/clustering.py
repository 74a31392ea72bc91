"""Spectral clustering: k-means, or a rotation, on eigenvectors of a graph's Laplacian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError
from surefit.core.parameters import Count, Interval, NonNegative, RandomState, WholeNumber
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.cluster.compared_rows import Rows, RowsCompared
from surefit.models.cluster.kmeans.kmeans import KMeans
from surefit.models.cluster.spectral.embedding import (
    eigen_certificate,
    graph_of,
    nearest_fitted,
    spectrum_of,
)
from surefit.models.cluster.spectral.similarity import (
    Laplacian,
    eigengap,
    operator,
    residual_of,
    warn_of_parts,
)
from surefit.models.rows_in_memory import gathered
from surefit.resample.streams import seed_of, stream


@dataclass(frozen=True, slots=True)
class SpectralParameters:
    """Labels, eigenvalues and eigenvectors, the embedding that was grouped, the graph, and the rows."""

    labels: NDArray[np.int64]
    eigenvalues: Vector
    eigenvectors: Matrix
    embedding: Matrix
    affinity_matrix: Any
    rows: Any


class SpectralClustering(RowsCompared):
    r"""Group the rows of a graph so that few and light edges join the groups.

    The eigenvectors of the graph's Laplacian with the ``n_components`` smallest eigenvalues (as many as
    clusters by default) are coordinates of the rows, which ``assign_labels`` groups: ``"kmeans"``,
    ``"discretize"`` (the nearest partition after a rotation) or ``"cluster_qr"`` (pivoted QR, nothing drawn).
    Without edges between k groups, the k smallest eigenvalues are 0 and the coordinates of each group are one
    point. laplacian: ``"random_walk"``, which is scikit-learn's, ``"symmetric"`` for
    :math:`I - D^{-1/2} A D^{-1/2}`, ``"unnormalized"`` for :math:`D - A`. What a row is to itself does not
    count.

    affinity: ``"rbf"`` and other kernels (gamma, degree, coef0, kernel_params), ``"nearest_neighbors"``,
    ``"epsilon"`` (1 within ``eps``), ``"precomputed"``, ``"precomputed_nearest_neighbors"`` or a function of
    X. ``eigengap()`` says how many clusters the eigenvalues speak for. eigen_solver, eigen_tol, n_jobs and
    verbose: without effect. A new row joins the cluster of the fitted row that is nearest or most similar.

    >>> from surefit import SpectralClustering
    >>> A = np.kron(np.eye(2), np.ones((3, 3)))
    >>> model = SpectralClustering(2, affinity="precomputed", laplacian="unnormalized").fit(A)
    >>> len(set(model.labels_[:3])), len(set(model.labels_))
    (1, 2)
    """

    accepts = Accepts()
    learns = SpectralParameters

    eigenvalues_: Vector
    eigenvectors_: Matrix
    embedding_: Matrix
    affinity_matrix_: Any

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        eigen_solver: Literal["arpack", "lobpcg", "amg"] | None = None,
        n_components: Count | None = None,
        random_state: RandomState = None,
        n_init: Count = 10,
        gamma: NonNegative = 1.0,
        affinity: str | Callable[..., Any] = "rbf",
        n_neighbors: Count = 10,
        eigen_tol: NonNegative | Literal["auto"] = "auto",
        assign_labels: Literal["kmeans", "discretize", "cluster_qr"] = "kmeans",
        degree: NonNegative = 3,
        coef0: Annotated[float, Interval()] = 1,
        kernel_params: dict[str, Any] | None = None,
        n_jobs: Annotated[int, Interval()] | None = None,
        verbose: WholeNumber | bool = False,
        laplacian: Laplacian = "random_walk",
        eps: NonNegative | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.laplacian = laplacian
        self.eps = eps

    def _pairwise(self) -> bool:
        return self.affinity in ("precomputed", "precomputed_nearest_neighbors")

    def _graph(self, rows: Rows) -> Any:
        return graph_of(self, rows.X, float(self.gamma), int(self.n_neighbors), self.eps)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        rows = self._rows(source)
        A = self._graph(rows)
        warn_of_parts(A)
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        count = int(self.n_clusters if self.n_components is None else self.n_components)
        found, scale = spectrum_of(A, rows, self.laplacian, count, seed)
        embedding = found.vectors / scale[:, None]
        labels = self._grouped(embedding, rows, seed)
        kept = np.zeros((0, 0)) if self._pairwise() else rows.X.copy()
        every = labels
        if rows.kept is not None:
            self.rows_ = kept
            every = np.empty(rows.total, dtype=np.int64)
            every[rows.kept] = labels
            left_out = np.setdiff1d(np.arange(rows.total), rows.kept)
            X: Any = gathered(source).X
            Q = X[left_out][:, rows.kept] if self._pairwise() else X[left_out]
            every[left_out] = labels[nearest_fitted(self, Q)]
        parameters = SpectralParameters(every, found.values, found.vectors, embedding, A, kept)
        return Learned(parameters, eigen_certificate(found.residual))

    def _grouped(self, embedding: Matrix, rows: Rows, seed: int) -> NDArray[np.int64]:
        count = min(int(self.n_clusters), len(rows))
        if self.assign_labels == "cluster_qr":
            return by_pivots(embedding)
        if self.assign_labels == "discretize":
            return by_rotation(embedding, seed)
        model = KMeans(count, n_init=int(self.n_init), random_state=seed % 2**32)
        labels = model.fit(np.ascontiguousarray(embedding), sample_weight=rows.weight).labels_
        return np.asarray(labels, dtype=np.int64)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Make the graph again, multiply its Laplacian with the eigenvectors, and group by pivots again."""
        rows = self._rows(source)
        if len(rows) != len(self.eigenvectors_) or rows.total != len(self.labels_):
            return eigen_certificate(float("inf"))
        L, scale = operator(self._graph(rows), self.laplacian, rows.weight)
        residual = residual_of(L, self.eigenvalues_, self.eigenvectors_)
        apart = np.abs(self.eigenvectors_ / scale[:, None] - self.embedding_).max(initial=0.0)
        residual = max(residual, float(apart / max(np.abs(self.embedding_).max(initial=0.0), 1e-300)))
        if self.assign_labels == "cluster_qr":
            labels = self.labels_ if rows.kept is None else self.labels_[rows.kept]
            if not np.array_equal(by_pivots(self.embedding_), labels):
                residual = float("inf")
        return eigen_certificate(residual)

    def check_loaded(self) -> None:
        """Refuse coordinates for other rows than there are."""
        if self.embedding_.ndim != 2 or (
            not self._pairwise() and self.rows_.shape[0] != len(self.embedding_)
        ):
            raise FormatError("each fitted row must have coordinates.")
        if len(self.labels_) < len(self.embedding_):
            raise FormatError("each fitted row must have a label.")

    def _predict(self, X: Any) -> NDArray[np.int64]:
        labels = self.labels_
        if len(labels) != len(self.embedding_):  # those of rows without weight stand among them
            seed = 0 if self.random_state is None else seed_of(self.random_state)
            labels = self._grouped(self.embedding_, Rows(self.rows_, None, None, self.rows_.shape[0]), seed)
        return np.asarray(labels[nearest_fitted(self, X)])

    def eigengap(self) -> int:
        """How many clusters the largest gap between neighbouring eigenvalues speaks for; ask for more
        components than clusters to see it.
        """
        return eigengap(self.eigenvalues_)


def by_pivots(vectors: Matrix) -> NDArray[np.int64]:
    """Group by the rows that pivoted QR picks, after the rotation that makes these axes."""
    k = vectors.shape[1]
    pivots = linalg.qr(vectors.T, pivoting=True)[2]
    left, _, right = linalg.svd(vectors[pivots[:k], :].T)
    return np.asarray(np.abs(vectors @ (left @ right)).argmax(axis=1), dtype=np.int64)


def by_rotation(vectors: Matrix, seed: int, most: int = 100) -> NDArray[np.int64]:
    """Group by the partition nearest to the rows, brought to length 1, after the best rotation of it, found
    step by step: rotation for the partition, partition for the rotation.
    """
    n, k = vectors.shape
    length = np.linalg.norm(vectors, axis=1)
    rows = vectors / np.where(length > 0, length, 1.0)[:, None]
    start = int(stream(seed, 1).integers(n))
    rotation = np.zeros((k, k))
    rotation[:, 0] = rows[start]
    nearest = np.zeros(n)
    for j in range(1, k):  # rows as far from each other in angle as can be
        nearest += np.abs(rows @ rotation[:, j - 1])
        rotation[:, j] = rows[int(nearest.argmin())]
    last = 0.0
    labels = np.zeros(n, dtype=np.int64)
    for _ in range(most):
        labels = (rows @ rotation).argmax(axis=1)
        sums = np.zeros((k, k))
        np.add.at(sums, labels, rows)
        left, size, right = linalg.svd(sums)
        if abs(size.sum() - last) < 1e-12 * n:
            break
        last = float(size.sum())
        rotation = right.T @ left.T
    return labels
