"""Expected values by summation and by double-exponential quadrature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.core.errors import RefusalError
from surefit.distributions.base import Array

_NODES = 401
_WIDTH = 6.1  # exp(pi/2 sinh 6.1) is at the end of the floats
_GONE = 1e-25  # about the probability that is left out of a sum
_TERMS = 2**22


def integrated(distribution: Any, function: Callable[[Array], Any]) -> Any:
    """Return the integral of f p, each side of the median on its own.

    A substitution packs the nodes at both ends of the side, towards infinity at every order of magnitude, so
    that poles at an end and slowly falling tails are met alike.
    """
    low, high = distribution._ends
    middle = distribution.median
    unit = float(distribution.quantile(0.75) - distribution.quantile(0.25))
    t = np.linspace(-_WIDTH, _WIDTH, _NODES)
    total: Any = 0.0
    for end, sign in ((low, -1.0), (high, 1.0)):
        x, weight = _outwards(t, middle, sign * unit) if np.isinf(end) else _between(t, middle, end)
        keep = (x > low) & (x < high) & (weight > 0) & np.isfinite(x)
        with np.errstate(all="ignore"):
            mass = distribution.density(x[keep]) * weight[keep]
            value = np.asarray(function(x[keep]))
            terms = np.where(mass > 0, value * mass, 0.0)
        total = total + terms.sum(axis=-1) * (t[1] - t[0])
    return total


def _outwards(t: Array, middle: float, unit: float) -> tuple[Array, Array]:
    """Return x = middle + unit exp(pi/2 sinh t), and the size of its derivative."""
    with np.errstate(over="ignore"):
        away = unit * np.exp(0.5 * np.pi * np.sinh(t))
        return middle + away, np.abs(away) * 0.5 * np.pi * np.cosh(t)


def _between(t: Array, middle: float, end: float) -> tuple[Array, Array]:
    """Return x between the two, crowded at both and exact near the end; and the size of its derivative."""
    with np.errstate(over="ignore", under="ignore"):
        u = np.pi * np.sinh(t)
        share = 1.0 / (1.0 + np.exp(u))
        slope = abs(end - middle) * share / (1.0 + np.exp(-u)) * np.pi * np.cosh(t)
        return end + (middle - end) * share, slope


def summed(distribution: Any, function: Callable[[Array], Any]) -> Any:
    """Return the sum of f p over all whole numbers, or over those whose probability is worth counting."""
    low, high = distribution._ends
    if high - low >= _TERMS:
        centre = distribution.median
        low, high = (_last(distribution, centre, end, sign) for end, sign in ((low, -1.0), (high, 1.0)))
    if high - low >= 2 * _TERMS:
        raise RefusalError(
            f"{distribution!r} spreads over more than {_TERMS} values, too many to sum: use a sample."
        )
    x = np.arange(low, high + 1.0)
    with np.errstate(all="ignore"):
        p = distribution.density(x)
        return np.where(p > 0, np.asarray(function(x)) * p, 0.0).sum(axis=-1)


def _last(distribution: Any, centre: float, end: float, sign: float) -> float:
    """Return where a tail has become too small to count: the length so far times the probability there."""
    length = 1.0
    while length < 2 * _TERMS and abs(end - centre) > length:
        if length * distribution.density(centre + sign * length) <= _GONE:
            return float(centre + sign * length)
        length *= 2.0
    return float(end) if abs(end - centre) <= length else float(centre + sign * length)
