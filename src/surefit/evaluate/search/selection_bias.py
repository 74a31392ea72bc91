"""What the score of a chosen candidate is worth: the best of many scores is too good, by so much.

Bootstrap bias-corrected cross-validation (Tsamardinos, Greasidou and Borboudakis, 2018): rows are drawn
with replacement from the answers that all candidates gave for rows left out; the candidate that is best
on the rows drawn is scored on the rows not drawn. No model is fitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, NamedTuple

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.errors import ParameterError
from surefit.evaluate.scoring.interval_base import ScoreInterval, check_level
from surefit.metrics.base import Metric

DRAWS = 500
METHOD = "bootstrap bias-corrected cross-validation"
MOST_DRAWN = 5_000_000  # rows in all draws of a metric without a short way
UNITS = 2048  # that are drawn at most: of more rows random groups are drawn, whose sums vary as much
MOST_SCORES = 40_000  # evaluations of a metric without a short way: beyond it, fewer draws


class SearchScore(float):
    """A score that was the best of many, and so is optimistic; ``interval`` corrects it, ``caveat`` says
    it.

    >>> corrected = ScoreInterval("accuracy_score", 0.87, 0.8, 0.92, 0.95, METHOD)
    >>> score = SearchScore(0.9, corrected, "Chosen by it.")
    >>> score, score.interval.estimate
    (0.9, 0.87)
    """

    interval: ScoreInterval | None
    caveat: str

    def __new__(  # noqa: D102 (the class says it)
        cls, value: float, interval: ScoreInterval | None = None, caveat: str = ""
    ) -> SearchScore:
        made = super().__new__(cls, value)
        made.interval = interval
        made.caveat = caveat
        return made

    def parts(self) -> tuple[float, tuple[Any, ...] | None, str]:
        """The score, its interval field by field, and the caveat."""
        return float(self), None if self.interval is None else astuple(self.interval), self.caveat

    @classmethod
    def of_parts(cls, parts: Any) -> SearchScore:
        """Put together what ``parts`` took apart."""
        value, interval, caveat = parts
        return cls(float(value), None if interval is None else ScoreInterval(*interval), str(caveat))

    def __reduce__(self) -> Any:
        return SearchScore, (float(self), self.interval, self.caveat)


def corrected_by_rows(
    metric: Metric,
    truth: Any,
    answers: Sequence[Any],
    weight: Any = None,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    random_state: Any = 0,
) -> ScoreInterval:
    """The score of "take the best of these candidates" on new rows, from their answers for rows left out.

    answers: for each candidate, its answer for each row, all by models that had not seen the row.

    >>> from surefit.metrics import accuracy_score
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=60)
    >>> guesses = [rng.integers(2, size=60) for _ in range(50)]
    >>> best = max(accuracy_score(truth, guess) for guess in guesses)
    >>> round(best, 2), round(corrected_by_rows(accuracy_score, truth, guesses).estimate, 2)
    (0.62, 0.46)
    """
    level = check_level(level)
    truth = np.asarray(truth)
    weights = np.ones(len(truth)) if weight is None else np.asarray(weight, dtype=np.float64)
    rng = np.random.default_rng(random_state)
    sums = _sums(metric, truth, answers, weights, rng)
    if sums is None:
        # Of many rows, few draws agree.
        draws = max(20, min(draws, MOST_SCORES // max(1, len(answers)), MOST_DRAWN // len(truth)))
    units = len(truth) if sums is None else len(sums.weight)
    counts = np.stack([np.bincount(rng.integers(units, size=units), minlength=units) for _ in range(draws)])
    found = (
        _by_sums(metric, sums, counts)
        if sums is not None
        else _by_metric(metric, truth, answers, counts, weights)
    )
    return _interval(found, level, metric.name)


def corrected_by_folds(
    scores: Matrix, sign: float, name: str, *, level: float = 0.95, draws: int = DRAWS, random_state: Any = 0
) -> ScoreInterval:
    """The same from the scores of folds, (candidates, folds), where the answers are not at hand."""
    level = check_level(level)
    folds = scores.shape[1]
    if folds < 2:
        raise ParameterError("the correction needs at least two folds: increase the number of folds.")
    rng = np.random.default_rng(random_state)
    counts = rng.multinomial(folds, np.full(folds, 1.0 / folds), size=draws)
    left = counts == 0
    usable = left.any(axis=1)
    counts, left = counts[usable].astype(float), left[usable].astype(float)
    worst = -np.finfo(np.float64).max / (2 * folds)  # of a candidate that failed; times no fold drawn it is 0
    best = np.argmax(np.where(np.isfinite(scores), sign * scores, worst) @ counts.T, axis=0)
    held_out = (left * scores[best]).sum(axis=1) / left.sum(axis=1)
    return _interval(held_out, level, name)


def _interval(found: Matrix, level: float, name: str) -> ScoreInterval:
    found = found[np.isfinite(found)]
    if len(found) < 2:
        return ScoreInterval(name, np.nan, np.nan, np.nan, level, METHOD)
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return ScoreInterval(
        name, float(found.mean()), float(low), float(high), level, METHOD, float(found.std(ddof=1))
    )


class _Sums(NamedTuple):
    """Weighted sums over each unit that is drawn: losses (units, candidates), and what spreads consist of."""

    losses: Matrix
    weight: Matrix
    truth: Matrix
    squares: Matrix


def _sums(
    metric: Metric, truth: Any, answers: Sequence[Any], weight: Matrix, rng: np.random.Generator
) -> _Sums | None:
    """What rows add to the mean that the metric is made of; of many rows, what random groups of them add."""
    if truth.ndim != 1 or any(np.ndim(answer) != 1 for answer in answers):
        return None
    lost = [metric.row_losses(truth, answer) for answer in answers]
    if any(each is None for each in lost):
        return None
    rows = len(truth)
    unit = rng.permutation(rows) % UNITS if rows > UNITS else None

    def added(values: Any) -> Matrix:
        own: Matrix = weight * values
        return own if unit is None else np.bincount(unit, own, minlength=UNITS).astype(np.float64)

    losses = np.column_stack([added(each) for each in lost])
    centred = np.zeros(rows)
    if metric.mean_form == "explained":
        centred = truth.astype(np.float64) - np.average(truth.astype(np.float64), weights=weight)
    return _Sums(losses, added(1.0), added(centred), added(centred**2))


def _by_sums(metric: Metric, sums: _Sums, counts: Any) -> Matrix:
    """The score, on units not drawn, of the candidate that is best on those drawn."""
    left = (counts == 0).astype(np.float64)
    total = left @ sums.weight
    usable = (counts @ sums.weight > 0) & (total > 0)
    counts, left, total = counts[usable].astype(np.float64), left[usable], total[usable]
    # Every loss here is smaller the better the score, on any rows, so the least loss is the best score.
    best = np.argmin(counts @ sums.losses, axis=1)
    mean = np.take_along_axis(left @ sums.losses, best[:, None], axis=1)[:, 0] / total
    variance = left @ sums.squares / total - (left @ sums.truth / total) ** 2
    return metric.of_mean_loss(mean, variance)


def _by_metric(metric: Metric, truth: Any, answers: Sequence[Any], counts: Any, weight: Any) -> Matrix:
    sign = 1.0 if metric.better == "higher" else -1.0
    found = []
    for drawn in counts:
        inside, outside = np.flatnonzero(drawn * weight), np.flatnonzero((drawn == 0) * weight)
        try:
            scores = [
                sign * metric.finish(metric.of(truth[inside], answer[inside], (drawn * weight)[inside]))
                for answer in answers
            ]
            best = answers[int(np.nanargmax(scores))]
            found.append(float(metric.finish(metric.of(truth[outside], best[outside], weight[outside]))))
        except ValueError:  # a draw without one of the classes has no score
            continue
    return np.array(found)
