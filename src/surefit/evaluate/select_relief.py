"""Relief and ReliefF: columns in which a row differs from its nearest of other classes, not of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.errors import DataError, ParameterError

Vector = NDArray[np.float64]
CELLS = 4_000_000  # distances held at a time


def relief(X: Any, y: Any, *, rows: int | None = None, scale: bool = True, random_state: Any = 0) -> Vector:
    r"""Kira and Rendell's weights: :math:`w \gets w - (x - \text{hit})^2 + (x - \text{miss})^2`, over rows.

    Columns are scaled to [0, 1] first, unless ``scale=False``. hit is the nearest other row of the same
    class, miss the nearest of another. rows: how many to draw; None takes each once. Ties go to the row
    that comes first.

    >>> relief([[0, 0.2], [0.1, 0.9], [0.9, 0.1], [1, 0.8]], [0, 0, 1, 1], scale=False).round(4)
    array([ 3.2 , -1.92])
    """
    table, codes = _scaled(X) if scale else _plain(X), _codes(y)
    total = np.zeros(table.shape[1])
    for i, near in _distances(table, _drawn(len(table), rows, random_state)):
        hit, miss = _nearest(near, codes == codes[i], i, 1), _nearest(near, codes != codes[i], i, 1)
        total += ((table[i] - table[miss[0]]) ** 2) - ((table[i] - table[hit[0]]) ** 2)
    return total


def relieff(
    X: Any, y: Any, *, n_neighbors: int = 10, rows: int | None = None, random_state: Any = 0
) -> Vector:
    r"""Kononenko's weights: means over neighbours of every class, misses weighted by how frequent theirs is.

    :math:`w_j = \frac1m \sum_i \Big[ \sum_{c \ne y_i} \frac{P(c)}{1 - P(y_i)} \overline{|x_{ij} -
    \text{miss}_{cj}|} - \overline{|x_{ij} - \text{hit}_j|} \Big]`, with columns scaled to [0, 1] and
    distances the sum over columns.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(200, 6)).astype(float)
    >>> weights = relieff(X, X[:, 0].astype(int) ^ X[:, 1].astype(int))
    >>> sorted(np.argsort(weights)[-2:].tolist())  # an exclusive or, which no single column shows
    [0, 1]
    """
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int | np.integer) or n_neighbors < 1:
        raise ParameterError(f"n_neighbors={n_neighbors!r} must be a whole number of at least 1.")
    table, codes = _scaled(X), _codes(y)
    share = np.bincount(codes) / len(codes)
    total, chosen = np.zeros(table.shape[1]), _drawn(len(table), rows, random_state)
    for i, near in _distances(table, chosen, power=1):
        for label in range(len(share)):
            found = _nearest(near, codes == label, i, n_neighbors)
            apart = np.abs(table[i] - table[found]).mean(axis=0)
            own = label == codes[i]
            total += -apart if own else apart * share[label] / (1 - share[codes[i]])
    return total / len(chosen)


def _plain(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _scaled(X: Any) -> NDArray[np.float64]:
    table = _plain(X)
    low, high = table.min(axis=0), table.max(axis=0)
    return np.asarray((table - low) / np.where(high > low, high - low, 1.0))


def _codes(y: Any) -> NDArray[np.intp]:
    labels, codes, counts = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    if len(labels) < 2 or counts.min() < 2:
        raise DataError(
            "Relief compares rows with others of their class and of another: give two of each class."
        )
    return codes


def _drawn(count: int, rows: int | None, random_state: Any) -> NDArray[np.intp]:
    if rows is None:
        return np.arange(count)
    return np.random.default_rng(random_state).integers(count, size=rows)


def _distances(table: Any, chosen: Any, power: int = 2) -> Any:
    """Yield each chosen row and its distances to all, in blocks that fit the memory."""
    from scipy.spatial.distance import cdist

    metric = "sqeuclidean" if power == 2 else "cityblock"
    step = max(1, CELLS // len(table))
    for begin in range(0, len(chosen), step):
        block = chosen[begin : begin + step]
        yield from zip(block, cdist(table[block], table, metric), strict=True)


def _nearest(near: Any, among: Any, own: int, count: int) -> Any:
    places = np.flatnonzero(among)
    places = places[places != own]
    if count == 1:
        return places[[np.argmin(near[places])]]
    return places[np.argsort(near[places], kind="stable")[:count]]
