"""Information in samples of continuous numbers, by distances to nearest neighbours; in the maximum norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError
from surefit.distributions.information.tables import nats_in
from surefit.losses.arrays import Array


def estimated_entropy(x: Any, *, neighbors: int = 3, base: float = math.e) -> float:
    r"""Kozachenko and Leonenko's estimate, :math:`\psi(n) - \psi(k) + \tfrac dn \sum \log 2 \rho_i`.

    :math:`\rho_i` is the distance of a row to its k-th neighbour. A row with k copies or more is an atom,
    whose entropy is minus infinity.

    >>> sample = np.random.default_rng(0).normal(size=4000)
    >>> round(estimated_entropy(sample), 1)  # truly 1.4189
    1.4
    """
    from scipy.special import digamma

    rows = _rows(x, "x")
    _check_neighbors(neighbors, len(rows))
    distance = _tree(rows).query(rows, neighbors + 1, p=np.inf)[0][:, -1]
    with np.errstate(divide="ignore"):
        logs = rows.shape[1] * np.log(2.0 * distance).mean()
    return float((digamma(len(rows)) - digamma(neighbors) + logs) / nats_in(base))


def estimated_mutual_information(
    x: Any, y: Any, *, labels: bool = False, neighbors: int = 3, base: float = math.e
) -> float:
    r"""Kraskov's first estimate, :math:`\psi(n) + \overline{\psi(k) - \psi(n_x) - \psi(n_y)}`, at least 0.

    n_x and n_y count the rows, itself among them, that are strictly nearer in x, or in y, than the k-th
    neighbour in both. Where that neighbour is at distance 0, all copies count, in both and in each: on data
    that repeat, this is the estimate from counts. Columns are divided by their standard deviation first.

    labels: y holds classes, and the estimate is Ross's: the k-th neighbour is sought among the rows of the
    same class; classes of one row are left out.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=2000)
    >>> round(estimated_mutual_information(x, x + rng.normal(size=2000)), 2)  # truly 0.3466
    0.34
    """
    from scipy.special import digamma

    a = _scaled(_rows(x, "x"))
    if len(a) != len(np.asarray(y)):
        raise DataError(
            f"x has {len(a)} rows and y has {len(np.asarray(y))}: give two samples of equal length."
        )
    if labels:
        return _with_labels(a, np.asarray(y), neighbors) / nats_in(base)
    b = _scaled(_rows(y, "y"))
    _check_neighbors(neighbors, len(a))
    both = np.hstack([a, b])
    distance = _tree(both).query(both, neighbors + 1, p=np.inf)[0][:, -1]
    tied = distance == 0
    radius = np.where(tied, 0.0, np.nextafter(distance, 0.0))
    near = np.where(tied, _within(both, radius), neighbors)
    local = digamma(near) - digamma(_within(a, radius)) - digamma(_within(b, radius))
    return max(float(digamma(len(a)) + local.mean()), 0.0) / nats_in(base)


def _with_labels(a: Array, y: NDArray[Any], neighbors: int) -> float:
    from scipy.special import digamma

    _, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    keep = sizes[codes] > 1
    if not keep.any():
        raise DataError("every class has one row only: there is no neighbour of the same class to look for.")
    a, codes = a[keep], codes[keep]
    _check_neighbors(neighbors, len(a))
    radius, near = np.empty(len(a)), np.empty(len(a))
    for code in np.unique(codes):
        own = codes == code
        rows = a[own]
        k = min(neighbors, len(rows) - 1)
        distance = _tree(rows).query(rows, k + 1, p=np.inf)[0][:, -1]
        tied = distance == 0
        radius[own] = np.where(tied, 0.0, np.nextafter(distance, 0.0))
        near[own] = np.where(tied, _within(rows, np.zeros(len(rows))), k)
    local = digamma(near) - digamma(sizes[codes]) - digamma(_within(a, radius))
    return max(float(digamma(len(a)) + local.mean()), 0.0)


def _tree(rows: Array) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(rows)


def _within(rows: Array, radius: Array) -> Any:
    """Count the rows within the radius of each, itself among them."""
    return _tree(rows).query_ball_point(rows, radius, p=np.inf, return_length=True)


def _rows(x: Any, name: str) -> Array:
    rows = np.asarray(x, dtype=np.float64)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise DataError(f"{name} must be a column or a matrix of finite numbers, a row each: correct it.")
    return rows


def _scaled(rows: Array) -> Array:
    spread = rows.std(axis=0)
    return np.asarray(rows / np.where(spread > 0, spread, 1.0))


def _check_neighbors(neighbors: int, rows: int) -> None:
    if isinstance(neighbors, bool) or not isinstance(neighbors, int | np.integer) or neighbors < 1:
        raise ParameterError(
            f"neighbors={neighbors!r} is not allowed; it must be a whole number in [1, inf)."
        )
    if neighbors >= rows:
        raise DataError(
            f"{rows} rows have no neighbour number {neighbors}: give more rows or fewer neighbors."
        )
