"""Scores of subsets of columns: a model fitted to each on the same folds, remembered, several at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from surefit.engine.thread_map import in_turn
from surefit.evaluate.cross_validation.cross_validate import jobs_of
from surefit.evaluate.cross_validation.source_folds import ReadWork
from surefit.evaluate.rows.dataset import HeldRows, ReadRows
from surefit.evaluate.scoring.fold import FoldWork, chosen_metrics, classes_of
from surefit.metrics.base import Metric
from surefit.metrics.usual import usual_metric
from surefit.resample.choose import count_rows

Subset = tuple[int, ...]


@dataclass(slots=True, eq=False)
class SubsetScores:
    """The mean score over folds of each subset asked for, so that higher is better.

    X: rows in memory, or those of a table that is read in batches, which hold their target.
    """

    model: Any
    X: Any
    y: Any
    scoring: Any = None
    split: Any = 5
    n_jobs: int | None = None
    random_state: Any = 0
    known: dict[Subset, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        classes = classes_of(self.model, self.y)
        scoring = self.scoring
        if scoring is None:
            scoring = usual_metric("regression" if classes is None else "classification")
        chosen = chosen_metrics(self.model, scoring, classes)
        ((self._name, self._metric),) = chosen.items()
        self._classes = classes
        table = self.X if isinstance(self.X, ReadRows) else HeldRows(self.X, self.y)
        self._pairs = table.pairs(self.split, classes=classes is not None, random_state=self.random_state)
        lower = isinstance(self._metric, Metric) and self._metric.better == "lower"
        self._sign = -1.0 if lower else 1.0

    _name: str = field(init=False)
    _metric: Any = field(init=False)
    _classes: Any = field(init=False)
    _pairs: Any = field(init=False)
    _sign: float = field(init=False)

    def __getitem__(self, subset: Subset) -> float:
        """The score of one subset."""
        if subset not in self.known:
            self.known[subset] = self._score(subset)
        return self.known[subset]

    def of(self, subsets: Iterable[Subset]) -> list[float]:
        """The scores of several, worked out side by side."""
        wanted = [tuple(sorted(subset)) for subset in subsets]
        new = [subset for subset in dict.fromkeys(wanted) if subset not in self.known]
        if new:
            # A table that is read is read by all threads at once.
            jobs = 1 if isinstance(self.X, ReadRows) else min(jobs_of(self.n_jobs), len(new))
            found = in_turn(self._score, new, jobs)
            self.known.update(zip(new, found, strict=True))
        return [self.known[subset] for subset in wanted]

    def _score(self, subset: Subset) -> float:
        metrics = {self._name: self._metric}
        work: FoldWork | ReadWork
        if isinstance(self.X, ReadRows):
            work = ReadWork(self.model, metrics, self.X.with_columns(subset))
        else:
            X = self._columns(subset)
            work = FoldWork(clone(self.model), metrics, X, self.y, classes=self._classes)
        return self._sign * float(np.mean([work(pair).scores[self._name] for pair in self._pairs]))

    def _columns(self, subset: Subset) -> Any:
        if not subset:  # no column: a constant one, so that a model with an intercept predicts a constant
            return np.zeros((count_rows(self.X), 1))
        return _safe_indexing(self.X, np.array(subset), axis=1)
