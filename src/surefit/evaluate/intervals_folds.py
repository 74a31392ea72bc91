"""An interval from the scores of folds, whose training rows overlap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from surefit.core.errors import DataError
from surefit.evaluate.intervals_base import ScoreInterval, check_level, within_range


def corrected_interval(
    scores: Any, test_share: float, *, level: float = 0.95, metric: Any = None, name: str = "score"
) -> ScoreInterval:
    r"""The corrected resampled t of Nadeau and Bengio: :math:`\bar s \pm t_{J-1} \sqrt{(1/J + q)\, v}`.

    :math:`q` is the number of rows tested over that learnt from, and :math:`v` the variance of the J scores.
    Without :math:`q` it would be far too short, for the models of the folds share most of their rows.

    >>> print(corrected_interval([0.8, 0.9, 0.85, 0.95, 0.75], 1 / 4))
    score 0.85 [0.7028, 0.9972] (95 %, corrected resampled t)
    """
    level = check_level(level)
    values = np.asarray(scores, dtype=np.float64)
    if len(values) < 2:
        raise DataError("one fold has no spread to make an interval of: take at least two.")
    if not np.isfinite(values).all():
        mean = math.nan
        return ScoreInterval(name, mean, mean, mean, level, "undefined in some folds")
    mean = float(values.mean())
    error = math.sqrt((1 / len(values) + test_share) * float(values.var(ddof=1)))
    reach = float(special.stdtrit(len(values) - 1, (1 + level) / 2)) * error
    low, high = within_range(metric, mean - reach, mean + reach)
    return ScoreInterval(name, mean, low, high, level, "corrected resampled t", error)
