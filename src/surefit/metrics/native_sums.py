"""One native pass over columns of numbers, which finds out on its way whether they are what they must be.

What is not (numbers that are not finite, negative weights, several outputs) has no answer here: the metric
then looks at its rows first, and says which one is wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.native.scores.error_sums import Cost, ErrorSums, error_sums
from surefit.core.native.scores.number_spread import Spread, number_spread
from surefit.core.native.scores.select_rank import absolute_errors

Columns = tuple[Vector, Vector, Vector | None]


def columns_of(y_true: Any, y_pred: Any, sample_weight: Any) -> Columns | None:
    """Truth, prediction and weights as float64 columns of one length; None if they are anything else."""
    truth, guess = _column(y_true), _column(y_pred)
    weight = None if sample_weight is None else _column(sample_weight)
    if truth is None or guess is None or (weight is None) != (sample_weight is None):
        return None
    if not 0 < len(truth) == len(guess) or (weight is not None and len(weight) != len(truth)):
        return None
    return truth, guess, weight


def _column(values: Any) -> Vector | None:
    try:
        column = np.asarray(values)
    except (TypeError, ValueError):
        return None
    return (
        np.ascontiguousarray(column, np.float64) if column.ndim == 1 and column.dtype.kind in "biuf" else None
    )


def sums(
    cost: Cost, columns: Columns | None, *, option: float = 0.0, above: tuple[float, float] | None = None
) -> ErrorSums | None:
    """The sum of a cost; None where rows must be looked at, as when truth or prediction is not ``above``."""
    if columns is None:
        return None
    found = error_sums(cost, *columns, option=option, least=above is not None)
    finite = np.isfinite(found.sum) and np.isfinite(found.weight) and found.least_weight >= 0
    inside = above is None or (found.least_truth > above[0] and found.least_guess > above[1])
    return found if finite and inside else None


def spreads(columns: Columns | None, *, with_errors: bool = False) -> tuple[float, Spread, Spread] | None:
    """The sum of squared errors, and how truth and errors vary; None where rows must be looked at."""
    if columns is None or (columns[2] is not None and not columns[2].min() > 0):
        return None
    found = number_spread(*columns, with_errors=with_errors)
    sizes = found[0], found[1].scatter, found[1].weight, found[2].scatter
    return found if np.isfinite(sizes).all() else None


def errors(columns: Columns | None) -> Vector | None:
    """The size of each error of rows without weights; None where rows must be looked at."""
    if columns is None or columns[2] is not None:
        return None
    found, finite = absolute_errors(columns[0], columns[1])
    return found if finite else None
