"""The end of a study: the last fit, the questions put to it, and the record of everything."""

from __future__ import annotations

import platform
import time
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from surefit.core.config import threads
from surefit.core.errors import SurefitWarning
from surefit.evaluate.compare.leaderboard import Comparison
from surefit.evaluate.pipeline import Pipeline, make_pipeline
from surefit.models.prepare.tables.table_preparer import TablePreparer
from surefit.study.events import Event, Listener
from surefit.study.fitted import column_effects
from surefit.study.fitted.answer import answer
from surefit.study.fitted.chosen_model import cell, describe, worst_rows
from surefit.study.fitted.result import SAMPLE, Study
from surefit.study.fitted.script import write_script
from surefit.study.fitted.threshold import Costs, best_threshold
from surefit.study.predictions import Predictions
from surefit.study.race.leaderboard import compared, entries, gaps, honest_score
from surefit.study.race.nested_fold import INNER_FOLDS, Work, notes_of, usual_settings
from surefit.study.race.race import Race, Standing
from surefit.study.record import (
    DependenceRecord,
    EntryRecord,
    Environment,
    FindingRecord,
    ImportanceRecord,
    Record,
    TableRecord,
    ThresholdRecord,
)
from surefit.study.subject import Subject

VERSIONED = ("surefit", "numpy", "scipy", "scikit-learn", "pyarrow")


