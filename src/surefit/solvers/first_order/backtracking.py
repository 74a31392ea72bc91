r"""Armijo's condition, the curvature condition, and the backtracking that looks for a step with the first.

.. math:: f(x + td) \le f(x) + c_1 t \, g'd, \qquad -d'\nabla f(x + td) \le -c_2 \, d'g

With 0 < c1 < c2 < 1 and g'd < 0. Backtracking promises the first condition alone: a direction that is short
is never made longer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.core.errors import RefusalError

FALLS, FLATTENS, SHRINK = 1e-4, 0.9, 0.5
MOST = 200  # halvings: from any step to the smallest that changes a number


def armijo(step: float, value: float, new: float, slope: float, falls: float = FALLS) -> bool:
    """Whether a step meets Armijo's condition of sufficient decrease.

    >>> armijo(1.0, value=0.5, new=0.0, slope=-1.0), armijo(2.0, value=0.5, new=0.5, slope=-1.0)
    (True, False)
    """
    return bool(new <= value + falls * step * slope)


def curvature(slope: float, new_slope: float, flattens: float = FLATTENS) -> bool:
    """Whether a step meets the curvature condition: the slope has fallen to a share of what it was.

    >>> curvature(-1.0, -0.5), curvature(-1.0, -0.95)
    (True, False)
    """
    return bool(-new_slope <= -flattens * slope)


def wolfe(
    step: float,
    value: float,
    new: float,
    slope: float,
    new_slope: float,
    *,
    falls: float = FALLS,
    flattens: float = FLATTENS,
) -> bool:
    """Whether a step meets Armijo's and the curvature condition."""
    return armijo(step, value, new, slope, falls) and curvature(slope, new_slope, flattens)


def backtracking(
    phi: Callable[[float], float],
    value: float,
    slope: float,
    first: float = 1.0,
    *,
    falls: float = FALLS,
    shrink: float = SHRINK,
    test_first: bool = True,
) -> float | None:
    """Return the first of the steps first, first * shrink, ... with Armijo's condition; None if none has it.

    ``phi`` gives the value at a step; one that is not finite counts as too high. ``test_first=False`` shrinks
    before the first test, as "repeat shrink until" reads literally, so that ``first`` itself is never taken.

    >>> backtracking(lambda t: (1 - t) ** 2, value=1.0, slope=-2.0)
    1.0
    >>> backtracking(lambda t: (1 - t) ** 2, value=1.0, slope=-2.0, test_first=False)
    0.5
    """
    if not slope < 0:
        raise RefusalError(
            f"the direction is not a descent direction (its slope is {slope:.3g}): "
            "reverse it, or take minus the gradient."
        )
    step = first if test_first else shrink * first
    for _ in range(MOST):
        new = phi(step)
        if np.isfinite(new) and armijo(step, value, new, slope, falls):
            return step
        step *= shrink
    return None
