"""How many rows each family may learn from, so that the race ends in time: measured on small samples."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import SurefitWarning
from surefit.evaluate.cross_validation.cross_validate import in_turn
from surefit.study.race.nested_fold import Work
from surefit.study.race.race import Standing

FEW_ROWS = 5000  # of a table so small nothing is measured: the first folds tell
PROBE_CELLS = 40_000  # of the smaller of two samples, at most
PROBE_SHARE = 16  # and no more than this part of the rows
WARM_UP = 40  # rows of a fit that is not timed
GROWTH = 4  # rows of the larger over those of the smaller
STEEP = 1.5  # the power of the rows that a fit may take, for all that one sample tells
FEWEST_ROWS = 500  # below it, a family that takes too long is left out


def plan_rows(work: Work, entered: Sequence[Standing], folds: int, seconds: float, jobs: int) -> None:
    """Set how many rows each family learns from, or why it is left out.

    The time of a fit is taken to grow as a power of the rows, which two samples of the table tell. From
    the quickest on, what is left of the time is shared equally: what a quick one leaves is for the slow.
    """
    held = work.held
    rows, columns = held.table.shape
    learnt = rows - rows // folds
    limit(entered, learnt)
    if rows < FEW_ROWS:
        return
    small = max(WARM_UP, min(PROBE_CELLS // columns, rows // PROBE_SHARE))
    order = np.random.default_rng(work.seed).permutation(rows)
    tried = [entry for entry in entered if entry.entrant.candidate.complexity > 0]
    probe = partial(_probed, work, order, small, learnt, seconds * jobs / max(1, len(tried)) / folds)
    began = time.monotonic()
    with warnings.catch_warnings():  # around all threads: the filters belong to the process
        warnings.simplefilter("ignore", SurefitWarning)
        found = list(in_turn(probe, tried, min(jobs, len(tried)) or 1))
    work.forget()
    left = max(0.0, seconds - (time.monotonic() - began)) * jobs
    timed = [(entry, spent) for entry, spent in zip(tried, found, strict=True) if spent]
    timed.sort(key=lambda each: predicted(each[1], small, each[0].rows or learnt))
    for place, (standing, spent) in enumerate(timed):
        wanted = standing.rows or learnt
        most = affordable(spent, small, wanted, folds, left / (len(timed) - place))
        if most < min(FEWEST_ROWS, wanted):
            took = f"{spent[-1]:.2g} s for {small * GROWTH ** (len(spent) - 1)} rows"
            standing.failed = f"it would take too long, {took}: give a larger budget"
            continue
        if most < wanted:
            standing.rows = most
        left -= folds * predicted(spent, small, min(most, wanted))


def _probed(
    work: Work, order: NDArray[Any], small: int, learnt: int, share: float, standing: Standing
) -> list[float]:
    """The seconds of a fit to a small sample, and to a larger one where that tells more.

    It does not if all rows can be had anyway, or if the small one takes all of the share. The first fit of a
    family loads what it needs, and does not count.
    """
    spent: list[float] = []
    for count in (WARM_UP, small, GROWTH * small):
        began = time.monotonic()
        try:
            work(standing.entrant, (order[:count], order[-small:]), None, ("probe", count))
        except Exception:  # the race will say what is wrong with it
            return []
        spent.append(time.monotonic() - began)
        fits = predicted(spent[1:], small, standing.rows or learnt) <= share if spent[1:] else False
        if fits or (spent[1:] and spent[1] > share):
            break
    return spent[1:]


def limit(entered: Sequence[Standing], rows: int, streams: bool = True) -> None:
    """Set how many rows families learn from that declare a limit, or that do not stream where they must."""
    for standing in entered:
        candidate = standing.entrant.candidate
        if streams or not candidate.streams:
            most = rows if candidate.most_rows is None else candidate.most_rows
            if most < rows or not streams:
                standing.rows = min(most, rows)


def predicted(spent: Sequence[float], small: int, rows: int) -> float:
    """The seconds of a fit to so many rows, from those of a small and perhaps of a larger sample."""
    known, power = small * GROWTH ** (len(spent) - 1), _power(spent)
    return float(spent[-1] * (rows / known) ** power)


def affordable(spent: Sequence[float], small: int, rows: int, folds: int, seconds: float) -> int:
    """How many rows a fit can have when there are so many folds and seconds.

    >>> affordable([1.0, 4.0], 100, 10_000, 5, 40.0)
    800
    """
    if folds * predicted(spent, small, rows) <= seconds:
        return rows
    known, power = small * GROWTH ** (len(spent) - 1), _power(spent)
    return int(known * max(0.0, seconds / folds / spent[-1]) ** (1 / power))


def _power(spent: Sequence[float]) -> float:
    """At least linear: what does not grow with the rows is soon outgrown."""
    if len(spent) == 1:
        return STEEP
    return float(np.clip(math.log(max(spent[1], 1e-9) / max(spent[0], 1e-9), GROWTH), 1.0, 3.0))
