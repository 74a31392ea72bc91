"""How far a mean over rows can be from the truth, whatever the distribution: Hoeffding's bound.

It holds for rows drawn independently, a loss between two known numbers, and models chosen without the rows
that they are judged by; for the best of several models the union bound pays for the choice.
"""

from __future__ import annotations

import math

from surefit.core.errors import ParameterError
from surefit.evaluate.scoring.interval_base import ScoreInterval, check_level


def hoeffding_probability(
    rows: float, deviation: float, *, models: int = 1, low: float = 0.0, high: float = 1.0
) -> float:
    r"""Bound the chance that some mean is off by ``deviation`` or more: :math:`2K e^{-2n\epsilon^2/(b-a)^2}`.

    The value is as the formula gives it; above 1 it says nothing.

    >>> round(hoeffding_probability(100, 0.1), 10)
    0.2706705665
    """
    width = _checked(rows=rows, deviation=deviation, models=models, low=low, high=high)
    return 2 * models * math.exp(-2 * rows * (deviation / width) ** 2)


def hoeffding_deviation(
    rows: float, delta: float = 0.05, *, models: int = 1, low: float = 0.0, high: float = 1.0
) -> float:
    r"""How far all means are off at most, but for a chance ``delta``: :math:`(b-a)\sqrt{\ln(2K/\delta)/2n}`.

    >>> round(hoeffding_deviation(1000, 0.05), 8), round(hoeffding_deviation(1000, 0.05, models=100), 8)
    (0.04294694, 0.0643974)
    """
    width = _checked(rows=rows, models=models, delta=delta, low=low, high=high)
    return width * math.sqrt(math.log(2 * models / delta) / (2 * rows))


def hoeffding_rows(
    deviation: float, delta: float = 0.05, *, models: int = 1, low: float = 0.0, high: float = 1.0
) -> int:
    r"""How many rows bring all means within ``deviation``: :math:`(b-a)^2\ln(2K/\delta)/2\epsilon^2`.

    >>> hoeffding_rows(0.05, 0.05)
    738
    """
    width = _checked(deviation=deviation, delta=delta, models=models, low=low, high=high)
    return math.ceil(math.log(2 * models / delta) / 2 * (width / deviation) ** 2)


def hoeffding_interval(
    mean: float, rows: float, *, level: float = 0.95, models: int = 1, low: float = 0.0, high: float = 1.0
) -> ScoreInterval:
    """Return the interval that holds the true mean at a level of confidence, for any distribution.

    >>> print(hoeffding_interval(0.1, 1000))
    mean 0.1 [0.05705, 0.1429] (95 %, Hoeffding)
    """
    reach = hoeffding_deviation(rows, 1 - check_level(level), models=models, low=low, high=high)
    if not low <= mean <= high:
        raise ParameterError(f"mean={mean:g} is not between low={low:g} and high={high:g}.")
    said = "Hoeffding" if models == 1 else f"Hoeffding, for {models} models at once"
    return ScoreInterval("mean", mean, max(low, mean - reach), min(high, mean + reach), level, said)


def _checked(low: float, high: float, **numbers: float) -> float:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError(f"low={low!r} and high={high!r} must be finite, low below high.")
    for name, value in numbers.items():
        if not value > 0 or not math.isfinite(value):
            raise ParameterError(f"{name}={value!r} must be a finite number above 0.")
    delta, models = numbers.get("delta", 0.5), numbers.get("models", 1)
    if delta >= 1:
        raise ParameterError(f"delta={delta!r} must be a chance below 1.")
    if models < 1 or models != int(models):
        raise ParameterError(f"models={models!r} must be a whole number of at least 1.")
    return high - low
