"""Which rows may merge: a graph, made symmetric and of one piece."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import paired_distances
from sklearn.utils import check_array

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, SurefitWarning, warn
from surefit.models.cluster.compared_rows import distances

Edges = tuple[NDArray[np.int64], NDArray[np.int64], Vector]


def graph_of(connectivity: Any, X: Any, n: int, metric: Any) -> tuple[Edges, int]:
    """The edges of a graph and how long they are, and how many pieces it had.

    Pieces are joined along the shortest edge between each two of them, with a warning.
    """
    if callable(connectivity):
        connectivity = connectivity(X)
    given = check_array(connectivity, accept_sparse=["csr", "coo", "lil"])
    if given.shape != (n, n):
        raise DataError(
            f"connectivity must be {n} by {n}, a row and a column for each sample, but it is "
            f"{given.shape[0]} by {given.shape[1]}."
        )
    graph = sparse.coo_matrix(given)
    rows, columns = graph.row.astype(np.int64), graph.col.astype(np.int64)
    real = (graph.data != 0) & (rows != columns)
    pairs = np.column_stack([rows[real], columns[real]])
    plain = sparse.coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    pieces, of = connected_components(plain, directed=False)
    if pieces > 1:
        warn(
            f"the number of connected components of the connectivity matrix is {pieces} > 1. Completing it "
            "to avoid stopping the tree early.",
            SurefitWarning,
        )
        pairs = np.concatenate([pairs, _bridges(X, of, pieces, metric)])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    return (pairs[:, 0], pairs[:, 1], lengths(X, pairs, metric)), int(pieces)


def lengths(X: Any, pairs: NDArray[np.int64], metric: Any) -> Vector:
    """How far apart the ends of edges are."""
    if metric == "precomputed":
        return np.asarray(X[pairs[:, 0], pairs[:, 1]], dtype=np.float64)
    if callable(metric):
        return np.asarray(metric(X)[pairs[:, 0], pairs[:, 1]], dtype=np.float64)
    name = {"l2": "euclidean", "l1": "manhattan"}.get(metric, metric)
    return np.asarray(paired_distances(X[pairs[:, 0]], X[pairs[:, 1]], metric=name), dtype=np.float64)


def _bridges(X: Any, of: NDArray[Any], pieces: int, metric: Any) -> NDArray[np.int64]:
    members = [np.flatnonzero(of == piece) for piece in range(pieces)]
    square = X if metric == "precomputed" else metric(X) if callable(metric) else None
    found = []
    for one in range(pieces):
        for two in range(one):
            if square is None:
                apart = distances(X[members[one]], X[members[two]], metric)
            else:
                apart = np.asarray(square)[np.ix_(members[one], members[two])]
            i, j = np.unravel_index(int(apart.argmin()), apart.shape)
            found.append((members[one][i], members[two][j]))
    return np.array(found, dtype=np.int64)
