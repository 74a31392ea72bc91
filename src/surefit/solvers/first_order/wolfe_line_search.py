r"""A step along a line that meets the strong Wolfe conditions.

For :math:`\phi(t) = f(x + td)` with :math:`\phi'(0) < 0`,

.. math:: \phi(t) \le \phi(0) + c_1 t \phi'(0), \qquad |\phi'(t)| \le c_2 |\phi'(0)| ,

with 0 < c1 < c2 < 1: the function falls enough, and the slope flattens enough. The first bracket is found by
longer and longer steps, then narrowed by the minimiser of the cubic through its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FALLS = 1e-4
FLATTENS = 0.9
LONGER = 4.0
MOST = 20  # evaluations
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class Along:
    """A step, and value and slope of the function there."""

    step: float
    value: float
    slope: float


def strong_wolfe(
    phi: Callable[[float], tuple[float, float]],
    value: float,
    slope: float,
    first: float = 1.0,
    *,
    falls: float = FALLS,
    flattens: float = FLATTENS,
) -> Along | None:
    """Return a step that meets both conditions, or the lowest found that fell enough; None if none did.

    ``phi`` gives value and slope at a step; a value that is not finite counts as too high. Near the minimum,
    where values differ by rounding alone, a slope that shrank is enough.

    >>> found = strong_wolfe(lambda t: ((t - 3.0) ** 2, 2.0 * (t - 3.0)), 9.0, -6.0)
    >>> found.step, found.value
    (1.0, 4.0)
    """
    start = Along(0.0, value, slope)
    slack = 4 * EPS * abs(value)

    def fell(at: Along) -> bool:
        return at.value <= value + falls * at.step * slope + slack

    def flat(at: Along) -> bool:
        return abs(at.slope) <= -flattens * slope

    low, high, step = start, None, first
    for _ in range(MOST):
        at = Along(step, *phi(step))
        if not np.isfinite(at.value) or not fell(at) or at.value > low.value + slack:
            high = at
        elif flat(at):
            return at
        else:  # the minimum lies on the side that the slope points away from
            width = np.inf if high is None else high.step - low.step
            high = low if at.slope * width >= 0 else high
            low = at
        if high is None:
            step *= LONGER
        elif abs(high.step - low.step) <= EPS * max(low.step, high.step):
            break
        else:
            step = _between(low, high)
    return low if low.step > 0 else None


def _between(low: Along, high: Along) -> float:
    """Return the minimiser of the cubic through two steps, kept away from both ends."""
    width = high.step - low.step
    if not (np.isfinite(high.value) and np.isfinite(high.slope)):
        return low.step + 0.1 * width
    mean = low.slope + high.slope - 3.0 * (high.value - low.value) / width
    under = mean * mean - low.slope * high.slope
    root = np.copysign(np.sqrt(max(under, 0.0)), width)
    bottom = high.slope - low.slope + 2.0 * root
    share = 1.0 - (high.slope + root - mean) / bottom if bottom != 0 else 0.5
    return low.step + float(np.clip(share, 0.1, 0.9)) * width
