"""The leaderboard: who can be told apart, which to take, and what its score is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from surefit.core.errors import DataError
from surefit.evaluate.compare.compare import rank
from surefit.evaluate.compare.leaderboard import Comparison
from surefit.evaluate.compare.multiple_testing import adjust_pvalues
from surefit.evaluate.scoring.interval_base import within_range
from surefit.evaluate.search.selection_bias import corrected_by_folds, corrected_by_rows
from surefit.study.race.nested_fold import usual_settings
from surefit.study.race.race import Race, Standing
from surefit.study.record import EntryRecord, ScoreRecord
from surefit.study.table.prepared_rows import RowsInMemory

MOST_ANSWERS = 200_000  # rows times families whose choice is corrected by drawing rows; beyond it, folds


def compared(race: Race, baseline: str) -> Comparison:
    """Test all pairs of families that have a score for every fold, and name the one to take.

    Whether any family beats the baseline is a question of its own, for which the tests against the baseline
    are adjusted for their number alone. If one does, the simplest of those as good as the best is taken.
    """
    left = race.in_it
    if baseline not in left:
        why = race.standings[baseline].failed or "it has no score"
        raise DataError(f"not even the baseline, {baseline}, could be scored: {why}.")
    results = {name: race.result(name) for name in left}
    costs = {name: entry.entrant.candidate.complexity for name, entry in left.items()}
    found = rank(results, level=race.level, complexity=costs)
    skilled = beating(found, baseline)
    if not skilled:
        return replace(found, simplest=baseline)
    alike = [name for name in found.as_good_as_best if name in skilled] or skilled[:1]
    return replace(found, simplest=min(alike, key=costs.__getitem__))


def beating(comparison: Comparison, baseline: str) -> list[str]:
    """The families that are better than the baseline beyond what chance explains, the best first."""
    place = comparison.names.index(baseline)
    better = list(range(place))  # those behind it do not beat it
    others = [k for k in range(len(comparison.names)) if k != place]
    raw = [comparison.tests[min(k, place), max(k, place)].pvalue for k in others]
    adjusted = dict(zip(others, adjust_pvalues(raw, "holm"), strict=True))
    return [comparison.names[k] for k in better if adjusted[k] <= 1 - comparison.level]


def entries(race: Race, comparison: Comparison, baseline: str) -> tuple[EntryRecord, ...]:
    """One line a family, the best first, those without a score last."""
    letters = comparison.letters()
    alike = set(comparison.as_good_as_best)
    if comparison.simplest != baseline:
        alike -= {baseline}
    found = [
        entry_of(
            race,
            name,
            p=None if place == 0 else float(comparison.pvalues[0, place]),
            group=letters[place],
            as_good_as_best=name in alike,
        )
        for place, name in enumerate(comparison.names)
    ]
    rest = [name for name in race.standings if name not in comparison.names]
    return (*found, *(entry_of(race, name) for name in rest))


def entry_of(race: Race, name: str, **more: Any) -> EntryRecord:
    """What is known of one family."""
    standing = race.standings[name]
    candidate = standing.entrant.candidate
    about: dict[str, Any] = {"complexity": candidate.complexity, "rows": _rows(race, standing)}
    if not race.ended(standing):
        return EntryRecord(name, candidate.title, failed=standing.failed or "it did not end in time", **about)
    result = race.result(name)
    metric = next(iter(race.metrics))
    own = result.intervals[metric]
    others = {
        key: (interval.estimate, interval.low, interval.high)
        for key, interval in result.intervals.items()
        if key != metric and np.isfinite(interval.estimate)
    }
    return EntryRecord(
        name,
        candidate.title,
        own.estimate,
        own.low,
        own.high,
        seconds=standing.seconds,
        folds=tuple(result.scores[metric].tolist()),
        others=others,
        settings=usual_settings(standing.entrant, standing.folds),
        **about,
        **more,
    )


def _rows(race: Race, standing: Standing) -> int:
    most = max((train for train, _ in race.sizes), default=0)
    return most if standing.rows is None else min(most, standing.rows)


def honest_score(race: Race, comparison: Comparison, held: RowsInMemory) -> ScoreRecord:
    """The score of the chosen family, allowing for the choice: the best of many scores is too good.

    The optimism is by how much the best score falls when families are chosen on some rows and scored on the
    others. It moves the estimate, and the end of the interval that is worse.
    """
    name, metric = comparison.simplest, comparison.metric
    own = comparison.results[name].intervals[metric]
    sign = 1.0 if comparison.better == "higher" else -1.0
    optimism = max(0.0, sign * _optimism(race, comparison, sign, held))
    scored = race.metrics[metric]
    worst, best = (own.low, own.high) if sign > 0 else (own.high, own.low)
    ends = sorted([worst - sign * optimism, best])
    low, high = within_range(scored, *ends)
    return ScoreRecord(own.estimate - sign * optimism, low, high, optimism, len(comparison.names))


def _optimism(race: Race, comparison: Comparison, sign: float, held: RowsInMemory) -> float:
    if len(comparison.names) < 2:
        return 0.0
    metric, first = race.metrics[comparison.metric], race.first
    answers = _answers(race, comparison, metric)
    if answers is not None and race.rows * len(answers) <= MOST_ANSWERS:
        rows = np.concatenate([test for _, test in first])
        weight = None if held.weight is None else held.weight[rows]
        truth = held.y[rows]
        scores = [float(metric.finish(metric.of(truth, answer, weight))) for answer in answers]
        corrected = corrected_by_rows(metric, truth, answers, weight, level=race.level, draws=200)
        return sign * max(sign * score for score in scores) - corrected.estimate
    table = np.array([comparison.results[name].scores[metric.name] for name in comparison.names])
    found = corrected_by_folds(table, sign, metric.name, level=race.level)
    return sign * float((sign * table.mean(axis=1)).max()) - found.estimate


def _answers(race: Race, comparison: Comparison, metric: Any) -> list[Any] | None:
    found = []
    for name in comparison.names:
        folds = race.standings[name].folds[: len(race.first)]
        method = next((each for each in metric.methods if each in folds[0].answers), None)
        if method is None:
            return None
        found.append(np.concatenate([np.asarray(fold.answers[method]) for fold in folds]))
    return found


def gaps(standings: Mapping[str, Standing]) -> list[str]:
    """Sentences about families that are not compared as all others are."""
    out = [entry.entrant.candidate.title for entry in standings.values() if entry.failed is not None]
    fewer = [
        f"{entry.entrant.candidate.title} from {entry.rows:,}"
        for entry in standings.values()
        if entry.failed is None and entry.rows is not None
    ]
    told = [f"Left out, for the reasons in the leaderboard: {', '.join(out)}."] if out else []
    return [*told, f"Some learnt from fewer rows a fold: {', '.join(fewer)}."] if fewer else told
