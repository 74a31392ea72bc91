"""Graphs of similarities, their Laplacians, and the smallest eigenvalues of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, SurefitWarning, warn
from surefit.models.cluster.compared_rows import distances
from surefit.resample.streams import stream

Laplacian = Literal["random_walk", "symmetric", "unnormalized"]
DENSE = 600  # rows up to which all eigenvalues cost little
MOST_DEGREE = 60  # edges of a row beyond which a factor of the graph is nearly full
_BLOCK = 2**24


@dataclass(frozen=True, slots=True)
class Spectrum:
    """The smallest eigenvalues, in order, with their eigenvectors as columns, and their largest residual."""

    values: Vector
    vectors: Matrix
    residual: float


def nearest_graph(X: Any, count: int) -> Any:
    """1 where a row is among the ``count`` nearest of another, itself included, averaged over both ways."""
    n = X.shape[0]
    count = min(count, n)
    places = []
    step = max(1, _BLOCK // n)
    for start in range(0, n, step):
        block = distances(X[start : start + step], X, "euclidean")
        rows = np.arange(len(block))
        block[rows, start + rows] = -1.0  # a row is its own nearest
        places.append(np.argpartition(block, count - 1, axis=1)[:, :count])
    columns = np.concatenate(places).ravel()
    rows = np.repeat(np.arange(n), count)
    graph = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return 0.5 * (graph + graph.T)


def radius_graph(X: Any, eps: float) -> Any:
    """1 between rows within ``eps`` of each other."""
    near = distances(X, X, "euclidean") <= eps
    return sparse.csr_matrix(near.astype(np.float64))


def symmetric(A: Any) -> Any:
    """A given graph, checked: square, and its two halves averaged."""
    if A.shape[0] != A.shape[1]:
        raise DataError(f"similarities must be a square matrix, one row a sample, not {A.shape}.")
    A = A.astype(np.float64) if sparse.issparse(A) else np.asarray(A, dtype=np.float64)
    return 0.5 * (A + A.T)


def operator(A: Any, kind: Laplacian, weight: Vector | None) -> tuple[Any, Vector]:
    r"""The symmetric matrix that the eigenvalues are of, and what to divide eigenvectors by.

    :math:`L = D - A` or :math:`I - D^{-1/2} A D^{-1/2}`, where what a row is to itself does not count. A row
    of weight w stands for w equal ones.
    """
    n = A.shape[0]
    w = np.ones(n) if weight is None else weight
    root = np.sqrt(w)
    own = np.maximum(w - 1, 0.0) * A.diagonal()
    if sparse.issparse(A):
        off = sparse.csr_matrix(A - sparse.diags(A.diagonal()))
        B = sparse.diags(root) @ off @ sparse.diags(root)
    else:
        off = np.array(A, dtype=np.float64, order="C")
        np.fill_diagonal(off, 0.0)
        B = off if weight is None else root[:, None] * off * root
    outside = np.asarray(off @ w).ravel()
    if kind == "unnormalized":
        return (sparse.diags(outside) - B if sparse.issparse(A) else np.diag(outside) - B), root
    degree = np.where(outside + own > 0, np.sqrt(outside + own), 1.0)
    alone = outside + own <= 0
    diagonal = np.where(alone, 0.0, 1.0 - own / degree**2)
    if sparse.issparse(A):
        scaled = sparse.diags(1 / degree) @ B @ sparse.diags(1 / degree)
        L = sparse.diags(diagonal) - scaled
    else:
        L = B  # scaled in place: each further table of all pairs takes as long as several products with it
        L /= -degree[:, None]
        L /= degree
        L[np.arange(n), np.arange(n)] = diagonal
    return L, (root * degree if kind == "random_walk" else root)


def smallest(L: Any, count: int, seed: int, tolerance: float = 1e-9) -> Spectrum:
    """The ``count`` smallest eigenvalues of a positive semi-definite matrix and their eigenvectors."""
    n = L.shape[0]
    if n <= DENSE or count >= n - 1:
        whole = L.toarray() if sparse.issparse(L) else L
        values, vectors = linalg.eigh(whole, subset_by_index=[0, min(count, n) - 1])
    else:
        start = stream(seed, 0).uniform(-1, 1, n)
        if sparse.issparse(L) and L.nnz <= MOST_DEGREE * n:
            # just below 0, so that the factor exists
            values, vectors = eigsh(sparse.csc_matrix(L), count, sigma=-1e-6, which="LM", v0=start)
        else:
            # The largest eigenvalues of 2 I - L are the smallest of L; unnormalised ones end elsewhere.
            top = max(2.0, float(2 * L.diagonal().max()))
            turned = LinearOperator((n, n), matvec=lambda v: top * v - L @ v, dtype=np.float64)
            values, vectors = eigsh(
                turned, count, which="LA", v0=start, tol=tolerance, ncv=min(n, 4 * count + 20)
            )
            values = top - values
        order = np.argsort(values, kind="stable")
        values, vectors = values[order], vectors[:, order]
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[largest, np.arange(len(values))] < 0, -1.0, 1.0)
    return Spectrum(np.maximum(values, 0.0), vectors, residual_of(L, values, vectors))


def residual_of(L: Any, values: Vector, vectors: Matrix) -> float:
    """The largest entry of L V - V diag(values) and of V'V - I."""
    off = np.abs(L @ vectors - vectors * values).max(initial=0.0)
    return float(max(off / max(1.0, float(np.abs(values).max(initial=0.0))), _unlike(vectors)))


def _unlike(vectors: Matrix) -> float:
    return float(np.abs(vectors.T @ vectors - np.eye(vectors.shape[1])).max(initial=0.0))


def warn_of_parts(A: Any) -> int:
    """How many parts a graph falls into; more than one is worth a warning."""
    parts = int(connected_components(sparse.csr_matrix(A), directed=False)[0]) if sparse.issparse(A) else 1
    if parts > 1:
        warn(
            "Graph is not fully connected, spectral embedding may not work as expected.",
            SurefitWarning,
        )
    return parts


def eigengap(values: Vector) -> int:
    """How many clusters the largest gap between neighbouring eigenvalues speaks for.

    >>> eigengap(np.array([0.0, 0.0, 3.0, 3.0]))
    2
    """
    return int(np.argmax(np.diff(values))) + 1
