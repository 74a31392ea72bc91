"""Weighted medians of nodes and the gains of splits by absolute deviations, in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
HALF_BLUR = 32 * float(np.finfo(float).eps)  # of a sum of shares of rows, which are rounded themselves


def weighted_median(y: Floats, w: Floats) -> float:
    """The number with half of the weight on either side; half-way where two would do.

    >>> weighted_median(np.array([1.0, 2.0, 9.0]), np.array([1.0, 1.0, 2.0]))
    5.5
    """
    order = np.argsort(y, kind="stable")
    y, cumulative = y[order], np.cumsum(w[order])
    half, blur = cumulative[-1] / 2.0, HALF_BLUR * cumulative[-1]
    at = int(np.searchsorted(cumulative, half - blur))
    if cumulative[at] <= half + blur and at + 1 < len(y):
        return float(y[at] / 2.0 + y[at + 1] / 2.0)
    return float(y[at])


def medians(
    Y: NDArray[Any], w: Floats, rows: NDArray[np.int64], start: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return the median and the mean absolute deviation of each node and output."""
    shape = (len(start) - 1, Y.shape[1])
    found, spread = np.empty(shape), np.empty(shape)
    for i in range(len(start) - 1):
        mine = rows[start[i] : start[i + 1]]
        for o in range(Y.shape[1]):
            found[i, o] = weighted_median(Y[mine, o], w[mine])
            spread[i, o] = np.average(np.abs(Y[mine, o] - found[i, o]), weights=w[mine])
    return found, spread


def absolute_gains(Y: NDArray[Any], w: Floats, sides: NDArray[np.bool_]) -> Floats:
    """The fall of the mean absolute deviation by each way to send rows, (m, rows): True goes left."""
    before = np.zeros(len(sides))
    after = np.zeros(len(sides))
    for y in Y.T:
        order = np.argsort(y, kind="stable")
        y, weight, goes = y[order], w[order], sides[:, order]
        before += _deviations(y, weight, np.ones((1, len(y)), dtype=bool))[0]
        after += _deviations(y, weight, goes) + _deviations(y, weight, ~goes)
    return (before - after) / (w.sum() * Y.shape[1])


def _deviations(y: Floats, w: Floats, takes: NDArray[np.bool_]) -> Floats:
    """The weighted deviations from the median of each choice of rows, which are sorted by y."""
    chosen = takes * w
    cumulative = np.cumsum(chosen, axis=1)
    at = np.argmax(cumulative >= cumulative[:, -1:] / 2.0, axis=1)
    return np.asarray((chosen * np.abs(y - y[at][:, None])).sum(axis=1))
