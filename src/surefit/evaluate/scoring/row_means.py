"""Means over rows: their standard error, Student's interval, and Wilson's for shares."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from surefit.core.arrays import Vector


def mean_and_error(values: Vector, weight: Vector | None) -> tuple[float, float, float]:
    """The mean, its standard error, and the weight: weights count repetitions."""
    total = float(len(values)) if weight is None else float(weight.sum())
    mean = float(np.average(values, weights=weight))
    squares = float(np.sum(np.square(values - mean) * (1.0 if weight is None else weight)))
    error = math.sqrt(squares / (total - 1) / total) if total > 1 else math.nan
    return mean, error, total


def mean_interval(values: Vector, weight: Vector | None, level: float) -> tuple[float, float, float, float]:
    """Student's t for a mean: mean, low, high, standard error; unbounded for a single row."""
    mean, error, total = mean_and_error(values, weight)
    if math.isnan(error):
        return mean, -math.inf, math.inf, error
    reach = float(special.stdtrit(total - 1, (1 + level) / 2)) * error
    return mean, mean - reach, mean + reach, error


def wilson_interval(hits: float, total: float, level: float = 0.95) -> tuple[float, float]:
    r"""Wilson's interval for a share: all p with :math:`|p - \hat p| \le z \sqrt{p (1 - p) / n}`.

    It never leaves [0, 1], and is not empty where every row is a hit.

    >>> [round(end, 4) for end in wilson_interval(9, 10)]
    [0.5958, 0.9821]
    """
    if total <= 0:
        return 0.0, 1.0
    z = float(special.ndtri((1 + level) / 2))
    share, pull = hits / total, z * z / total
    middle = (share + pull / 2) / (1 + pull)
    reach = z / (1 + pull) * math.sqrt(share * (1 - share) / total + pull / (4 * total))
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    # With all hits or none an end is 1 or 0, which rounding must not miss.
    return 0.0 if hits == 0 else low, 1.0 if hits == total else high
