"""DeLong's variance of the area under the ROC curve, with ties and weights, in the time of a sort."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.metrics import door
from surefit.metrics.labels import two_labels


class Areas(NamedTuple):
    """The area of each column of scores, and the covariance of the areas."""

    area: Vector
    covariance: Matrix
    positive: float
    negative: float


def delong(y: Any, scores: Any, sample_weight: Any = None) -> Areas:
    r"""Areas of one or several columns of scores of the same rows, and their covariance.

    For a positive row :math:`v_i` is the share of negative ones below it, ties by half, and for a negative
    row :math:`u_j` that of positive ones above it: the covariance is :math:`S_v/m + S_u/n`. Weights count
    repetitions.

    >>> found = delong([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> found.area[0], found.covariance[0, 0]
    (np.float64(0.75), np.float64(0.125))
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    truth = np.asarray(y)
    if len(truth) != len(table):
        raise DataError(f"y has {len(truth)} rows and the scores have {len(table)}; give one score a row.")
    if not np.isfinite(table).all():
        raise DataError("delong: a score is not finite; drop the row or fill it.")
    weight = door.weights(sample_weight, len(truth))
    counted = np.ones(len(truth)) if weight is None else weight
    table, truth, counted = table[counted > 0], truth[counted > 0], counted[counted > 0]
    found = two_labels(truth)
    if found is None or len(found[0]) < 2:
        raise DataError("delong: there must be two classes, each with a row of positive weight.")
    upper = found[1]
    m, n = float(counted[upper].sum()), float(counted[~upper].sum())
    above = np.empty((int(upper.sum()), table.shape[1]))
    below = np.empty((int((~upper).sum()), table.shape[1]))
    for k in range(table.shape[1]):
        above[:, k], below[:, k] = _placements(table[:, k], upper, counted)
    area = counted[upper] @ above / m
    return Areas(area, _spread(above, area, counted[upper]) + _spread(below, area, counted[~upper]), m, n)


def _placements(score: Vector, upper: NDArray[np.bool_], weight: Vector) -> tuple[Vector, Vector]:
    """For each positive row the negative weight below it, for each negative the positive above, as shares."""
    names, place = np.unique(score, return_inverse=True)
    positive = np.bincount(place[upper], weights=weight[upper], minlength=len(names))
    negative = np.bincount(place[~upper], weights=weight[~upper], minlength=len(names))
    lower = np.cumsum(negative) - negative / 2
    higher = np.cumsum(positive[::-1])[::-1] - positive / 2
    return lower[place[upper]] / negative.sum(), higher[place[~upper]] / positive.sum()


def _spread(values: Matrix, mean: Vector, weight: Vector) -> Matrix:
    """The covariance of a mean of rows; NaN for a single one, which has no spread."""
    total = float(weight.sum())
    if total <= 1:
        return np.full((len(mean), len(mean)), math.nan)
    centred = values - mean
    return np.asarray((centred * weight[:, None]).T @ centred / (total - 1) / total)


def auc_interval(y: Any, score: Any, weight: Any, level: float) -> tuple[float, float, float, float, str]:
    """Area, low, high, standard error and method: DeLong's error, on the scale of log-odds.

    Where every pair is in order there is no spread to measure. Then min(m, n) pairs that share no row are all
    in order, which happens with probability A^min(m, n): the areas for which that is not too rare stay in.
    """
    found = delong(y, score, weight)
    area, error = float(found.area[0]), math.sqrt(found.covariance[0, 0])
    pairs = min(found.positive, found.negative)
    if area in (0.0, 1.0) or not error > 0:
        reach = (1 - level) ** (1 / max(pairs, 1.0))
        if area == 1.0:
            return area, reach, 1.0, error, "pairs in order"
        return area, 0.0, (1 - reach if area == 0.0 else 1.0), error, "pairs in order"
    middle, spread = math.log(area / (1 - area)), error / (area * (1 - area))
    reach = float(special.ndtri((1 + level) / 2)) * spread
    return area, float(special.expit(middle - reach)), float(special.expit(middle + reach)), error, "DeLong"
