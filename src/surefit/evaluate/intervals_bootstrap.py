"""Bootstrap intervals of any score: rows are drawn anew, as weights that count how often each came."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from surefit.core.errors import DataError, SurefitWarning
from surefit.resample.draws import draw_rows
from surefit.resample.streams import seed_of, stream

Vector = NDArray[np.float64]
BLOCKS = 200  # parts of a jackknife: enough for the one number, the skewness, that it is asked for


def bootstrap_scores(
    score: Callable[[Vector], float], rows: int, weight: Vector | None, count: int, random_state: Any
) -> Vector:
    """The score of ``count`` draws of as many rows; ``score`` takes how often each row counts.

    A draw without a value, such as one of a single class, is left out.
    """
    seed = seed_of(random_state)
    size = rows if weight is None else max(1, round(float(weight.sum())))
    found = np.empty(count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefitWarning)
        for task in range(count):
            drawn = draw_rows(rows, size, stream(seed, task), weight)
            found[task] = _value(score, np.bincount(drawn, minlength=rows).astype(np.float64))
    found = found[np.isfinite(found)]
    if len(found) < count / 2:
        raise DataError(
            "most draws of the rows have no score: there are too few rows, or too few of a class."
        )
    return found


def _value(score: Callable[[Vector], float], counts: Vector) -> float:
    try:
        return float(score(counts))
    except DataError:
        return math.nan


def percentile_interval(draws: Vector, level: float) -> tuple[float, float]:
    """The middle part of the draws."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bca_interval(
    draws: Vector, estimate: float, level: float, score: Callable[[Vector], float], weight: Vector
) -> tuple[float, float]:
    """Bias-corrected and accelerated: percentiles moved by the draws' bias and the score's skewness."""
    below = np.count_nonzero(draws < estimate) + np.count_nonzero(draws == estimate) / 2
    share = min(max(float(below / len(draws)), 0.5 / len(draws)), 1 - 0.5 / len(draws))
    bias, skew = float(special.ndtri(share)), _acceleration(score, weight)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        moved = bias + float(special.ndtri(tail))
        ends.append(float(special.ndtr(bias + moved / max(1 - skew * moved, 1e-3))))
    low, high = np.quantile(draws, ends)
    return float(low), float(high)


def _acceleration(score: Callable[[Vector], float], weight: Vector) -> float:
    """A sixth of the skewness of what each row, or each block of many rows, does to the score."""
    rows = len(weight)
    parts = np.array_split(np.random.default_rng(0).permutation(rows), min(rows, BLOCKS))
    values = np.empty(len(parts))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefitWarning)
        for number, part in enumerate(parts):
            without = weight.copy()
            without[part] = 0.0
            values[number] = _value(score, without) if without.any() else math.nan
    values = values[np.isfinite(values)]
    if len(values) < 3:
        return 0.0
    pulls = values.mean() - values
    spread = float(np.sum(pulls**2))
    # Pulls of a block are sums over its rows, whose skewness is that of a row over the root of their number.
    return 0.0 if spread == 0 else float(np.sum(pulls**3)) / (6 * spread**1.5)
