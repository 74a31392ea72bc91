"""Clusters by density over a grid: rows of one to three columns with many others near them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled

MOST_COLUMNS = 3
FINEST = 1e15  # cells in a row, beyond which their numbers are not exact


@dataclass(frozen=True, slots=True)
class Density:
    """Which rows are core rows, and the cluster of each row, -1 for noise."""

    core: NDArray[np.uint8]
    label: NDArray[np.int64]


def grid_density(
    X: Matrix,
    eps: float,
    least: float,
    weight: Vector | None = None,
    *,
    nearest: bool = False,
    _threads: int | None = None,
) -> Density:
    """Find the rows with a weight of at least ``least`` within ``eps``, and join those within ``eps``.

    Clusters are numbered by their first core row. A row that is no core row joins the cluster of least number
    that has a core row within eps or, with ``nearest``, that of its nearest core row, of
    equally near ones the first by its columns.

    >>> grid_density(np.array([[0.0], [1.0], [2.0], [9.0]]), 1.0, 3.0).label
    array([ 0,  0,  0, -1])
    """
    native = compiled()
    if native is None or np.ptp(X, axis=0).max() / eps > FINEST:
        return grid_density_twin(X, eps, least, weight, nearest=nearest)
    found = Density(np.empty(len(X), np.uint8), np.empty(len(X), np.int64))
    native.grid_density(
        np.ascontiguousarray(X, dtype=np.float64),
        np.empty(0) if weight is None else weight,
        eps,
        least,
        bool(nearest),
        found.core,
        found.label,
        threads() if _threads is None else _threads,
    )
    return found


def grid_density_twin(
    X: Matrix, eps: float, least: float, weight: Vector | None = None, *, nearest: bool = False
) -> Density:
    """Do the same with the distances of all pairs."""
    squares = np.zeros((len(X), len(X)))
    for column in np.asarray(X, dtype=np.float64).T:
        squares += (column[:, None] - column) ** 2
    near = squares <= eps * eps
    w = np.ones(len(X)) if weight is None else weight
    core = near @ w >= least
    rank = np.empty(len(X), dtype=np.intp)
    rank[np.lexsort(X.T[::-1])] = np.arange(len(X))
    row, other = np.nonzero(near)
    label = joined(core, row, other, squares[near], nearest=nearest, rank=rank)
    return Density(core.astype(np.uint8), label)


def joined(
    core: NDArray[np.bool_],
    rows: NDArray[np.intp],
    others: NDArray[np.intp],
    apart: Vector,
    *,
    nearest: bool,
    rank: NDArray[np.intp] | None = None,
) -> NDArray[np.int64]:
    """The clusters of rows, given which are core rows and the pairs (both ways) of those that are near.

    rank: which of two core rows that are equally near comes first; by default the one with the lower number.
    """
    n = len(core)
    inside = core[rows] & core[others]
    graph = coo_matrix((np.ones(inside.sum()), (rows[inside], others[inside])), shape=(n, n))
    of = connected_components(graph, directed=False)[1]
    label = np.full(n, -1, dtype=np.int64)
    places, first = np.unique(of[core], return_index=True)
    number = np.full(n, -1, dtype=np.int64)
    number[places[np.argsort(first)]] = np.arange(len(places))
    label[core] = number[of[core]]
    edge = ~core[rows] & core[others]
    row, other, far = rows[edge], others[edge], apart[edge]
    first_of = other if rank is None else rank[other]
    order = np.lexsort((first_of, far, row)) if nearest else np.lexsort((label[other], row))
    found, at = np.unique(row[order], return_index=True)
    label[found] = label[other[order][at]]
    return label
