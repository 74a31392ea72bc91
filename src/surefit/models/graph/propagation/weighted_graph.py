"""Graphs with weights: incidence, Laplacian, similarity, and labels by Dirichlet's energy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public


@dataclass(frozen=True)
class HarmonicLabels:
    """Values of all nodes, the classes that they round to, and how far they are from being harmonic."""

    values: Vector
    classes: NDArray[np.int64]
    residual: float


@public
class WeightedGraph:
    r"""Nodes 0, 1, ... and edges with weights: :math:`L = M^\top M = D - A`.

    edges: pairs of nodes; a pair that comes twice has the sum of its weights. weights: one an edge, 1 by
    default. n_nodes: at least the largest node and one.

    >>> graph = WeightedGraph([(0, 1), (1, 2)], [1.0, 4.0])
    >>> graph.laplacian().toarray()
    array([[ 1., -1.,  0.],
           [-1.,  5., -4.],
           [ 0., -4.,  4.]])
    >>> graph.harmonic({0: 0, 2: 1}).values
    array([0. , 0.8, 1. ])
    """

    def __init__(self, edges: Iterable[Any], weights: Any = None, n_nodes: int | None = None) -> None:
        pairs = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
        given = np.ones(len(pairs)) if weights is None else np.array(weights, dtype=np.float64).ravel()
        if len(given) != len(pairs):
            raise DataError(f"there are {len(pairs)} edges, but {len(given)} weights.")
        if not np.isfinite(given).all() or (given < 0).any():
            raise DataError("weights of edges must be finite and not negative.")
        if len(pairs) and pairs.min() < 0:
            raise DataError("nodes are numbered from 0.")
        if (pairs[:, 0] == pairs[:, 1]).any():
            raise DataError(f"edge {int(np.argmax(pairs[:, 0] == pairs[:, 1]))} joins a node with itself.")
        least = int(pairs.max(initial=-1)) + 1
        self.n_nodes = least if n_nodes is None else int(n_nodes)
        if self.n_nodes < least:
            raise ParameterError(f"n_nodes={n_nodes} is too few: an edge names node {least - 1}.")
        self.edges, self.weights = pairs, given

    def __repr__(self) -> str:
        return f"WeightedGraph({self.n_nodes} nodes, {len(self.edges)} edges)"

    @classmethod
    def similarity(cls, X: Any, *, gamma: float = 1.0, threshold: float | None = None) -> WeightedGraph:
        r"""Return the graph of rows with weights :math:`e^{-\gamma \|x_i - x_j\|^2}`, none beyond a distance.

        >>> WeightedGraph.similarity([[0.0], [1.0], [5.0]], threshold=2.0).weights.round(4)
        array([0.3679])
        """
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or not np.isfinite(rows).all():
            raise DataError("X must be a matrix of finite numbers.")
        if not gamma > 0:
            raise ParameterError(f"gamma={gamma!r} must be above 0.")
        one, two = np.triu_indices(len(rows), k=1)
        squares = np.sum((rows[one] - rows[two]) ** 2, axis=1)
        near = np.ones(len(one), dtype=bool) if threshold is None else squares <= threshold**2
        weights = np.exp(-gamma * squares[near])
        return cls(np.column_stack([one[near], two[near]]), weights, len(rows))

    def adjacency(self) -> sparse.csr_array:
        """Return the symmetric matrix A of weights."""
        a, b = self.edges.T
        both = np.concatenate([self.weights, self.weights])
        where = (np.concatenate([a, b]), np.concatenate([b, a]))
        return sparse.coo_array((both, where), shape=(self.n_nodes, self.n_nodes)).tocsr()

    def incidence(self) -> sparse.csr_array:
        r"""Return M, a row an edge (i, j): :math:`-\sqrt{w}` at i and :math:`\sqrt{w}` at j, for i < j."""
        low, high = self.edges.min(axis=1, initial=self.n_nodes), self.edges.max(axis=1, initial=0)
        root, row = np.sqrt(self.weights), np.arange(len(self.edges))
        where = (np.concatenate([row, row]), np.concatenate([low, high]))
        return sparse.coo_array(
            (np.concatenate([-root, root]), where), shape=(len(self.edges), self.n_nodes)
        ).tocsr()

    def laplacian(self) -> sparse.csr_array:
        """Return L = D - A, the degrees less the weights; it is positive semi-definite with row sums 0."""
        A = self.adjacency()
        return (sparse.diags_array(np.asarray(A.sum(axis=1)).ravel()) - A).tocsr()

    def energy(self, values: Any) -> float:
        r"""Return Dirichlet's energy :math:`v^\top L v = \sum_{ij} w_{ij} (v_i - v_j)^2`."""
        v = np.asarray(values, dtype=np.float64)
        return float(self.weights @ (v[self.edges[:, 0]] - v[self.edges[:, 1]]) ** 2)

    def components(self) -> NDArray[np.int64]:
        """Return the number of the connected component of each node; weights of 0 join nothing."""
        A = self.adjacency()
        A.eliminate_zeros()
        return np.asarray(connected_components(A, directed=False)[1], dtype=np.int64)

    def harmonic(self, labels: Mapping[int, float]) -> HarmonicLabels:
        r"""Return the values of least energy that agree with labels: :math:`L_{uu} v_u = -L_{ul} y`.

        They lie between the least and the largest label (the maximum principle). Classes are the values
        rounded, 1/2 to 1. Every component needs a label.

        labels: from nodes to numbers in [0, 1].
        """
        known = np.array(sorted(labels), dtype=np.int64)
        if not len(known) or known.min() < 0 or known.max() >= self.n_nodes:
            raise DataError(f"labels must name at least one node, from 0 to {self.n_nodes - 1}.")
        y = np.array([labels[int(node)] for node in known], dtype=np.float64)
        if not ((y >= 0) & (y <= 1)).all():
            raise DataError("labels must lie between 0 and 1.")
        place = self.components()
        alone = np.setdiff1d(place, place[known])
        if len(alone):
            node = int(np.argmax(place == alone[0]))
            raise DataError(f"no node with a label is connected with node {node}: give one in its component.")
        v: Vector = np.zeros(self.n_nodes)
        v[known] = y
        free = np.setdiff1d(np.arange(self.n_nodes), known)
        L = self.laplacian()
        if len(free):
            inner = L[free][:, free].tocsc()
            solver, right = splu(inner), -(L[free][:, known] @ y)
            found = solver.solve(right)
            found += solver.solve(right - inner @ found)  # one refinement takes rounding away
            v[free] = np.clip(found, y.min(), y.max())
        residual = np.abs((L @ v)[free]).max(initial=0.0) / max(float(L.diagonal().max()), 1e-300)
        return HarmonicLabels(v, (v >= 0.5).astype(np.int64), float(residual))


def check_square(A: Any) -> Matrix:
    """Return a similarity matrix, checked to be square, finite and not negative."""
    found = np.asarray(A, dtype=np.float64)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not np.isfinite(found).all():
        raise DataError("the kernel must return a square matrix of finite numbers for X with itself.")
    if (found < 0).any():
        raise DataError("the kernel must not be negative: labels are averages with its values as weights.")
    return found
