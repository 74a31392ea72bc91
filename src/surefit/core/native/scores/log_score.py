"""The logarithmic score of probabilities, with what is wrong with them, in one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled


class LogScore(NamedTuple):
    """The sum of -log of what the true class was given; the first row that holds no probability, -1 without;
    and the row whose sum is farthest from 1, -1 without, with that sum.
    """

    loss: float
    bad: int
    worst: int
    sum: float


def log_score(
    chance: NDArray[Any],
    code: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    step: float,
    *,
    _threads: int | None = None,
) -> LogScore:
    """Score (n, k) probabilities, or (n, 1) of class 1 of two, clipped to [step, 1 - step].

    >>> round(log_score(np.array([[0.5], [0.25]]), np.array([0, 1]), None, 1e-9).loss, 4)
    2.0794
    """
    native = compiled()
    if native is None:
        return log_score_twin(chance, code, weight, step)
    count = threads() if _threads is None else _threads
    weight = None if weight is None else np.ascontiguousarray(weight)
    given = np.ascontiguousarray(chance), np.ascontiguousarray(code, dtype=np.int64)
    return LogScore(*native.log_score(*given, weight, step, count))


def log_score_twin(
    chance: NDArray[Any], code: NDArray[np.int64], weight: NDArray[np.float64] | None, step: float
) -> LogScore:
    """Do the same a column at a time."""
    outside = ~((chance >= 0) & (chance <= 1)).all(axis=1)
    if outside.any():
        return LogScore(0.0, int(np.argmax(outside)), -1, 1.0)
    one = chance.dtype.type(1)
    if chance.shape[1] == 1:
        given, sums = np.where(code == 1, chance[:, 0], one - chance[:, 0]), np.ones(len(code))
    else:
        given, sums = chance[np.arange(len(code)), code], chance.sum(axis=1, dtype=np.float64)
    loss = -np.log(np.clip(given, step, one - one.dtype.type(step)), dtype=np.float64)
    worst = int(np.argmax(np.abs(sums - 1))) if len(sums) else -1
    total = float(loss.sum() if weight is None else loss @ weight)
    return (
        LogScore(total, -1, worst, float(sums[worst]))
        if worst >= 0 and sums[worst] != 1
        else LogScore(total, -1, -1, 1.0)
    )
