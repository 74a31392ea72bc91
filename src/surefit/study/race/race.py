"""The race: every family on the same folds, again and again while the time lasts.

The first pass is for all; a family that is not begun when the time is over is left out, and says so. Later
passes count only when every family ended them, so that the folds of all are the same.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from surefit.core.diagnosis import Diagnosis
from surefit.core.errors import SurefitWarning
from surefit.evaluate.cross_validation.cross_validate import in_turn
from surefit.evaluate.cross_validation.fold_store import FoldStore
from surefit.evaluate.cross_validation.result import CrossValidation
from surefit.evaluate.scoring.fold import Fold
from surefit.evaluate.scoring.intervals import fold_interval
from surefit.metrics.base import Metric
from surefit.study.race.candidates import Entrant
from surefit.study.race.nested_fold import NOTES

ALWAYS = 2  # families, the baseline and the simplest, that end the first pass whatever the time
MOST_REPEATS = 10  # of 5 folds: beyond them a repeat narrows an interval by less than half a percent


@dataclass(slots=True)
class Standing:
    """How a family has done so far. rows: it may learn from, None for all; failed: why it is out."""

    entrant: Entrant
    rows: int | None = None
    failed: str | None = None
    folds: list[Fold] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Of one fold."""
        return float(np.mean([f.fit_seconds + f.score_seconds for f in self.folds])) if self.folds else 0.0


