"""Merges of agglomerative clustering: the two closest clusters join, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
_SQUARED = ("ward", "centroid", "median")  # work with squares of Euclidean distances
_NONE = np.empty(0)


@dataclass(frozen=True, slots=True)
class Merges:
    """The n - 1 merges of n rows: which two nodes (rows first, then merges, from n on), how far apart they
    were, and how many rows they hold together.
    """

    children: NDArray[np.int64]  # (n - 1, 2), the smaller number first
    height: Vector
    size: NDArray[np.int64]


def linkage_of_rows(
    X: Matrix,
    linkage: str,
    weight: Vector | None = None,
    core: Vector | None = None,
    *,
    _threads: int | None = None,
) -> Merges:
    """Merge rows by their Euclidean distances; Ward and single take memory in proportion to the rows.

    weight: how much each row counts. core: for single linkage, the least that a row may be away from others.

    >>> linkage_of_rows(np.array([[0.0], [1.0], [3.0], [7.0]]), "complete").height
    array([1., 3., 7.])
    """
    native = compiled()
    if native is None:
        return linkage_of_rows_twin(X, linkage, weight, core)
    merges = _room(len(X))
    native.linkage_of_rows(
        np.ascontiguousarray(X, dtype=np.float64),
        _NONE if weight is None else weight,
        _NONE if core is None else core,
        LINKAGES.index(linkage),
        merges.children,
        merges.height,
        merges.size,
        threads() if _threads is None else _threads,
    )
    return merges


def linkage_of_square(
    square: Matrix, linkage: str, weight: Vector | None = None, *, _threads: int | None = None
) -> Merges:
    """Merge rows by a square of the distances between them, which is used up.

    Centroid and median take squares of Euclidean distances.

    >>> linkage_of_square(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]), "average").height
    array([1. , 2.5])
    """
    native = compiled()
    if native is None:
        return linkage_of_square_twin(square, linkage, weight)
    merges = _room(len(square))
    native.linkage_of_square(
        square,
        _NONE if weight is None else weight,
        LINKAGES.index(linkage),
        merges.children,
        merges.height,
        merges.size,
        threads() if _threads is None else _threads,
    )
    return merges


def linkage_along_edges(
    X: Matrix,
    linkage: str,
    edges: tuple[NDArray[np.int64], NDArray[np.int64], Vector],
    weight: Vector | None = None,
    merges: int | None = None,
    *,
    _threads: int | None = None,
) -> Merges:
    """Merge rows that edges (from, to, how far apart) join, and what they become, in the order of closeness.

    Ward finds distances for itself. merges: after how many to stop.

    >>> edges = (np.array([0, 1]), np.array([1, 2]), np.array([1.0, 3.0]))
    >>> linkage_along_edges(np.array([[0.0], [1.0], [-2.0]]), "complete", edges).height
    array([1., 3.])
    """
    most = len(X) - 1 if merges is None else merges
    native = compiled()
    if native is None:
        return linkage_along_edges_twin(X, linkage, edges, weight, most)
    children, height = np.empty((most, 2), np.int64), np.empty(most)
    start, stop, apart = edges
    count = native.linkage_along_edges(
        np.ascontiguousarray(X, dtype=np.float64),
        _NONE if weight is None else weight,
        np.ascontiguousarray(start, dtype=np.int64),
        np.ascontiguousarray(stop, dtype=np.int64),
        np.ascontiguousarray(apart, dtype=np.float64),
        LINKAGES.index(linkage),
        children,
        height,
        threads() if _threads is None else _threads,
    )
    return _sized(children[:count], height[:count], len(X))


def linkage_along_edges_twin(
    X: Matrix, linkage: str, edges: Any, weight: Vector | None = None, merges: int | None = None
) -> Merges:
    """Do the same by looking through all edges each time."""
    w = list(np.ones(len(X)) if weight is None else weight)
    centre = list(np.asarray(X, dtype=np.float64))

    def ward(a: int, b: int) -> float:
        return float(np.sqrt(2 * w[a] * w[b] / (w[a] + w[b]) * ((centre[a] - centre[b]) ** 2).sum()))

    near: list[dict[int, float]] = [{} for _ in range(len(X))]
    for a, b, d in zip(*(entry.tolist() for entry in edges), strict=True):
        if a != b and b not in near[a]:
            near[a][b] = near[b][a] = ward(a, b) if linkage == "ward" else d
    children: list[tuple[int, int]] = []
    height: list[float] = []
    most = len(X) - 1 if merges is None else merges
    while len(children) < most and any(near):
        d, a, b = min((d, a, b) for a, others in enumerate(near) for b, d in others.items() if a < b)
        children.append((a, b))
        height.append(d)
        w.append(w[a] + w[b])
        centre.append((w[a] * centre[a] + w[b] * centre[b]) / w[-1])
        one, two, k = near[a], near[b], len(near)
        near.append({})
        near[a], near[b] = {}, {}
        for c in (one.keys() | two.keys()) - {a, b}:
            ends = [side[c] for side in (one, two) if c in side]
            far = ends[0]
            if linkage == "ward":
                far = ward(k, c)
            elif len(ends) == 2:
                far = float(stretched(linkage, ends[0], ends[1], 0.0, w[a], w[b], np.array(w[c])))
            near[k][c] = near[c][k] = far
            near[c].pop(a, None)
            near[c].pop(b, None)
    return _sized(np.array(children, dtype=np.int64).reshape(-1, 2), np.array(height), len(X))


def _sized(children: NDArray[np.int64], height: Vector, n: int) -> Merges:
    size = np.ones(n + len(children), dtype=np.int64)
    for t, (a, b) in enumerate(children.tolist()):
        size[n + t] = size[a] + size[b]
    return Merges(children, height, size[n:])


def nearest_row(X: Matrix, Q: Matrix, *, _threads: int | None = None) -> tuple[NDArray[np.int64], Vector]:
    """Return for each row of Q the nearest row of X, the first of equal ones, and the square of the distance.

    >>> nearest_row(np.array([[0.0], [3.0]]), np.array([[2.0]]))
    (array([1]), array([1.]))
    """
    native = compiled()
    if native is None:
        return nearest_row_twin(X, Q)
    index, squares = np.empty(len(Q), np.int64), np.empty(len(Q))
    rows, asked = (np.ascontiguousarray(A, dtype=np.float64) for A in (X, Q))
    native.nearest_row(rows, asked, index, squares, threads() if _threads is None else _threads)
    return index, squares


def nearest_row_twin(X: Matrix, Q: Matrix) -> tuple[NDArray[np.int64], Vector]:
    """Do the same with one row of differences at a time."""
    squares = np.array([((X - row) ** 2).sum(axis=1) for row in Q]).reshape(len(Q), len(X))
    index = squares.argmin(axis=1)
    return index, squares[np.arange(len(Q)), index]


def _room(n: int) -> Merges:
    return Merges(np.empty((n - 1, 2), np.int64), np.empty(n - 1), np.empty(n - 1, np.int64))


def linkage_of_rows_twin(
    X: Matrix, linkage: str, weight: Vector | None = None, core: Vector | None = None
) -> Merges:
    """Do the same with all distances."""
    X = np.asarray(X, dtype=np.float64)
    square = np.zeros((len(X), len(X)))
    for column in X.T:
        square += (column[:, None] - column) ** 2
    if linkage not in _SQUARED:
        square = np.sqrt(square)
    if core is not None:
        square = np.maximum(square, np.maximum(core[:, None], core))
    if linkage == "ward":  # the square of the height at which two rows merge
        w = np.ones(len(X)) if weight is None else weight
        square = square * (2 * w[:, None] * w / (w[:, None] + w))
    return linkage_of_square_twin(square, linkage, weight)


def linkage_of_square_twin(square: Matrix, linkage: str, weight: Vector | None = None) -> Merges:
    """Do the same by looking for the closest pair in the whole square each time."""
    D, n = square.astype(np.float64), len(square)
    np.fill_diagonal(D, np.inf)
    w = np.ones(n) if weight is None else weight.astype(np.float64)
    node, size, found = np.arange(n), np.ones(n, dtype=np.int64), _room(n)
    for t in range(n - 1):
        i, j = sorted(int(k) for k in np.unravel_index(np.argmin(D), D.shape))
        far = np.sqrt(max(D[i, j], 0.0)) if linkage in _SQUARED else D[i, j]
        size[i] += size[j]
        found.children[t], found.height[t], found.size[t] = sorted((node[i], node[j])), far, size[i]
        D[i] = D[:, i] = stretched(linkage, D[i], D[j], D[i, j], w[i], w[j], w)
        D[j] = D[:, j] = D[i, i] = np.inf
        w[i] += w[j]
        node[i] = n + t
    return found


def stretched(linkage: str, a: Any, b: Any, ab: float, wa: float, wb: float, w: Vector) -> Any:
    """Return how far the union of two clusters is from the others (Lance and Williams)."""
    with np.errstate(invalid="ignore"):  # what is gone is infinite
        return {
            "single": lambda: np.minimum(a, b),
            "complete": lambda: np.maximum(a, b),
            "average": lambda: (wa * a + wb * b) / (wa + wb),
            "weighted": lambda: (a + b) / 2,
            "ward": lambda: ((wa + w) * a + (wb + w) * b - w * ab) / (wa + wb + w),
            "centroid": lambda: (wa * a + wb * b - wa * wb / (wa + wb) * ab) / (wa + wb),
            "median": lambda: (a + b) / 2 - ab / 4,
        }[linkage]()
