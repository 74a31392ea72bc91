"""Impurities of nodes and gains of splits, in numpy: what the proof and the readers use.

Sums are the weight of each class, or of numbers the sums of y and of its square. Counts have theirs about a
mean, ``about``: of y - ``about``, and of how many rows are above zero, which no rounding changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.count_distance import count_distance

# The name of the kernel's criterion for each that a user may ask for.
CLASS_CRITERIA = {
    "gini": "gini",
    "entropy": "entropy",
    "log_loss": "entropy",
    "information_gain": "entropy",
    "misclassification": "misclassification",
    "gain_ratio": "gain_ratio",
    "chi_squared": "chi_squared",
}
NUMBER_CRITERIA = {
    "squared_error": "squared",
    "friedman_mse": "squared",
    "absolute_error": "absolute",
    "poisson": "poisson",
}


def terms(
    Y: NDArray[Any], weight: Vector, criterion: str, classes: tuple[int, ...], about: Vector | None = None
) -> Matrix:
    """Return what each row adds to the sums of its node; ``about``: of counts whose splits are scored."""
    if classes:
        each = [np.eye(k)[Y[:, o].astype(np.intp)] for o, k in enumerate(classes)]
        return np.hstack(each) * weight[:, None]
    if about is not None:
        return np.hstack([(Y - about) * weight[:, None], (Y > 0).astype(np.float64)])
    return np.hstack([Y, Y * Y]) * weight[:, None]


def count_costs(Y: Matrix, weight: Vector, mean: Vector) -> Vector:
    """Return the Poisson distance of each row from a mean, a mean over outputs, times its weight.

    >>> count_costs(np.array([[1.0], [3.0]]), np.ones(2), np.array([2.0])).round(3).tolist()
    [0.307, 0.216]
    """
    return np.asarray(count_distance(Y - mean, mean).mean(axis=1) * weight)


def x_log_x(x: Vector) -> Vector:
    """Return x log x, which is 0 at 0."""
    return np.asarray(x * np.log(np.where(x > 0, x, 1.0)))


def impurity(sums: Matrix, weight: Vector, criterion: str, classes: tuple[int, ...]) -> Vector:
    """Return the impurity of nodes, (m,), the mean over outputs, from their sums, (m, width); not of counts.

    >>> impurity(np.array([[1.0, 3.0]]), np.array([4.0]), "gini", (2,))
    array([0.375])
    """
    w = weight[:, None]
    if not classes:
        first, second = np.split(sums, 2, axis=1)
        return np.asarray(np.maximum(second / w - (first / w) ** 2, 0.0).mean(axis=1))
    total = np.zeros(len(sums))
    for counts in np.split(sums, np.cumsum(classes)[:-1], axis=1):
        share = counts / w
        if criterion in ("gini", "chi_squared"):
            total += 1.0 - (share**2).sum(axis=1)
        elif criterion == "misclassification":
            total += 1.0 - share.max(axis=1)
        else:
            total -= x_log_x(share).sum(axis=1) / np.log(2.0)
    return total / len(classes)


def gain(
    left: Matrix,
    wl: Vector,
    whole: Matrix,
    weight: Vector,
    criterion: str,
    classes: tuple[int, ...],
    about: Vector | None = None,
) -> Vector:
    """Return how good splits of a node are: the fall of its impurity, the gain ratio or phi squared.

    >>> whole, left = np.array([[2.0, 2.0]]), np.array([[2.0, 0.0]])
    >>> gain(left, np.array([2.0]), whole, np.array([4.0]), "gini", (2,))
    array([0.5])
    """
    right, wr = whole - left, weight - wl
    with np.errstate(divide="ignore", invalid="ignore"):
        if criterion == "chi_squared":
            found = _phi_squared(left, wl, whole, weight, classes)
        elif criterion == "squared":
            k = left.shape[1] // 2
            gap = left[:, :k] - whole[:, :k] * (wl / weight)[:, None]
            found = (gap**2).mean(axis=1) / (wl * wr)
        elif about is not None:
            found = _count_gain(left, wl, whole, weight, about)
        else:
            found = impurity(whole, weight, criterion, classes)
            found = found - (wl / weight) * impurity(left, wl, criterion, classes)
            found = found - (wr / weight) * impurity(right, wr, criterion, classes)
        if criterion == "gain_ratio":
            found = _ratio(left, wl, whole, weight, classes)
    return np.asarray(np.where((wl > 0) & (wr > 0), found, -np.inf))


def _count_gain(left: Matrix, wl: Vector, whole: Matrix, weight: Vector, about: Vector) -> Vector:
    """How far the means of both sides lie from that of the node; a side without counts is barred."""
    k = left.shape[1] // 2
    gap, wr = left[:, :k] - whole[:, :k] * (wl / weight)[:, None], weight - wl
    mean = about + whole[:, :k] / weight[:, None]
    found = wl[:, None] * count_distance(gap / wl[:, None], mean)
    found = found + wr[:, None] * count_distance(-gap / wr[:, None], mean)
    barred = np.minimum(left, whole - left)[:, k:] <= 0
    return np.asarray(np.where(barred.any(axis=1), -np.inf, found.mean(axis=1) / weight))


def _ratio(left: Matrix, wl: Vector, whole: Matrix, weight: Vector, classes: tuple[int, ...]) -> Vector:
    """The information gain of all outputs over the entropy of the sides."""
    share = wl / weight
    sides = -(x_log_x(share) + x_log_x(1.0 - share)) / np.log(2.0)
    return gain(left, wl, whole, weight, "entropy", classes) / sides


def _phi_squared(left: Matrix, wl: Vector, whole: Matrix, weight: Vector, classes: tuple[int, ...]) -> Vector:
    """Pearson's statistic of sides by classes, over the weight; a mean over outputs."""
    wr = weight - wl
    gap = left - whole * (wl / weight)[:, None]
    each = np.where(whole > 0, gap**2 / np.where(whole > 0, whole, 1.0), 0.0).sum(axis=1)
    return np.asarray(each * (1.0 / wl + 1.0 / wr) / len(classes))


