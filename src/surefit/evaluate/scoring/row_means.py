"""The value of each row, for scores that are means over rows, and the interval of a mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from surefit.metrics.base import Metric
from surefit.metrics.centred import columns
from surefit.metrics.sums import MeanMetric, RowMeanMetric

Vector = NDArray[np.float64]


def row_values(metric: Metric, y: Any, prediction: Any) -> Vector | None:
    """Return the value of each row whose mean is the score (its square, for a root); None for other scores.

    >>> from surefit import metrics
    >>> row_values(metrics.mean_squared_error, [1.0, 2.0], [1.0, 4.0])
    array([0., 4.])
    """
    truth, guess, _ = metric._admit(y, prediction)
    one = truth.ndim == 1 or truth.shape[1] == 1
    if metric.options.get("normalize") is False:
        return None
    if metric.name in ("accuracy_score", "zero_one_loss", "hamming_loss"):
        return np.asarray((truth == guess) == (metric.name == "accuracy_score"), dtype=np.float64)
    if metric.name in ("mean_squared_error", "root_mean_squared_error"):
        plain = isinstance(metric.options["multioutput"], str) and metric.options["multioutput"][0] == "u"
        if not one and (metric.name.startswith("root") or not plain):
            return None
        return np.asarray(np.square(columns(truth) - columns(guess)).mean(axis=0))
    if metric.name == "log_loss":
        tiny = float(np.finfo(guess.dtype).eps)
        given = (
            np.where(truth == 1, guess, 1 - guess) if guess.ndim == 1 else guess[np.arange(len(truth)), truth]
        )
        return np.asarray(-np.log(np.clip(given, tiny, 1 - tiny)), dtype=np.float64)
    if isinstance(metric, RowMeanMetric):
        return np.asarray(metric._value(truth, guess), dtype=np.float64)
    if isinstance(metric, MeanMetric) and one and not metric.name.startswith("d2_"):
        return np.asarray(metric._value(columns(truth), columns(guess))[0])
    return None


def mean_and_error(values: Vector, weight: Vector | None) -> tuple[float, float, float]:
    """The mean, its standard error, and the weight: weights count repetitions."""
    total = float(len(values)) if weight is None else float(weight.sum())
    mean = float(np.average(values, weights=weight))
    squares = float(np.sum(np.square(values - mean) * (1.0 if weight is None else weight)))
    error = math.sqrt(squares / (total - 1) / total) if total > 1 else math.nan
    return mean, error, total


def mean_interval(values: Vector, weight: Vector | None, level: float) -> tuple[float, float, float, float]:
    """Student's t for a mean: mean, low, high, standard error; unbounded for a single row."""
    mean, error, total = mean_and_error(values, weight)
    if math.isnan(error):
        return mean, -math.inf, math.inf, error
    reach = float(special.stdtrit(total - 1, (1 + level) / 2)) * error
    return mean, mean - reach, mean + reach, error


def wilson_interval(hits: float, total: float, level: float = 0.95) -> tuple[float, float]:
    r"""Wilson's interval for a share: all p with :math:`|p - \hat p| \le z \sqrt{p (1 - p) / n}`.

    It never leaves [0, 1], and is not empty where every row is a hit.

    >>> [round(end, 4) for end in wilson_interval(9, 10)]
    [0.5958, 0.9821]
    """
    if total <= 0:
        return 0.0, 1.0
    z = float(special.ndtri((1 + level) / 2))
    share, pull = hits / total, z * z / total
    middle = (share + pull / 2) / (1 + pull)
    reach = z / (1 + pull) * math.sqrt(share * (1 - share) / total + pull / (4 * total))
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    # With all hits or none an end is 1 or 0, which rounding must not miss.
    return 0.0 if hits == 0 else low, 1.0 if hits == total else high
