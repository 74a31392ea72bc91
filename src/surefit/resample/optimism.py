"""The bootstrap's estimates of error: of rows left out, .632 and .632+."""

from __future__ import annotations

import math

LEFT_OUT = math.exp(-1)  # the share of rows that a bootstrap sample leaves out, in the limit of many


def error_632(train: float, left_out: float) -> float:
    r"""Efron's .632: :math:`e^{-1}\, \text{train} + (1 - e^{-1})\, \text{left out}`.

    The error of the rows left out is pessimistic, since those models see about 63 % of the rows, and the
    training error is optimistic; the error of a model of all rows lies between, unless it overfits.

    >>> round(error_632(0.0, 0.5), 4)
    0.3161
    """
    return LEFT_OUT * train + (1 - LEFT_OUT) * left_out


def error_632_plus(train: float, left_out: float, chance: float) -> float:
    r"""The .632+: the weight of the rows left out grows with the rate of overfitting, up to 1.

    :math:`R = (\text{left out} - \text{train}) / (\text{chance} - \text{train})`, within [0, 1], and the
    weight is :math:`(1 - e^{-1}) / (1 - e^{-1} R)`. chance: the score if truth and prediction were
    independent. It is the same for scores of which more is better.

    >>> round(error_632_plus(0.0, 0.5, 0.5), 4)
    0.5
    """
    sign = 1.0 if chance >= train else -1.0
    gap, most = sign * (left_out - train), sign * (chance - train)
    if gap <= 0 or most <= 0:
        return error_632(train, left_out)
    rate = min(gap / most, 1.0)
    capped = train + sign * min(gap, most)
    weight = (1 - LEFT_OUT) / (1 - LEFT_OUT * rate)
    return (1 - weight) * train + weight * capped