HALF_BLUR = 32 * float(np.finfo(float).eps)  # of a sum of shares of rows, which are rounded themselves


def weighted_median(y: Vector, w: Vector) -> float:
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
    Y: NDArray[Any], w: Vector, rows: NDArray[np.int64], start: NDArray[np.int64]
) -> tuple[Vector, Vector]:
    """Return the median and the mean absolute deviation of each node and output."""
    shape = (len(start) - 1, Y.shape[1])
    found, spread = np.empty(shape), np.empty(shape)
    for i in range(len(start) - 1):
        mine = rows[start[i] : start[i + 1]]
        for o in range(Y.shape[1]):
            found[i, o] = weighted_median(Y[mine, o], w[mine])
            spread[i, o] = np.average(np.abs(Y[mine, o] - found[i, o]), weights=w[mine])
    return found, spread


def absolute_gains(Y: NDArray[Any], w: Vector, sides: NDArray[np.bool_]) -> Vector:
    """The fall of the mean absolute deviation by each way to send rows, (m, rows): True goes left."""
    before = np.zeros(len(sides))
    after = np.zeros(len(sides))
    for y in Y.T:
        order = np.argsort(y, kind="stable")
        y, weight, goes = y[order], w[order], sides[:, order]
        before += _deviations(y, weight, np.ones((1, len(y)), dtype=bool))[0]
        after += _deviations(y, weight, goes) + _deviations(y, weight, ~goes)
    return (before - after) / (w.sum() * Y.shape[1])


def _deviations(y: Vector, w: Vector, takes: NDArray[np.bool_]) -> Vector:
    """The weighted deviations from the median of each choice of rows, which are sorted by y."""
    chosen = takes * w
    cumulative = np.cumsum(chosen, axis=1)
    at = np.argmax(cumulative >= cumulative[:, -1:] / 2.0, axis=1)
    return np.asarray((chosen * np.abs(y - y[at][:, None])).sum(axis=1))
