"""``surefit.learn``: from a table to a model that one can trust."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from surefit.core.config import threads
from surefit.core.errors import ParameterError
from surefit.core.public import public
from surefit.evaluate.scoring.interval_base import check_level
from surefit.study.conclusion import Conclusion
from surefit.study.events import Event, Listener, silent
from surefit.study.fitted.result import Study
from surefit.study.fitted.threshold import Costs, check_costs
from surefit.study.race.candidates import Entrant, entrants, unsuited
from surefit.study.race.checkpoint import Unfinished
from surefit.study.race.leaderboard import entry_of
from surefit.study.race.metric_choice import folds_for, metrics_for
from surefit.study.race.nested_fold import Work
from surefit.study.race.race import MOST_REPEATS, FoldWork, Race, Standing, run_race
from surefit.study.race.row_budget import limit, plan_rows
from surefit.study.race.streamed_fold import StreamedWork
from surefit.study.record import EntryRecord
from surefit.study.subject import MOST_CELLS, Subject, look

RACE_SHARE = 0.7  # of the budget; the rest is for the last fit and for asking it questions
STREAMED_FOLDS = 3  # each is read several times


@public
def learn(
    table: Any,
    target: Any,
    *,
    task: str | None = None,
    kinds: Mapping[str, str] | None = None,
    metric: str | None = None,
    budget: float = 60.0,
    seed: int = 0,
    costs: tuple[float, float] | None = None,
    weight: str | None = None,
    level: float = 0.95,
    drop: Sequence[str] = (),
    folder: str | Path | None = None,
    resume: bool = False,
    models: Iterable[str] | None = None,
    folds: int | None = None,
    repeats: int = MOST_REPEATS,
    most_cells: int = MOST_CELLS,
    name: str | None = None,
    command: str = "",
    on_event: Listener = silent,
) -> Study:
    """Read a table as it is, compare the families that suit it, and fit the simplest of the best.

    table: whatever ``surefit.read`` reads. target: the column to predict, or its values. task, kinds:
    overrule what is learnt and what columns are. metric: to choose by; the root mean squared error, the area
    under the ROC curve or the accuracy by default. budget: seconds; more of them cut the folds anew more
    often, which narrows the intervals. costs: of a false positive and a false negative, for the threshold.
    weight: a column that says how often rows count. folder: where the model, the record, the predictions and
    a script go; with resume, a study that was interrupted there goes on. models: names of classes to try.
    folds: ten of few rows and five of many by default; repeats: how often they are cut anew at most.
    most_cells: of a larger table, families that stream learn from all rows and the others from a sample.
    name, command: of the table and of what was run, for the record. on_event: is told of each step.

    >>> import surefit
    >>> from sklearn.datasets import load_diabetes
    >>> table = load_diabetes(as_frame=True).frame
    >>> study = surefit.learn(table, "target", models=["LinearRegression"], folds=5)
    >>> print(study.record.answer[0])
    Linear regression predicts target best of 2 models.
    >>> study.predict(table[:1]).round().tolist(), study.record.chosen.certificate.holds
    ([206.0], True)
    """
    began = time.monotonic()
    level = check_level(level)
    charge = check_costs(costs)
    _check(budget, weight, folds, repeats, folder, resume)
    subject = look(
        table,
        target,
        kinds=kinds,
        task=task,
        weight=weight,
        drop=tuple(drop),
        name=name,
        seed=seed,
        most_cells=most_cells,
        tell=on_event,
    )
    found = _entrants(subject, models, charge)
    metrics = metrics_for(subject.task, subject.held.y, subject.held.classes, metric, found[0].model())
    held = Work(subject.held, metrics, seed)
    work: FoldWork = held
    if subject.streamed:
        work = StreamedWork(subject.source(), subject.decided.labelled, len(subject.held), subject.task, held)
    count = folds or (STREAMED_FOLDS if subject.streamed else folds_for(subject.held.y, subject.task))
    standings = [Standing(entry) for entry in found]
    deadline = began + RACE_SHARE * budget
    jobs = 1 if subject.streamed else threads()
    unfinished = None if folder is None else Unfinished.at(folder, _key(subject, held, count), resume)
    _plan(subject, held, standings, count, deadline, jobs, unfinished)
    race = run_race(
        work,
        standings,
        folds=count,
        deadline=deadline,
        jobs=jobs,
        level=level,
        repeats=repeats,
        stores=None if unfinished is None else unfinished.stores(standings),
        resume=resume,
        tell=_Teller(on_event),
    )
    named = {} if models is not None else unsuited(subject.task, subject.held.y, charge is not None)
    conclusion = Conclusion(subject, race, held, charge, began, float(budget), named)
    study = conclusion.study(command, on_event)
    if folder is not None:
        study.save(folder)
    if unfinished is not None:
        unfinished.clear()
    on_event(Event("done", study.record.answer[0], study.record.leaderboard, study.record))
    return study


def _check(budget: Any, weight: Any, folds: Any, repeats: Any, folder: Any, resume: bool) -> None:
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not budget > 0:
        raise ParameterError(f"budget={budget!r} must be a number of seconds above zero.")
    if weight is not None and not isinstance(weight, str):
        raise ParameterError("weight must be the name of a column of the table.")
    for name, value, least in (("folds", 2 if folds is None else folds, 2), ("repeats", repeats, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(f"{name}={value!r} must be a whole number of at least {least}.")
    if resume and folder is None:
        raise ParameterError("resume=True needs the folder of the study that was interrupted: give folder=.")


def _entrants(subject: Subject, models: Iterable[str] | None, costs: Costs | None) -> list[Entrant]:
    found = entrants(subject.task, subject.held.y, models)
    if costs is None:
        return found
    if subject.held.classes is None or len(subject.held.classes) != 2:
        raise ParameterError(
            "costs of false positives and negatives need a target of two classes: leave them out."
        )
    return [entry for entry in found if hasattr(entry.cls, "predict_proba")]


def _key(subject: Subject, work: Work, folds: int) -> list[Any]:
    """All that decides what the folds of a study hold."""
    decided = subject.decided
    kinds = repr(decided.kinds)
    return [subject.digest, decided.target, decided.weight, kinds, list(work.metrics), work.seed, folds]


def _plan(
    subject: Subject,
    work: Work,
    standings: Sequence[Standing],
    folds: int,
    deadline: float,
    jobs: int,
    unfinished: Unfinished | None,
) -> None:
    """Set how many rows each family learns from, as the study did that was interrupted, or anew."""
    if unfinished is not None and unfinished.planned(standings):
        return
    if subject.streamed:
        limit(standings, len(subject.held), streams=False)
    else:
        plan_rows(work, standings, folds, max(0.0, deadline - time.monotonic()), jobs)
    if unfinished is not None:
        unfinished.keep_plan(standings)


class _Teller:
    """Tells a listener of the leaderboard each time that a family ends a pass; others' lines stay as told."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._race: Race | None = None
        self._lines: dict[str, EntryRecord] = {}

    def __call__(self, race: Race, who: str) -> None:
        """Tell of the families that have ended the pass, or are out."""
        if self._listener is silent:
            return
        if race is not self._race:  # another pass
            self._race, self._lines = race, {}
        for name, standing in race.standings.items():
            if name not in self._lines and (standing.failed or race.ended(standing)):
                self._lines[name] = entry_of(race, name)
        so_far = tuple(self._lines[name] for name in race.standings if name in self._lines)
        self._listener(Event("race", race.standings[who].entrant.candidate.title, so_far))
