"""Turns measurements into a verdict: who is equal in quality, who is the best peer, and the ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles

from benchmarks.runner import Measurement
from benchmarks.task import Quality


@dataclass(frozen=True)
class Row:
    """One contender on one case; ``seconds`` is the median warm call, or the cold one if there is no other.

    ``of_best_peer`` divides it by the fastest peer's of equal quality, ``of_limit`` by the machine's limit.
    """

    contender: str
    ours: bool
    missing: str | None = None
    failed: str | None = None
    calls: int = 0
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    cold: float | None = None
    cold_only: bool = False
    imported: float | None = None
    memory: float | None = None
    quality: float | None = None
    equal: bool = False
    best_peer: bool = False
    of_best_peer: float | None = None
    of_limit: float | None = None


def judge(measurements: Sequence[Measurement], quality: Quality, limit: float | None) -> list[Row]:
    """Return a row for each contender, in the order of the task."""
    rows = [_row(measured, quality) for measured in measurements]
    figures = [row.quality for row in rows if row.quality is not None and not math.isnan(row.quality)]
    best = (min if quality.better == "lower" else max)(figures, default=math.nan)
    rows = [replace(row, equal=_equal(row.quality, best, quality)) for row in rows]
    peers = [row for row in rows if row.equal and not row.ours and row.seconds is not None]
    winner = min(peers, key=lambda row: row.seconds or math.inf, default=None)
    return [_with_ratios(row, winner, limit) for row in rows]


def _row(measured: Measurement, quality: Quality) -> Row:
    row = Row(measured.contender, measured.ours, missing=measured.missing, failed=measured.failed)
    if measured.over or not measured.cold:
        return row
    times = measured.warm or measured.cold
    low, _, high = quantiles(times, n=4, method="inclusive") if len(times) > 1 else times * 3
    worst = max if quality.better == "lower" else min
    unknown = any(math.isnan(figure) for figure in measured.quality)
    return replace(
        row,
        calls=len(times),
        seconds=median(times),
        low=low,
        high=high,
        cold=median(measured.cold),
        cold_only=not measured.warm,
        imported=median(measured.imports),
        memory=median(measured.memory) if measured.memory else None,
        quality=math.nan if unknown else worst(measured.quality),
    )


def _equal(figure: float | None, best: float, quality: Quality) -> bool:
    if figure is None or math.isnan(figure) or math.isnan(best):
        return False
    shortfall = figure - best if quality.better == "lower" else best - figure
    return figure == best or shortfall <= quality.absolute + quality.relative * abs(best)


def _with_ratios(row: Row, winner: Row | None, limit: float | None) -> Row:
    if row.seconds is None:
        return row
    return replace(
        row,
        best_peer=row is winner,
        of_best_peer=row.seconds / winner.seconds if row.equal and winner and winner.seconds else None,
        of_limit=row.seconds / limit if limit else None,
    )
