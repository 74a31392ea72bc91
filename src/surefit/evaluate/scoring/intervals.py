"""An interval for every score: which kind suits it, chosen and said."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from scipy import special

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError, RefusalError, SurefitWarning
from surefit.core.public import public
from surefit.core.registry import lookup
from surefit.evaluate.scoring.corrected_resampled_t import corrected_interval, folds_of_one_cut
from surefit.evaluate.scoring.delong import auc_interval
from surefit.evaluate.scoring.fold import Fold
from surefit.evaluate.scoring.interval_base import ScoreInterval, check_level, within_range
from surefit.evaluate.scoring.row_means import mean_interval, wilson_interval
from surefit.metrics import door
from surefit.metrics.base import Metric
from surefit.resample.choose import Pair
from surefit.resample.draws import draw_rows
from surefit.resample.streams import seed_of, stream

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
            "most bootstrap samples have no score: there are too few rows, or too few of a class."
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


Method = Literal["auto", "wilson", "delong", "t", "percentile", "bca"]
METHOD_NAMES = ("auto", "wilson", "delong", "t", "percentile", "bca")


@public
def score_interval(
    metric: str | Metric,
    y: Any,
    prediction: Any,
    *,
    sample_weight: Any = None,
    level: float = 0.95,
    method: Method = "auto",
    n_resamples: int = 1000,
    random_state: Any = 0,
) -> ScoreInterval:
    """Score predictions of rows that the model has not seen, with an interval for the score of all such rows.

    method: "wilson" for shares of rows, "delong" for the area under the ROC curve, "t" for means over rows
    (the root of one has the roots of its ends), "bca" or "percentile" bootstrap for any score; "auto" takes
    the first of these that suits. Weights count repetitions, so that the number of rows is their sum.

    >>> import surefit
    >>> print(surefit.score_interval("accuracy_score", [0, 1, 1, 0, 1], [0, 1, 0, 0, 1]))
    accuracy_score 0.8 [0.3755, 0.9638] (95 %, Wilson)
    """
    level = check_level(level)
    if method not in METHOD_NAMES:
        raise ParameterError(f"method={method!r} must be one of {', '.join(METHOD_NAMES)}.")
    made: Any = lookup("metric", metric)() if isinstance(metric, str) else metric
    if made.better is None:
        raise RefusalError(f"{made.name} is a table, not one score: choose a metric that is.")
    truth, weight = np.asarray(y), door.weights(sample_weight, len(y))
    estimate = float(made(truth, prediction, weight))
    for kind in ("wilson", "delong", "t"):
        if method in ("auto", kind):
            found = _KINDS[kind](made, truth, prediction, weight, level, estimate)
            if found is not None:
                return found
            if method == kind:
                raise RefusalError(
                    f"method={kind!r} does not suit {made.name}: choose 'bca', which suits any score."
                )
    plain = "percentile" if method == "percentile" else "bca"
    return _bootstrapped(made, truth, prediction, weight, level, estimate, plain, n_resamples, random_state)


def _wilson(
    metric: Any, y: Any, prediction: Any, weight: Any, level: float, estimate: float
) -> ScoreInterval | None:
    share = metric.share(y, prediction)
    if share is None:
        return None
    counted = np.ones(len(share.hits)) if weight is None else weight
    hits = float(counted[share.rows] @ np.asarray(share.hits, dtype=np.float64)[share.rows])
    total = float(counted[share.rows].sum())
    low, high = wilson_interval(hits, total, level)
    error = math.sqrt(estimate * (1 - estimate) / total) if total > 0 else math.nan
    return ScoreInterval(metric.name, estimate, low, high, level, "Wilson", error)


def _delong(
    metric: Any, y: Any, prediction: Any, weight: Any, level: float, estimate: float
) -> ScoreInterval | None:
    score = None if math.isnan(estimate) else metric.pair_scores(prediction)
    if score is None:
        return None
    _, low, high, error, said = auc_interval(y, score, weight, level)
    return ScoreInterval(metric.name, estimate, low, high, level, said, error)


def _t(
    metric: Any, y: Any, prediction: Any, weight: Any, level: float, estimate: float
) -> ScoreInterval | None:
    values = metric.row_values(y, prediction)
    if values is None:
        return None
    _, low, high, error = mean_interval(values, weight, level)
    if metric.mean_form == "root":
        low, high = math.sqrt(max(low, 0.0)), math.sqrt(high)
        error = error / (2 * estimate) if estimate > 0 else math.nan
    low, high = within_range(metric, low, high)
    return ScoreInterval(metric.name, estimate, low, high, level, "t of a mean", error)


_KINDS = {"wilson": _wilson, "delong": _delong, "t": _t}


def _bootstrapped(
    metric: Any,
    y: Any,
    prediction: Any,
    weight: Any,
    level: float,
    estimate: float,
    kind: str,
    count: int,
    state: Any,
) -> ScoreInterval:
    guess = np.asarray(prediction)

    def score(counts: Any) -> float:
        rows = counts > 0
        return float(metric.finish(metric.of(y[rows], guess[rows], counts[rows])))

    if len(y) < 2:
        raise DataError(f"{metric.name}: a bootstrap interval needs at least two rows.")
    draws = bootstrap_scores(score, len(y), weight, count, state)
    if kind == "bca":
        own = np.ones(len(y)) if weight is None else weight
        low, high = bca_interval(draws, estimate, level, score, own)
    else:
        low, high = percentile_interval(draws, level)
    said = "BCa bootstrap" if kind == "bca" else "percentile bootstrap"
    return ScoreInterval(metric.name, estimate, low, high, level, said, float(draws.std(ddof=1)))


def rows_tested(metric: Any, folds: Sequence[Fold], pairs: Sequence[Pair], y: Any, weight: Any) -> Any:
    """Truth, answers and weights of all test rows, fold after fold, for a metric; None for other scorers."""
    if not isinstance(metric, Metric):
        return None
    method = next((name for name in metric.methods if name in folds[0].answers), None)
    if method is None:
        return None
    rows = np.concatenate([test for _, test in pairs])
    answers = np.concatenate([np.asarray(fold.answers[method]) for fold in folds])
    return np.asarray(y)[rows], answers, None if weight is None else weight[rows]


def fold_interval(
    name: str, metric: Any, folds: Sequence[Fold], sizes: Sequence[tuple[int, int]], tested: Any, level: float
) -> ScoreInterval:
    """The interval of a cross-validated score, from the spread over folds.

    One fold, or folds too small for a score of their own, have none: then it is that of all rows tested.
    """
    values = np.array([fold.scores[name] for fold in folds])
    alone = tested is not None and min(test for _, test in sizes) < 2
    if len(values) > 1 and np.isfinite(values).all() and not alone:
        share = float(np.mean([test / train for train, test in sizes]))
        cut = folds_of_one_cut(sizes[: len(values)])
        return corrected_interval(values, share, folds=cut, level=level, metric=metric, name=name)
    if tested is None:
        nothing = math.nan
        return ScoreInterval(name, float(values.mean()), nothing, nothing, level, "none: too few folds")
    truth, answers, weight = tested
    found = score_interval(metric, truth, answers, sample_weight=weight, level=level)
    return ScoreInterval(name, found.estimate, found.low, found.high, level, found.method, found.error)