@dataclass(frozen=True, eq=False)
class Conclusion:
    """What follows from a race about a subject; ``work`` is that of its rows in memory."""

    subject: Subject
    race: Race
    work: Work
    costs: Costs | None
    began: float
    budget: float
    unsuited: dict[str, str]

    @cached_property
    def baseline(self) -> str:
        """The name of the model that all others have to beat."""
        return next(iter(self.race.standings))

    @cached_property
    def comparison(self) -> Comparison:
        """Who can be told from whom."""
        return compared(self.race, self.baseline)

    @cached_property
    def chosen(self) -> Standing:
        """The family to take."""
        return self.race.standings[self.comparison.simplest]

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The parameters of the chosen model."""
        entrant = self.chosen.entrant
        return entrant.parameters(usual_settings(entrant, self.chosen.folds))

    @property
    def fits_whole(self) -> bool:
        """Whether the model is fitted to all rows: of a table that is larger than memory, if it streams."""
        return not self.subject.streamed or self.chosen.entrant.candidate.streams

    def study(self, command: str, tell: Listener) -> Study:
        """Fit the model, ask it questions, and write everything down."""
        leaderboard = entries(self.race, self.comparison, self.baseline)
        which = "all rows" if self.fits_whole else "the sample"
        tell(Event("fit", f"fitting {self.chosen.entrant.candidate.title} to {which}", leaderboard))
        model = self._fitted()
        tell(Event("questions", "asking the models of the folds about the columns", leaderboard))
        predictions = self._predictions()
        record = self._record(command, leaderboard, model, predictions)
        return Study(
            record,
            model,
            self.comparison,
            None if self.subject.streamed else predictions,
            None if self.fits_whole else self.subject.drawn,
        )

    def _fitted(self) -> Pipeline:
        """The last fit: a pipeline from the columns of the table to the answer."""
        entrant = self.chosen.entrant
        preparer = TablePreparer(entrant.candidate.purpose, identifiers="keep")  # which was decided before
        model = make_pipeline(preparer, entrant.cls(**self.settings))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SurefitWarning)  # the record has the certificate and diagnosis
            model.fit(self.subject.source(self.fits_whole))
        return model

    def _record(
        self, command: str, leaderboard: tuple[EntryRecord, ...], model: Pipeline, predictions: Predictions
    ) -> Record:
        """All that was found."""
        subject, decided, held = self.subject, self.subject.decided, self.subject.held
        level, metric = self.race.level, self.comparison.metric
        described = describe(model, self.settings, self._why(), level)
        importance, dependence = self._asked()
        score = honest_score(self.race, self.comparison, held)
        findings = (*subject.findings, *self._unproved())
        told = decided.target, metric, level, leaderboard, described, self.baseline, score, findings
        sampled = len(held) if subject.streamed else None
        return Record(
            table=TableRecord(subject.name, decided.rows, len(decided.columns), subject.digest, sampled),
            target=decided.target,
            task=subject.task,
            task_why=decided.task.why,
            classes=() if held.classes is None else tuple(cell(label) for label in held.classes),
            positive=cell(held.classes[1]) if held.classes is not None and len(held.classes) == 2 else None,
            metric=metric,
            better=self.comparison.better,
            level=level,
            resampling=self._resampling(),
            answer=answer(*told),
            columns=decided.columns,
            audit=findings,
            leaderboard=leaderboard,
            baseline=self.baseline,
            chosen=described,
            importance=importance,
            dependence=dependence,
            threshold=self._threshold(predictions),
            worst=() if subject.streamed else worst_rows(subject, predictions),
            environment=self._environment(command),
            score=score,
            weight=decided.weight,
            unsuited=self.unsuited,
        )

    def _why(self) -> str:
        alike = [name for name in self.comparison.as_good_as_best if name != self.baseline]
        if self.comparison.simplest == self.baseline:
            return "No model is significantly better than the baseline, so the baseline is chosen."
        rows = "" if self.fits_whole else f" It is fitted to a sample of {len(self.subject.held):,} rows."
        if len(alike) == 1:
            return f"It is significantly better than all others.{rows}"
        return (
            f"It is the simplest of {len(alike)} models that do not differ significantly from the best.{rows}"
        )

    def _resampling(self) -> str:
        race = self.race
        folds = len(race.first)
        again = "" if race.repeats == 1 else f", cut {race.repeats} times"
        held = "all rows" if not self.subject.streamed else "all rows, read as they pass"
        told = (
            f"{folds} folds of {held}{again}, the same for all models; settings were chosen inside each "
            f"fold, by {INNER_FOLDS} folds of its training rows; intervals and tests are corrected for folds "
            "that share rows, the tests for the number of pairs, and those against the baseline for theirs."
        )
        return " ".join([told, *gaps(race.standings)])

    def _predictions(self) -> Predictions:
        """The answers of the first pass; of a table that is read as it goes, for rows of the sample."""
        held, folds, pairs = self.subject.held, self.chosen.folds, self.race.first
        if self.subject.streamed:
            pairs = self.work.cut(len(pairs), 0)
            folds = [self.work(self.chosen.entrant, pair, None) for pair in pairs]
        rows = np.concatenate([test for _, test in pairs])
        order = np.argsort(rows, kind="stable")
        number = np.repeat(np.arange(len(pairs)), [len(test) for _, test in pairs])[order]

        def joined(method: str) -> Any:
            return np.concatenate([np.asarray(fold.answers[method]) for fold in folds[: len(pairs)]])[order]

        shares = joined("predict_proba") if "predict_proba" in folds[0].answers else None
        assert held.numbers is not None
        return Predictions(
            held.numbers[rows[order]],
            number,
            held.y[rows[order]],
            joined("predict"),
            shares,
            () if shares is None or held.classes is None else tuple(str(label) for label in held.classes),
            None if held.weight is None else held.weight[rows[order]],
        )

    def _asked(self) -> tuple[tuple[ImportanceRecord, ...], tuple[DependenceRecord, ...]]:
        """Importance and dependence, by models of folds; a baseline does not look at columns."""
        if self.comparison.simplest == self.baseline:
            return (), ()
        held, level = self.subject.held, self.race.level
        end = self.began + self.budget
        now = time.monotonic()
        pairs = self.race.first if not self.subject.streamed else self.work.cut(len(self.race.first), 0)
        quick = column_effects.MODELS * self.chosen.seconds < self.budget / 2
        least = column_effects.MODELS if quick else 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SurefitWarning)
            models = column_effects.fold_models(
                self.work, self.chosen.entrant, pairs, self.chosen.rows, least, now + (end - now) / 3
            )
        share = len(pairs[0][1]) / len(pairs[0][0])
        metric = self.race.metrics[self.comparison.metric]
        found = column_effects.importance(models, metric, held, share, level, end, self.work.seed)
        names = [entry.column for entry in found]
        return found, column_effects.dependence(models, held, names, share, level)

    def _threshold(self, predictions: Predictions) -> ThresholdRecord | None:
        classes = self.subject.held.classes
        if self.costs is None or classes is None:
            return None
        shares = None if predictions.probabilities is None else predictions.probabilities[:, 1]
        return best_threshold(
            classes[1], predictions.truth, shares, predictions.fold, self.costs, predictions.weight
        )

    def _unproved(self) -> tuple[FindingRecord, ...]:
        """Say of which families some fits in the folds did not converge."""
        found = []
        for name, standing in self.race.in_it.items():
            bad = sum(not note["proved"] for note in notes_of(standing.folds))
            if bad and name == self.comparison.simplest:
                found.append(
                    FindingRecord(
                        "folds-not-converged",
                        "warning",
                        f"{bad} of {len(standing.folds)} fits of {standing.entrant.candidate.title} in the "
                        "folds did not converge, so that its scores may be too low.",
                        "Scale the columns, or raise max_iter.",
                        evidence={"fits": float(bad)},
                    )
                )
        return tuple(found)

    def _table(self) -> Any:
        """Where a script finds the rows that the model was fitted to."""
        if not self.fits_whole:
            return SAMPLE
        return self.subject.table if self.subject.is_path and not self.subject.piped else "table.parquet"

    def _environment(self, command: str) -> Environment:
        subject, entrant = self.subject, self.chosen.entrant
        script = write_script(
            name=subject.name,
            table=self._table(),
            kinds=subject.decided.kinds,
            target=subject.decided.target,
            weight=subject.decided.weight,
            purpose=entrant.candidate.purpose,
            cls=entrant.name,
            parameters=self.settings,
        )
        return Environment(
            command=command,
            script=script,
            seed=self.work.seed,
            seconds=time.monotonic() - self.began,
            budget=self.budget,
            versions=dict(_versions()),
            machine=f"{platform.system()} {platform.machine()}, {threads()} threads",
            date=datetime.now(UTC).isoformat(timespec="seconds"),
        )


@cache
def _versions() -> dict[str, str]:
    """The versions of what the numbers depend on, which are those of the process."""
    return {"python": platform.python_version(), **{each: version(each) for each in VERSIONED}}
