"""Where an increasing function is zero: Newton's method that cannot leave its bracket."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.losses.arrays import Array

Slope = Callable[[Array], tuple[Array, Array]]
DOUBLINGS = 1100  # beyond this, a float64 step is infinite
ROUNDS = 200


def increasing_root(function: Slope, start: Array) -> Array:
    """Return the zeros of many increasing functions at once; ``function`` gives values and slopes.

    A step that leaves the bracket, or that shrinks the value too slowly, is replaced by halving.

    >>> increasing_root(lambda x: (x**3 - [1.0, 8.0], 3 * x**2), np.zeros(2))
    array([1., 2.])
    """
    with np.errstate(all="ignore"):
        low, high = _bracket(function, start)
        x = np.clip(start, low, high)
        previous = high - low
        value, slope = function(x)
        for _ in range(ROUNDS):
            low, high = np.where(value < 0, x, low), np.where(value > 0, x, high)
            newton = -value / slope
            good = (np.abs(newton) <= previous / 2) & (x + newton >= low) & (x + newton <= high)
            step = np.where(value == 0, 0.0, np.where(good, newton, low + (high - low) / 2 - x))
            x, previous = x + step, np.abs(step)
            if (np.abs(step) <= 2 * np.finfo(x.dtype).eps * np.abs(x)).all():
                break
            value, slope = function(x)
    return x


def _bracket(function: Slope, start: Array) -> tuple[Array, Array]:
    """Step outwards, twice as far each time, until the values have both signs."""
    low, high = start.copy(), start.copy()
    reach = 1.0
    for _ in range(DOUBLINGS):
        above, below = function(low)[0] > 0, function(high)[0] < 0
        if not (above.any() or below.any()):
            break
        low, high = np.where(above, low - reach, low), np.where(below, high + reach, high)
        reach *= 2.0
    return low, high
