"""Eigenvectors of a graph's Laplacian, as coordinates of its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError
from surefit.core.native.clusters.linkage import nearest_row
from surefit.core.parameters import Count, Interval, NonNegative, RandomState
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.cluster.compared_rows import Rows, distances, rows_of_source
from surefit.models.cluster.spectral.similarity import (
    Laplacian,
    Spectrum,
    nearest_graph,
    operator,
    radius_graph,
    residual_of,
    smallest,
    symmetric,
    warn_of_parts,
)
from surefit.resample.streams import seed_of

TOLERANCE = 1e-6  # of residuals: eigenvectors then agree to that over the gap between eigenvalues


@dataclass(frozen=True, slots=True)
class EmbeddingParameters:
    """Coordinates, eigenvalues and eigenvectors, the graph, and the rows."""

    embedding: Matrix
    eigenvalues: Vector
    eigenvectors: Matrix
    affinity_matrix: Any
    n_neighbors: int
    rows: Any


def spectrum_of(
    A: Any, rows: Rows, kind: Laplacian, count: int, seed: int, tolerance: float = 1e-9
) -> tuple[Spectrum, Vector]:
    """The smallest eigenvalues of a graph's Laplacian, and what eigenvectors are divided by."""
    L, scale = operator(A, kind, rows.weight)
    return smallest(L, min(count, len(rows)), seed, tolerance), scale


def eigen_certificate(residual: float) -> Certificate:
    """That eigenvectors are such."""
    return Certificate("stationary", "residual of the eigenvectors", residual, TOLERANCE)


class SpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Coordinates in which rows that are joined by many heavy edges lie close together.

    The columns are the eigenvectors of :math:`D^{-1/2} (D - A) D^{-1/2}` with the smallest eigenvalues, after
    the first, which is constant, divided by :math:`D^{1/2}`. laplacian: ``"random_walk"`` (the default) is
    that, ``"symmetric"`` leaves out the division, ``"unnormalized"`` takes :math:`D - A`.

    affinity: ``"nearest_neighbors"``, ``"rbf"`` (gamma: 1 over the columns by default), ``"epsilon"`` (1
    within ``eps``), ``"precomputed"`` similarities, ``"precomputed_nearest_neighbors"`` distances, or a
    function of X. eigen_solver, n_jobs: without effect. A new row gets the coordinates of the nearest fitted
    one.

    >>> from surefit import SpectralEmbedding
    >>> A = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    >>> SpectralEmbedding(1, affinity="precomputed").fit(A).eigenvalues_.round(3)
    array([0.   , 0.029])
    """

    accepts = Accepts()
    learns = EmbeddingParameters

    embedding_: Matrix
    eigenvalues_: Vector
    eigenvectors_: Matrix
    affinity_matrix_: Any
    n_neighbors_: int
    rows_: Any

    def __init__(
        self,
        n_components: Count = 2,
        *,
        affinity: str | Callable[..., Any] = "nearest_neighbors",
        gamma: NonNegative | None = None,
        random_state: RandomState = None,
        eigen_solver: Literal["arpack", "lobpcg", "amg"] | None = None,
        eigen_tol: NonNegative | Literal["auto"] = "auto",
        n_neighbors: Count | None = None,
        n_jobs: Annotated[int, Interval()] | None = None,
        laplacian: Laplacian = "random_walk",
        eps: NonNegative | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.laplacian = laplacian
        self.eps = eps

    def _pairwise(self) -> bool:
        return self.affinity in ("precomputed", "precomputed_nearest_neighbors")

    def _accepted(self) -> Accepts:
        return Accepts(pairwise=True) if self._pairwise() else self.accepts

    def _graph(self, rows: Rows) -> Any:
        X, n = rows.X, len(rows)
        gamma = 1.0 / X.shape[1] if self.gamma is None else float(self.gamma)
        return graph_of(self, X, gamma, self._count(n), self.eps)

    def _count(self, n: int) -> int:
        return max(n // 10, 1) if self.n_neighbors is None else int(self.n_neighbors)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        rows = rows_of_source(self, source, 2, pairwise=self._pairwise())
        A = self._graph(rows)
        warn_of_parts(A)
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        found, scale = spectrum_of(A, rows, self.laplacian, self.n_components + 1, seed)
        embedding = self._embedding(found.vectors, scale)
        kept = np.zeros((0, 0)) if self._pairwise() else rows.X.copy()
        parameters = EmbeddingParameters(
            embedding, found.values, found.vectors, A, self._count(len(rows)), kept
        )
        return Learned(parameters, eigen_certificate(found.residual))

    @staticmethod
    def _embedding(vectors: Matrix, scale: Vector) -> Matrix:
        found = (vectors / scale[:, None])[:, 1:]
        if found.shape[1] == 0:
            return found
        largest = np.abs(found).argmax(axis=0)
        return np.asarray(found * np.where(found[largest, np.arange(found.shape[1])] < 0, -1.0, 1.0))

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Make the graph again, and multiply its Laplacian with the eigenvectors."""
        rows = rows_of_source(self, source, 2, pairwise=self._pairwise())
        if len(rows) != len(self.eigenvectors_):
            return eigen_certificate(float("inf"))
        L, scale = operator(self._graph(rows), self.laplacian, rows.weight)
        residual = residual_of(L, self.eigenvalues_, self.eigenvectors_)
        apart = np.abs(self._embedding(self.eigenvectors_, scale) - self.embedding_).max(initial=0.0)
        residual = max(residual, float(apart / max(np.abs(self.embedding_).max(initial=0.0), 1e-300)))
        return eigen_certificate(residual)

    def check_loaded(self) -> None:
        """Refuse coordinates for other rows than there are."""
        if self.embedding_.ndim != 2 or (
            not self._pairwise() and self.rows_.shape[0] != len(self.embedding_)
        ):
            raise FormatError("each fitted row must have coordinates.")

    def fit_transform(self, X: Any, y: Any = None) -> Matrix:
        """Fit, and return the coordinates of the rows."""
        return self.fit(X, y).embedding_

    def transform(self, X: Any) -> Matrix:
        """The coordinates of the fitted rows that are nearest (or, for a given graph, most similar)."""
        answer: Matrix = self._answer(self._transform, X)
        return answer

    def _transform(self, X: Any) -> Matrix:
        return np.asarray(self.embedding_[nearest_fitted(self, X)])

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