class FoldWork(Protocol):
    """What works on folds: of rows in memory, or of a table that is read as it goes."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """By name, the one to choose by first."""

    @property
    def rows(self) -> int:
        """How many rows there are in all."""

    def cut(self, folds: int, number: int) -> Sequence[Any]:
        """Cut the rows into folds; another number cuts them anew."""

    def sizes(self, pair: Any) -> tuple[int, int]:
        """How many rows a fold learns from, and how many it is tested on."""

    def forget(self) -> None:
        """Let go of what was kept for the folds of one cut."""

    def __call__(self, entrant: Entrant, pair: Any, rows: int | None, key: Any = None) -> Fold:
        """Fit a family to so many training rows of a fold, and score it on the test rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """What a race found: the standing of each family by name, and the folds, of ``repeats`` passes."""

    standings: Mapping[str, Standing]
    pairs: Sequence[Any]
    sizes: Sequence[tuple[int, int]]
    metrics: Mapping[str, Metric]
    repeats: int
    rows: int
    level: float

    @property
    def first(self) -> Sequence[Any]:
        """The folds of the first pass, which test each row once and whose answers are kept."""
        return self.pairs[: len(self.pairs) // self.repeats]

    @property
    def in_it(self) -> dict[str, Standing]:
        """The families with a score for every fold."""
        return {name: entry for name, entry in self.standings.items() if self.ended(entry)}

    def ended(self, standing: Standing) -> bool:
        """Whether a family has a score for every fold."""
        return standing.failed is None and len(standing.folds) == len(self.pairs) > 0

    def result(self, name: str) -> CrossValidation:
        """The cross-validation of one family."""
        standing = self.standings[name]
        # Folds of a family that learns from fewer rows share less, so that the sizes of the whole folds, by
        # which the interval is widened, are on the safe side.
        sizes = self.sizes
        intervals = {
            key: fold_interval(key, metric, standing.folds, sizes, None, self.level)
            for key, metric in self.metrics.items()
        }
        nothing: dict[str, float | None] = dict.fromkeys(self.metrics)
        return CrossValidation(
            standing.entrant.model(), self.metrics, standing.folds, intervals, nothing, sizes, Diagnosis(),
            rows=self.rows,
        )  # fmt: skip


def run_race(
    work: FoldWork,
    entered: Sequence[Standing],
    *,
    folds: int,
    deadline: float,
    jobs: int,
    level: float = 0.95,
    repeats: int = MOST_REPEATS,
    stores: Mapping[str, FoldStore] | None = None,
    resume: bool = False,
    tell: Callable[[Race, str], None] = lambda race, name: None,
) -> Race:
    """Run passes of folds until ``deadline`` (of ``time.monotonic``), the simplest family first.

    stores: where finished folds are kept, by family; resume: whether some may be there already. tell: is
    called with the race so far and the name of a family that ended a pass, or is out of it.
    """
    standings = {entry.entrant.name: entry for entry in entered}
    race = Race(standings, [], [], work.metrics, 1, work.rows, level)
    taken = 0.0
    with warnings.catch_warnings():  # around all threads: the filters belong to the process
        warnings.simplefilter("ignore", SurefitWarning)  # a fit that proves nothing is noted, and told of
        run = _Folds(work, stores or {}, resume, deadline, jobs, tell)
        for number in range(repeats):
            if number and time.monotonic() + taken > deadline:
                break
            began = time.monotonic()
            cut = work.cut(folds, number)
            sizes = [work.sizes(pair) for pair in cut]
            next_one = replace(
                race, pairs=[*race.pairs, *cut], sizes=[*race.sizes, *sizes], repeats=number + 1
            )
            if not run.once(next_one, cut, number):
                break
            race, taken = next_one, time.monotonic() - began
            work.forget()
    work.forget()
    for standing in standings.values():
        del standing.folds[len(race.pairs) :]
    return race


@dataclass(frozen=True, slots=True)
class _Folds:
    """Runs every family on the folds of one cut, and keeps what ends in the stores."""

    work: FoldWork
    stores: Mapping[str, FoldStore]
    resume: bool
    deadline: float
    jobs: int
    tell: Callable[[Race, str], None]

    def once(self, race: Race, cut: Sequence[Any], number: int) -> bool:
        """Run one pass; False if the time was over before all had ended it, which the first pass survives."""
        alive = [entry for entry in race.standings.values() if entry.failed is None]
        begun: list[tuple[Standing, int]] = []
        spent: dict[str, float] = {}

        def items() -> Iterator[tuple[Standing, int]]:
            for place, standing in enumerate(alive):
                if time.monotonic() > self.deadline and (number or place >= ALWAYS):
                    return
                for fold in range(len(cut)):
                    if number == 0 and place >= ALWAYS and standing.failed is None:
                        standing.failed = _too_slow(
                            spent.get(standing.entrant.name), len(cut) - fold, self.jobs, self.deadline
                        )
                    begun.append((standing, fold))
                    yield standing, fold

        def one(item: tuple[Standing, int]) -> Fold | Exception:
            standing, fold = item
            return self._one(standing, cut[fold], (number, fold), spent)

        first = next(iter(self.work.metrics))
        for place, found in enumerate(in_turn(one, items(), self.jobs)):
            standing, fold = begun[place]
            if isinstance(found, Exception):
                standing.failed = standing.failed or _words(found)
            elif not np.isfinite(found.scores[first]):
                standing.failed = standing.failed or f"its {first} is undefined in some folds"
            else:
                # Answers take memory, and one for each row is enough.
                kept = found.answers if number == 0 else {NOTES: found.answers[NOTES]}
                standing.folds.append(replace(found, answers=kept))
            if fold == len(cut) - 1:
                self.tell(race, standing.entrant.name)
        for standing in alive[len(begun) // len(cut) :]:
            if number == 0:
                standing.failed = "the time was over before its turn: give a larger budget"
                self.tell(race, standing.entrant.name)
        return number == 0 or len(begun) == len(alive) * len(cut)

    def _one(self, standing: Standing, pair: Any, key: Any, spent: dict[str, float]) -> Fold | Exception:
        """One family on one fold, or why it failed; ``spent`` notes the seconds."""
        if standing.failed is not None:
            return RuntimeError(standing.failed)
        store = self.stores.get(standing.entrant.name)
        done = store.load(pair) if store is not None and self.resume else None
        if done is not None:
            return done
        began = time.monotonic()
        try:
            done = self.work(standing.entrant, pair, standing.rows, key)
        except Exception as error:  # of any model, on any data: it is out, and the others go on
            return error
        spent[standing.entrant.name] = time.monotonic() - began
        if store is not None:
            store.keep(pair, done)
        return done


def _too_slow(spent: float | None, left: int, jobs: int, deadline: float) -> str | None:
    """Why a family is left out whose folds would not end in time."""
    if spent is None or spent * left / jobs <= max(0.0, deadline - time.monotonic()):
        return None
    return f"a fold takes about {spent:.2g} s, too long for the time left: give a larger budget"


def _words(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
