"""The leaderboard: every family compared on the same rows, with intervals and what cannot be told apart."""

from __future__ import annotations

from typing import Any

from surefit.plots import plot_scores
from surefit.plots.words import listed, metric_words
from surefit.report.parts import Figure, Marked, beside, figure, interval, rough, settings_words, table
from surefit.study.predictions import Predictions
from surefit.study.record import EntryRecord, Record

TITLE = "The models compared"
MOST_DRAWN = 20


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """A chart of all scores with the leaderboard behind it, and what could not be fitted."""
    scored = [entry for entry in record.leaderboard if entry.score is not None and not entry.failed]
    failed = [(entry.title, entry.failed) for entry in record.leaderboard if entry.failed]
    failed += record.unsuited.items()
    return {
        "figure": _drawn(record, scored) if scored else None,
        "metric": metric_words(record.metric),
        "alike": _alike(record),
        "failed": table("Left out", ["Model", "Why"], failed) if failed else None,
    }


def _alike(record: Record) -> str:
    """The group at the top in words."""
    names = [entry.title for entry in record.leaderboard if entry.as_good_as_best]
    taken = next((entry.title for entry in record.leaderboard if entry.name == record.chosen.name), "")
    if len(names) < 2 or taken not in names:
        return ""
    return f"Cannot be told apart at the top: {listed(names, len(names))}. The simplest of them is {taken}."


def _drawn(record: Record, scored: list[EntryRecord]) -> Figure:
    shown = scored[:MOST_DRAWN]
    last = next((entry for entry in scored[MOST_DRAWN:] if entry.name == record.baseline), None)
    shown += [last] if last else []
    titles = {entry.name: entry.title for entry in shown}
    chart = plot_scores(
        list(titles.values()),
        [(_number(entry.score), _number(entry.low), _number(entry.high)) for entry in shown],
        folds=[[value for value in entry.folds if value == value] for entry in shown],
        groups=[entry.group for entry in shown],
        best=[entry.title for entry in shown if entry.as_good_as_best],
        take=titles.get(record.chosen.name, ""),
        metric=record.metric,
        better=record.better,
        level=record.level,
        width=beside(titles.values()),
    )
    others = sorted({name for entry in scored for name in entry.others})[:4]
    head = ["Model", metric_words(record.metric), f"{100 * record.level:g} %", "Group", "p", "Settings"]
    head += [*map(metric_words, others), "Rows", "Seconds a fit"]
    behind = table("Leaderboard", head, scored, lambda entry: _line(record, entry, others))
    return figure("leaderboard-scores", chart, behind, "wide")


def _line(record: Record, entry: EntryRecord, others: list[str]) -> list[Any]:
    mark = (
        "chosen" if entry.name == record.chosen.name else "baseline" if entry.name == record.baseline else ""
    )
    further = [entry.others[name][0] if name in entry.others else None for name in others]
    return [
        Marked(entry.title, mark) if mark else entry.title,
        entry.score,
        interval(entry.low, entry.high),
        entry.group,
        rough(entry.p),
        settings_words(entry.settings),
        *further,
        entry.rows,
        rough(entry.seconds),
    ]


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
