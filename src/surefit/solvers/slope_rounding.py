r"""How much of the pull on a column rounding alone can have made, which a proof may take away.

With scores known to :math:`\delta`, slopes are, and a column is pulled wrongly by :math:`\sum_i s_i \delta_i
x_{ij}`. What all rows share of :math:`\delta` pulls each column by its mean, all by the same error; only the
rest, which a column's spread carries, is a column's own. Columns far from zero are therefore no excuse for a
pull on the difference of two of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.stats.duality import Slopes

Array = NDArray[np.float64]

ROUNDING = 16 * np.finfo(float).eps  # relative to the lengths that go into a product

DIGITS = 4 * np.finfo(float).eps  # what coefficients and the scores of a proof round by


def reach_of(packed: Array, at: Slopes) -> float:
    """Return how large the scores of a packed point can be, times the root of the weight."""
    each = np.repeat(at.squares, packed.size // len(at.squares))
    return float(np.abs(np.ravel(packed)) @ np.sqrt(each))


def blur_of(packed: Array, at: Slopes, fit_intercept: bool) -> float:
    """Return the cosine of slopes and columns that the last digits of a packed point make.

    An intercept carries the size of scores; without one, coefficients of columns far from zero do.
    """
    if fit_intercept:
        size = ROUNDING * float(np.max(np.abs(packed[-1]))) * np.sqrt(at.weight)
    else:
        size = DIGITS * reach_of(packed, at)
    return float(size / np.sqrt(max(at.energy, float(np.finfo(float).tiny))))


def noise_of_slopes(at: Slopes, reach: float) -> Array:
    """Return how large a sum of slopes times a column the roundings of its own can make."""
    spread = np.sqrt(np.maximum(at.squares - (at.sums / np.sqrt(at.weight)) ** 2, 0.0))
    with np.errstate(over="ignore"):
        noise = ROUNDING * (np.sqrt(at.squares) * np.sqrt(at.energy) + spread * reach)
    return np.where(np.isfinite(noise), noise, 0.0)  # scores beyond all range excuse nothing


def shared_error(gradient: Array, at: Slopes, reach: float) -> Array:
    """Return the part of a gradient that an error of all scores explains, as far as they round."""
    squares = np.where(at.squares > 0, at.squares, 1.0)
    each = max(float(np.sum(at.sums**2 / squares)), float(np.finfo(float).tiny))
    most = ROUNDING * reach / np.sqrt(at.weight)
    most = most if np.isfinite(most) else 0.0
    return np.multiply.outer(at.sums, np.clip((at.sums / squares) @ gradient / each, -most, most))
