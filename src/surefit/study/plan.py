"""How many rows each family may learn from, so that the race ends in time: measured on small samples."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence

import numpy as np

from surefit.core.errors import SurefitWarning
from surefit.study.fold import Work
from surefit.study.race import Standing

FEW_ROWS = 200  # of a table so small nothing is measured: the first folds tell
PROBE_CELLS = 40_000  # of the smaller of two samples, at most
PROBE_SHARE = 16  # and no more than this part of the rows
GROWTH = 4  # rows of the larger over those of the smaller
FEWEST_ROWS = 500  # below it, a family that takes too long is left out


def plan_rows(work: Work, entered: Sequence[Standing], folds: int, seconds: float, jobs: int) -> None:
    """Set how many rows each family learns from, or why it is left out.

    The time of a fit is taken to grow as a power of the rows, which two samples of the table tell. The rest
    of the time is shared equally by the families to come, so that what a quick one leaves is for the slow.
    """
    held = work.held
    rows, columns = held.table.shape
    learnt = rows - rows // folds
    limit(entered, learnt)
    if rows < FEW_ROWS:
        return
    left = seconds * jobs
    small = max(40, min(PROBE_CELLS // columns, rows // PROBE_SHARE))
    order = np.random.default_rng(work.seed).permutation(rows)
    test = order[-(rows // folds) :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefitWarning)
        for place, standing in enumerate(entered):
            if standing.entrant.candidate.complexity == 0:
                continue
            share = left / (len(entered) - place)
            spent = []
            for count in (small, GROWTH * small):
                began = time.monotonic()
                try:
                    work(standing.entrant, (order[:count], test), None)
                except Exception:  # the race will say what is wrong with it
                    break
                spent.append(time.monotonic() - began)
                left -= spent[-1]
            if len(spent) == 2:
                wanted = standing.rows or learnt
                found = affordable(spent, small, wanted, folds, share)
                if found < wanted:
                    standing.rows = found
                if found < min(FEWEST_ROWS, wanted):
                    standing.failed = (
                        f"it would take too long: {GROWTH * small} rows took {spent[1]:.2g} s, and there is "
                        f"time for {found}; give a larger budget"
                    )
                left -= folds * predicted(spent, small, min(found, wanted))


def limit(entered: Sequence[Standing], rows: int, streams: bool = True) -> None:
    """Set how many rows families learn from that declare a limit, or that do not stream where they must."""
    for standing in entered:
        candidate = standing.entrant.candidate
        if streams or not candidate.streams:
            most = rows if candidate.most_rows is None else candidate.most_rows
            if most < rows or not streams:
                standing.rows = min(most, rows)


def predicted(spent: Sequence[float], small: int, rows: int) -> float:
    """The seconds of a fit to so many rows, from those of a small and of a larger sample."""
    return spent[1] * (rows / (GROWTH * small)) ** _power(spent)


def affordable(spent: Sequence[float], small: int, rows: int, folds: int, seconds: float) -> int:
    """How many rows a fit can have when there are so many folds and seconds.

    >>> affordable([1.0, 4.0], 100, 10_000, 5, 40.0)
    800
    """
    if folds * predicted(spent, small, rows) <= seconds:
        return rows
    return int(GROWTH * small * max(0.0, seconds / folds / spent[1]) ** (1 / _power(spent)))


def _power(spent: Sequence[float]) -> float:
    """At least linear: what does not grow with the rows is soon outgrown."""
    return float(np.clip(math.log(max(spent[1], 1e-9) / max(spent[0], 1e-9), GROWTH), 1.0, 3.0))
