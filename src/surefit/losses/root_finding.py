"""Where an increasing function is zero: Newton's method that cannot leave its bracket."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.losses.arrays import Array

Slope = Callable[[Array], tuple[Array, Array]]
DOUBLINGS = 1100  # beyond this, a float64 step is infinite
ROUNDS = 200
SMALL = 1e-10  # Newton's steps shrink quadratically from here on, until rounding stops them


def increasing_root(function: Slope, start: Array) -> Array:
    """Return the zeros of many increasing functions at once; ``function`` gives values and slopes.

    A step that leaves the bracket, or is more than half of the last but one, is replaced by halving the
    bracket; one that is small and shrinks no more has met rounding, and ends the search.

    >>> increasing_root(lambda x: (x**3 - [1.0, 8.0], 3 * x**2), np.zeros(2))
    array([1., 2.])
    """
    with np.errstate(all="ignore"):
        low, high = _bracket(function, start)
        x, last = np.clip(start, low, high), high - low
        before = 4.0 * last
        done = np.zeros(x.shape, dtype=np.bool_)
        for _ in range(ROUNDS):
            value, slope = function(x)
            low, high = np.where(value < 0, x, low), np.where(value > 0, x, high)
            newton = -value / slope
            shrinks = np.abs(newton) <= before / 2
            done |= (value == 0) | (~shrinks & (np.abs(newton) <= SMALL * (1.0 + np.abs(x))))
            if done.all():
                break
            good = shrinks & (x + newton >= low) & (x + newton <= high)
            step = np.where(done, 0.0, np.where(good, newton, low + (high - low) / 2 - x))
            done |= x + step == x
            x, before, last = x + step, last, np.abs(step)
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
