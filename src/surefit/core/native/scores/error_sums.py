"""Sums over rows of what a prediction costs, in one pass without temporaries."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled

Cost = Literal["squared", "absolute", "relative", "pinball", "squared_log", "poisson", "gamma"]
COSTS: tuple[Cost, ...] = (
    "squared",
    "absolute",
    "relative",
    "pinball",
    "squared_log",
    "poisson",
    "gamma",
)


class ErrorSums(NamedTuple):
    """The weight, the weighted sum, the least weight, truth and prediction, and the greatest cost of a row;
    infinite if not looked for.

    The sum is not finite where a row is not, or where a logarithm is out of range.
    """

    weight: float
    sum: float
    least_weight: float
    least_truth: float
    least_guess: float
    greatest: float


def error_sums(
    cost: Cost,
    truth: Vector,
    guess: Vector,
    weight: Vector | None = None,
    *,
    option: float = 0.0,
    least: bool = False,
    _threads: int | None = None,
) -> ErrorSums:
    """Add up a cost over rows; ``option`` is the quantile of "pinball", and what "squared_log" adds first.

    >>> error_sums("squared", np.array([1.0, 2.0]), np.array([1.0, 4.0]))[:2]
    (2.0, 4.0)
    """
    native = compiled()
    if native is None:
        return error_sums_twin(cost, truth, guess, weight, option=option, least=least)
    count = threads() if _threads is None else _threads
    return ErrorSums(*native.error_sums(COSTS.index(cost), option, truth, guess, weight, least, count))


def error_sums_twin(
    cost: Cost,
    truth: Vector,
    guess: Vector,
    weight: Vector | None = None,
    *,
    option: float = 0.0,
    least: bool = False,
) -> ErrorSums:
    """Do the same with temporaries."""
    apart: Any = truth - guess
    with np.errstate(all="ignore"):
        if cost in ("poisson", "gamma"):
            logs = np.log(np.where(truth == 0, 1.0, truth / guess))
            value = 2 * (truth * logs - apart) if cost == "poisson" else 2 * (apart / guess - logs)
        elif cost == "squared_log":
            value = (np.log(option + truth) - np.log(option + guess)) ** 2
        else:
            value = {
                "squared": lambda: apart**2,
                "absolute": lambda: np.abs(apart),
                "relative": lambda: np.abs(apart) / np.maximum(np.abs(truth), np.finfo(np.float64).eps),
                "pinball": lambda: apart * option + np.maximum(-apart, 0.0),
            }[cost]()
    none = float("inf")
    return ErrorSums(
        float(len(truth) if weight is None else weight.sum()),
        float(value.sum() if weight is None else value @ weight),
        none if weight is None else float(weight.min(initial=none)),
        float(truth.min(initial=none)) if least else none,
        float(guess.min(initial=none)) if least else none,
        float(value.max(initial=-none)) if least else -none,
    )
