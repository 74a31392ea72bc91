r"""The best step along a line: where the slope :math:`\phi'(t)` vanishes.

The step is doubled until the slope turns, then the zero of the slope is closed in by the secant through the
ends of the bracket (the Illinois rule keeps both ends moving). A parabola's slope is a line: one secant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LONGER = 2.0
MOST = 60  # evaluations
FLAT = 1e-12  # relative to the first slope
EPS = float(np.finfo(float).eps)


def exact_step(slope_at: Callable[[float], float], slope: float, first: float = 1.0) -> float | None:
    """Return the step at which the slope along the line is zero; None where the function keeps decreasing.

    >>> exact_step(lambda t: 4.0 * t - 12.0, slope=-12.0)
    3.0
    """
    low, low_slope, high = 0.0, slope, first
    for _ in range(MOST):
        high_slope = slope_at(high)
        if np.isfinite(high_slope) and high_slope < 0:
            low, low_slope, high = high, high_slope, LONGER * high
        elif np.isfinite(high_slope):
            return _root(slope_at, (low, low_slope), (high, high_slope), -FLAT * slope)
        else:
            high = 0.5 * (low + high)  # outside the domain
    return None


def _root(
    slope_at: Callable[[float], float], low: tuple[float, float], high: tuple[float, float], flat: float
) -> float:
    (a, below), (b, above) = low, high
    side = 0
    for _ in range(MOST):
        if above <= flat:
            return b
        t = (a * above - b * below) / (above - below)
        if not a < t < b or b - a <= EPS * b:
            break
        found = slope_at(t)
        if abs(found) <= flat:
            return t
        if found < 0:
            a, below, above, side = t, found, above * (0.5 if side < 0 else 1.0), -1
        else:
            b, above, below, side = t, found, below * (0.5 if side > 0 else 1.0), 1
    return a if a > 0 else b
