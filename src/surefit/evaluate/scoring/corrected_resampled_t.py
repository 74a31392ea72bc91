"""An interval from the scores of folds, whose training rows overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from surefit.core.errors import DataError
from surefit.evaluate.scoring.interval_base import ScoreInterval, check_level, within_range


def corrected_interval(
    scores: Any,
    test_share: float,
    *,
    folds: int | None = None,
    level: float = 0.95,
    metric: Any = None,
    name: str = "score",
) -> ScoreInterval:
    r"""The corrected resampled t of Nadeau and Bengio: :math:`\bar s \pm t_\nu \sqrt{(1/k + q)\, v}`.

    :math:`q` is the number of rows tested over that learnt from, and :math:`v` the variance of the k scores,
    with :math:`\nu = k - 1`. Without :math:`q` it would be far too short, for the models of the folds share
    most of their rows. folds: k, where the scores are of several cuts of the rows into k folds each; by
    default all scores are of one. Cutting anew brings no new rows: the mean is as uncertain as that of one
    cut, and :math:`v` is the mean of the variances within cuts, whose degrees of freedom add up.

    >>> print(corrected_interval([0.8, 0.9, 0.85, 0.95, 0.75], 1 / 4))
    score 0.85 [0.7028, 0.9972] (95 %, corrected resampled t)
    """
    level = check_level(level)
    values = np.asarray(scores, dtype=np.float64)
    if len(values) < 2:
        raise DataError("an interval needs the scores of at least two folds: increase the number of folds.")
    if not np.isfinite(values).all():
        mean = math.nan
        return ScoreInterval(name, mean, mean, mean, level, "undefined in some folds")
    mean = float(values.mean())
    k = len(values) if folds is None else folds
    if k < 2 or len(values) % k:
        raise DataError(
            f"{len(values)} scores are not a whole number of repeats of {k} folds: "
            "give the scores of every fold."
        )
    spread = float(values.reshape(-1, k).var(axis=1, ddof=1).mean())
    error = math.sqrt((1 / k + test_share) * spread)
    reach = float(special.stdtrit(len(values) // k * (k - 1), (1 + level) / 2)) * error
    low, high = within_range(metric, mean - reach, mean + reach)
    return ScoreInterval(name, mean, low, high, level, "corrected resampled t", error)


def folds_of_one_cut(sizes: Sequence[tuple[int, int]]) -> int:
    """How many of the folds cut all rows once; all folds, where no number of them does.

    >>> folds_of_one_cut([(8, 4), (8, 4), (8, 4)] * 2), folds_of_one_cut([(9, 3), (9, 3)])
    (3, 2)
    """
    rows, tested = sum(sizes[0]), [test for _, test in sizes]
    for k in range(2, len(tested) // 2 + 1):
        if len(tested) % k == 0 and all(sum(tested[i : i + k]) == rows for i in range(0, len(tested), k)):
            return k
    return len(tested)
