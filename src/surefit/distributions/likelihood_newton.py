"""Where a smooth function of a few numbers is greatest: Newton's method that always climbs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.core.errors import DataError
from surefit.losses.arrays import Array

ValueAndSlope = Callable[[Array], tuple[float, Array]]
_ROUNDS = 200
_STEP = (
    6e-6  # the cube root of the rounding unit: central differences of the slope lose a third of its digits
)
_FARTHEST = 30.0  # the arguments are logarithms or standardised: beyond this the top lies at infinity


def climb(function: ValueAndSlope, start: Array, what: str) -> Array:
    """Return the argument of the maximum; ``function`` gives value and slope, the curvature is differenced.

    >>> climb(lambda x: (-float(x @ x - x.sum()), 1.0 - 2.0 * x), np.zeros(2), "the value").round(12)
    array([0.5, 0.5])
    """
    x = np.array(start, dtype=np.float64)
    value, slope = function(x)
    for _ in range(_ROUNDS):
        curvature = np.array([_difference(function, x, i) for i in range(len(x))])
        # Flat and rising directions are climbed as if they bent down.
        bend, axes = np.linalg.eigh((curvature + curvature.T) / 2)
        bend = np.maximum(np.abs(bend), 1e-8 * max(1.0, float(np.abs(bend).max())))
        step = axes @ ((axes.T @ slope) / bend)
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        rise, size = float(slope @ step), 1.0
        while True:
            reached, inclined = function(x + size * step)
            # Near the top the value's rounding hides the rise, and a falling slope must tell.
            if reached >= value + 1e-4 * size * rise or (
                rise <= 1e-9 * (1.0 + abs(value)) and abs(float(inclined @ step)) < rise
            ):
                break
            size /= 2.0
            if size < 1e-12:
                return x
        x, value, slope = x + size * step, reached, inclined
        if np.abs(x - start).max() > _FARTHEST:
            raise DataError(f"{what} has no maximum at finite parameters.")
        if float(np.abs(size * step).max()) <= 1e-13 * (1.0 + float(np.abs(x).max())):
            break
    return x


def _difference(function: ValueAndSlope, x: Array, i: int) -> Array:
    h = _STEP * (1.0 + abs(x[i]))
    shift = np.zeros_like(x)
    shift[i] = h
    return np.asarray((function(x + shift)[1] - function(x - shift)[1]) / (2.0 * h))
