"""Folds of a table larger than memory: families that stream learn from all rows, others from a sample."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefit.core.config import config
from surefit.data.read import open_stream, table_source
from surefit.data.source import Source, TableSource
from surefit.evaluate.pipeline import make_pipeline
from surefit.evaluate.scoring.assess import assess
from surefit.evaluate.scoring.fold import Fold
from surefit.metrics.base import METHODS, Metric
from surefit.models.prepare.tables.table_preparer import TablePreparer
from surefit.resample.sources import source_folds
from surefit.study.race.candidates import Entrant
from surefit.study.race.nested_fold import NOTES, Work, method_of
from surefit.study.record import Task
from surefit.study.table.prepared_rows import RowsInMemory
from surefit.study.table.stream import sample


@dataclass(frozen=True, slots=True, eq=False)
class StreamedWork:
    """Works on folds that are sources. most: rows that are held in memory; sampled: the work of a sample."""

    source: TableSource
    rows: int
    most: int
    task: Task
    sampled: Work

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Those of the sample."""
        return self.sampled.metrics

    def cut(self, folds: int, number: int) -> Sequence[tuple[Source, Source]]:
        """Folds by row number, in random order."""
        seed = self.sampled.seed + number
        return list(source_folds(self.source, folds, shuffle=True, random_state=seed))

    def sizes(self, pair: tuple[Source, Source]) -> tuple[int, int]:
        """By the rule of the folds, as if no row lacked a target."""
        tested = [half.stream.rule.kept_before(self.rows) for half in pair]  # type: ignore[attr-defined]
        return tested[0], tested[1]

    def forget(self) -> None:
        """Nothing is kept."""

    def __call__(
        self, entrant: Entrant, pair: tuple[Source, Source], rows: int | None, key: Any = None
    ) -> Fold:
        """Fit to all training rows, or to a sample in memory, and score on all test rows as they pass."""
        train, test = pair
        began = time.perf_counter()
        if entrant.candidate.streams:
            settings: dict[str, Any] = entrant.grid[0]
            preparer = TablePreparer(entrant.candidate.purpose, identifiers="keep")
            model = make_pipeline(preparer, entrant.model(settings)).fit(train)
        else:
            with config(engine="auto"):  # rows in memory stay here, whatever the table is read by
                model, settings = self._of_sample(entrant, train, min(self.most, rows or self.most))
        fitted = time.perf_counter()
        told = [metric for metric in self.metrics.values() if _scored(model, metric)]
        found = assess(model, test, metrics=told)
        scores = {name: float(found.get(metric.name, np.nan)) for name, metric in self.metrics.items()}
        proved = bool(model[-1].certificate_.holds)
        notes = {NOTES: np.array([json.dumps({"settings": settings, "proved": proved})])}
        return Fold(scores, {}, notes, fitted - began, time.perf_counter() - fitted)

    def _of_sample(self, entrant: Entrant, train: Any, rows: int) -> tuple[Any, dict[str, Any]]:
        drawn = open_stream(sample(train.stream, rows, self.sampled.seed))
        names = [column.name for column in train.schema.columns]
        held = RowsInMemory.of(table_source(drawn, train.target.name, train.weight, names), self.task)  # type: ignore[arg-type]
        every = np.arange(len(held))
        work = replace(self.sampled, held=held)
        X, _, preparer = held.prepared(entrant.candidate.purpose, every, every[:1])
        model, settings = work.chosen(entrant, X, held.y, held.weight)
        return make_pipeline(preparer, model), settings


def _scored(model: Any, metric: Metric) -> bool:
    """Whether a metric is measured as rows pass; calibration, which wants answers of its own, is not."""
    return metric.methods == METHODS[metric.task] and method_of(model, metric) is not None
