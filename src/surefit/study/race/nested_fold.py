"""One family on one fold: settings are chosen inside its training rows, answers are for rows left out."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.config import config
from surefit.evaluate.rows.source_models import weights_for
from surefit.evaluate.scoring.assess import answering_method
from surefit.evaluate.scoring.fold import Fold, aligned
from surefit.metrics.base import Metric
from surefit.resample.choose import Pair, pairs_of
from surefit.study.race.candidates import Entrant
from surefit.study.table.prepared_rows import RowsInMemory

INNER_FOLDS = 3
NOTES = "notes"  # beside the answers of a fold: its settings, and whether its certificate holds


@dataclass(frozen=True, slots=True)
class Work:
    """What it takes to work on folds; ``metrics``: the first is the one that settings are chosen by."""

    held: RowsInMemory
    metrics: Mapping[str, Metric]
    seed: int = 0

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        return len(self.held)

    def cut(self, folds: int, number: int) -> list[Pair]:
        """Cut the rows into folds, by class where there are classes; another number cuts them anew."""
        y, classes = self.held.y, self.held.classes is not None
        return pairs_of(folds, y, y, classes=classes, random_state=self.seed + number)

    def sizes(self, pair: Pair) -> tuple[int, int]:
        """How many rows a fold learns from, and how many it is tested on."""
        return len(pair[0]), len(pair[1])

    def forget(self) -> None:
        """Let go of rows that were prepared for the folds of one cut."""
        self.held.forget()

    def __call__(self, entrant: Entrant, pair: Pair, rows: int | None, key: Any = None) -> Fold:
        """Fit a family to the training rows, or to so many of them, and score it on the test rows."""
        fold, _, _ = self.fitted(entrant, pair, rows, key)
        return fold

    def fitted(
        self, entrant: Entrant, pair: Pair, rows: int | None, key: Any = None
    ) -> tuple[Fold, Any, tuple[Any, Any]]:
        """The same, with the model, and with the prepared test rows and their preparer."""
        with config(engine="auto"):  # rows in memory stay here, whatever the table is read by
            return self._fitted(entrant, pair, rows, key)

    def _fitted(
        self, entrant: Entrant, pair: Pair, rows: int | None, key: Any
    ) -> tuple[Fold, Any, tuple[Any, Any]]:
        train, test = pair
        if rows is not None and rows < len(train):
            train, key = np.sort(np.random.default_rng(self.seed).permutation(train)[:rows]), None
        X, unseen, preparer = self.held.prepared(entrant.candidate.purpose, train, test, key)
        y = self.held.y[train]
        weight = None if self.held.weight is None else self.held.weight[train]
        began = time.perf_counter()
        model, settings = self.chosen(entrant, X, y, weight)
        between = time.perf_counter()
        answers, scores = self._answers(model, unseen, test)
        certificate = getattr(model, "certificate_", None)
        proved = True if certificate is None else bool(certificate.holds)
        answers[NOTES] = np.array([json.dumps({"settings": settings, "proved": proved})])
        ended = time.perf_counter()
        fold = Fold(scores, {}, answers, between - began, ended - between)
        return fold, model, (unseen, preparer)

    def chosen(self, entrant: Entrant, X: Any, y: Any, weight: Any) -> tuple[Any, dict[str, Any]]:
        """The fitted model, and the settings that did best on folds of the training rows."""
        grid = entrant.grid
        settings = grid[0] if len(grid) == 1 else grid[self._best(entrant, grid, X, y, weight)]
        return self._fit(entrant.model(settings), X, y, weight), settings

    @staticmethod
    def _fit(model: Any, X: Any, y: Any, weight: Any) -> Any:
        return model.fit(X, y, **({} if weight is None else weights_for(model, weight)))

    def _best(self, entrant: Entrant, grid: list[dict[str, Any]], X: Any, y: Any, weight: Any) -> int:
        metric = next(iter(self.metrics.values()))
        sign = 1.0 if metric.better == "higher" else -1.0
        pairs = pairs_of(INNER_FOLDS, y, y, classes=self.held.classes is not None, random_state=self.seed)
        worth = np.zeros(len(grid))
        for train, test in pairs:
            own, other = (None, None) if weight is None else (weight[train], weight[test])
            for k, settings in enumerate(grid):
                model = self._fit(entrant.model(settings), X[train], y[train], own)
                answer = aligned(model, answering_method(model, metric), X[test], self.held.classes)
                worth[k] += sign * float(metric.finish(metric.of(y[test], answer, other)))
        return int(np.argmax(np.where(np.isfinite(worth), worth, -np.inf)))

    def _answers(self, model: Any, unseen: Any, test: Any) -> tuple[dict[str, Any], dict[str, float]]:
        weight = None if self.held.weight is None else self.held.weight[test]
        wanted = {"predict", *(["predict_proba"] if hasattr(model, "predict_proba") else [])}
        methods = {name: method_of(model, metric) for name, metric in self.metrics.items()}
        first = next(iter(self.metrics))
        if methods[first] is None:
            answering_method(model, self.metrics[first])  # which says what is missing
        wanted |= {method for method in methods.values() if method is not None}
        answers = {name: aligned(model, name, unseen, self.held.classes) for name in sorted(wanted)}
        scores = {}
        for name, metric in self.metrics.items():
            method = methods[name]
            scores[name] = np.nan
            if method is not None:
                try:
                    scores[name] = float(metric.finish(metric.of(self.held.y[test], answers[method], weight)))
                except ValueError:  # a score that these rows do not have
                    if name == first:
                        raise
        return answers, scores


def method_of(model: Any, metric: Metric) -> str | None:
    """The method of a model whose answers a metric takes; None where the model has none."""
    return next((method for method in metric.methods if hasattr(model, method)), None)


def notes_of(folds: Sequence[Fold]) -> list[dict[str, Any]]:
    """What each fold noted of its fit: its settings, and whether its certificate holds."""
    return [json.loads(str(fold.answers[NOTES][0])) for fold in folds if NOTES in fold.answers]


def usual_settings(entrant: Entrant, folds: Sequence[Fold]) -> dict[str, Any]:
    """The settings that most folds chose; of equals, the one listed first."""
    grid = entrant.grid
    if len(grid) == 1:
        return grid[0]
    chosen = [note["settings"] for note in notes_of(folds)]
    return max(grid, key=chosen.count)
