"""Weighted quantiles: the minimisers of sums of absolute values."""

from __future__ import annotations

import numpy as np

from surefit.losses.arrays import Array


def weighted_quantile(values: Array, weight: Array, level: float) -> float:
    """Return the middle of all q that minimise sum of weight * pinball(values - q) at the level.

    >>> weighted_quantile(np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 2.0]), 0.5)
    3.0
    """
    kept = weight > 0
    order = np.argsort(values[kept], kind="stable")
    values, mass = values[kept][order], np.cumsum(weight[kept][order])
    target = level * mass[-1]
    slack = 4 * np.finfo(np.float64).eps * mass[-1]  # sums of weights that meet the level but for rounding
    first = min(int(np.searchsorted(mass, target - slack)), len(values) - 1)
    last = min(int(np.searchsorted(mass, target + slack, side="right")), len(values) - 1)
    return float(values[first] + (values[last] - values[first]) / 2)
