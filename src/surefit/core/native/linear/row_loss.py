"""The losses that per-sample kernels know by number, and what their twins compute of them."""

from __future__ import annotations

import math
from collections.abc import Callable

NAMES = (
    "squared",
    "logistic",
    "hinge",
    "perceptron",
    "squared_hinge",
    "modified_huber",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
    "poisson",
)
Pair = tuple[float, float]  # value and slope by z


def row_loss_twin(name: str, parameter: float) -> Callable[[float, float], Pair]:
    """Return the function of y and z to value and slope; classes are y = -1 and 1.

    >>> row_loss_twin("huber", 1.0)(0.0, 3.0)
    (2.5, 1.0)
    """
    return {
        "squared": _squared,
        "logistic": _logistic,
        "hinge": lambda y, z: _hinge(y, z, 1.0),
        "perceptron": lambda y, z: _hinge(y, z, 0.0),
        "squared_hinge": _squared_hinge,
        "modified_huber": lambda y, z: (-4.0 * y * z, -4.0 * y) if y * z < -1 else _squared_hinge(y, z),
        "huber": lambda y, z: _huber(z - y, parameter),
        "epsilon_insensitive": lambda y, z: _beyond(z - y, parameter),
        "squared_epsilon_insensitive": lambda y, z: _squared_beyond(z - y, parameter),
        "poisson": _poisson,
    }[name]


def _poisson(y: float, z: float) -> Pair:
    mean = math.exp(z) if z < 709.0 else math.inf
    return mean - y * z, mean - y


def _squared(y: float, z: float) -> Pair:
    return 0.5 * (z - y) ** 2, z - y


def _logistic(y: float, z: float) -> Pair:
    m = y * z
    small = math.exp(-abs(m))
    return math.log1p(small) + max(-m, 0.0), -y * (small if m > 0 else 1.0) / (1.0 + small)


def _hinge(y: float, z: float, threshold: float) -> Pair:
    return max(threshold - y * z, 0.0), -y if y * z <= threshold else 0.0


def _squared_hinge(y: float, z: float) -> Pair:
    short = max(1.0 - y * z, 0.0)
    return short**2, -2.0 * y * short


def _huber(r: float, threshold: float) -> Pair:
    inside = abs(r) <= threshold
    value = 0.5 * r**2 if inside else threshold * (abs(r) - 0.5 * threshold)
    return value, min(max(r, -threshold), threshold)


def _beyond(r: float, epsilon: float) -> Pair:
    return max(abs(r) - epsilon, 0.0), math.copysign(1.0, r) if abs(r) > epsilon else 0.0


def _squared_beyond(r: float, epsilon: float) -> Pair:
    value, slope = _beyond(r, epsilon)
    return value**2, 2.0 * slope * value
