"""How numbers and the errors in them vary about their means, in one pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled


class Spread(NamedTuple):
    """Weight, mean with the part that rounding left out, sum of squares about it, least and greatest."""

    weight: float
    mean: float
    low: float
    scatter: float
    least: float
    most: float


NONE = Spread(0.0, 0.0, 0.0, 0.0, float("inf"), float("-inf"))


def number_spread(
    truth: Vector,
    guess: Vector,
    weight: Vector | None = None,
    *,
    with_errors: bool = False,
    _threads: int | None = None,
) -> tuple[float, Spread, Spread]:
    """Return the sum of squared errors, and how the truth and, if asked for, the errors vary.

    Weights must be positive.

    >>> number_spread(np.array([1.0, 3.0]), np.array([1.0, 2.0]))[1].scatter
    2.0
    """
    native = compiled()
    if native is None:
        return number_spread_twin(truth, guess, weight, with_errors=with_errors)
    count = threads() if _threads is None else _threads
    squares, varied, errors = native.number_spread(truth, guess, weight, with_errors, count)
    return squares, Spread(*varied), Spread(*errors)


def number_spread_twin(
    truth: Vector, guess: Vector, weight: Vector | None = None, *, with_errors: bool = False
) -> tuple[float, Spread, Spread]:
    """Do the same with temporaries."""
    given = np.ones(len(truth)) if weight is None else weight
    errors = truth - guess

    def spread(values: Vector) -> Spread:
        if len(values) == 0:
            return NONE
        total = float(given.sum())
        mean = float(values @ given) / total
        low = float((values - mean) @ given) / total
        scatter = float((values - mean) ** 2 @ given) - total * low * low
        return Spread(total, mean, low, scatter, float(values.min()), float(values.max()))

    return float(errors**2 @ given), spread(truth), spread(errors) if with_errors else NONE