def nearest_fitted(model: Any, X: Any) -> NDArray[np.int64]:
    """For each row, the fitted row that is nearest or most similar."""
    if model.affinity == "precomputed":
        return np.asarray(X.toarray() if sparse.issparse(X) else X).argmax(axis=1)
    if model.affinity == "precomputed_nearest_neighbors":
        return np.asarray(X.toarray() if sparse.issparse(X) else X).argmin(axis=1)
    if sparse.issparse(X) or sparse.issparse(model.rows_):
        return distances(X, model.rows_, "euclidean").argmin(axis=1)
    return nearest_row(model.rows_, X)[0]


def graph_of(model: Any, X: Any, gamma: float, count: int, eps: float | None) -> Any:
    """The similarities that ``affinity`` names."""
    affinity = model.affinity
    if affinity == "nearest_neighbors":
        return nearest_graph(X, count)
    if affinity == "precomputed_nearest_neighbors":
        return _of_distances(X, count)
    if affinity == "precomputed":
        return symmetric(X)
    if affinity == "epsilon":
        if eps is None:
            raise DataError('affinity="epsilon" needs eps, the distance up to which rows are joined.')
        return radius_graph(X, float(eps))
    if affinity == "rbf":
        if sparse.issparse(X):
            square = distances(X, X, "euclidean")
            square *= square
        else:
            square = cdist(X, X, "sqeuclidean")
        square *= -gamma
        return np.exp(square, out=square)
    if callable(affinity):
        return symmetric(np.asarray(affinity(X, **_given(model, {}))))
    from sklearn.metrics.pairwise import pairwise_kernels

    given = _given(
        model, {"gamma": gamma, "degree": _get(model, "degree", 3), "coef0": _get(model, "coef0", 1)}
    )
    return symmetric(pairwise_kernels(X, metric=affinity, filter_params=True, **given))


def _get(model: Any, name: str, other: Any) -> Any:
    return getattr(model, name, other)


def _given(model: Any, defaults: dict[str, Any]) -> dict[str, Any]:
    return defaults | dict(_get(model, "kernel_params", None) or {})


def _of_distances(X: Any, count: int) -> Any:
    """The graph of the ``count`` nearest by distances between all rows, or between near ones."""
    D = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if sparse.issparse(X):
        D = np.where(D == 0, np.inf, D)
    D = D.copy()
    np.fill_diagonal(D, -1.0)
    n = len(D)
    count = min(count, n)
    columns = np.argsort(D, axis=1, kind="stable")[:, :count].ravel()
    graph = sparse.csr_matrix((np.ones(n * count), (np.repeat(np.arange(n), count), columns)), shape=(n, n))
    return 0.5 * (graph + graph.T)
