"""Folds of a table that is read in batches: sources to learn from, and sources to score on as they pass."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from surefit.core.errors import ParameterError
from surefit.data.source import Source
from surefit.evaluate.rows.dataset import ReadRows
from surefit.evaluate.rows.source_models import fit_source
from surefit.evaluate.scoring.assess import answering_method, assess
from surefit.evaluate.scoring.fold import Fold, Scorer, filled
from surefit.metrics.base import Metric
from surefit.resample.choose import Pair


def need_own_metrics(metrics: Mapping[str, Scorer]) -> None:
    """Refuse scorers that want all rows at once."""
    if not all(isinstance(metric, Metric) for metric in metrics.values()):
        raise ParameterError(
            "over a table that is read in batches, metrics are surefit's own: name one of them."
        )


def source_fold(
    model: Any,
    metrics: Mapping[str, Scorer],
    train: Source,
    test: Source,
    train_scores: bool = False,
    keep_model: bool = False,
) -> Fold:
    """Fit a copy of the model to one source and score it on the other, batch by batch."""
    began = time.perf_counter()
    fitted = fit_source(clone(model), train)
    between = time.perf_counter()

    def scored(rows: Source) -> dict[str, float]:
        chosen: Any = list(metrics.values())
        found = assess(fitted, rows, metrics=chosen)
        return {name: float(found[metric.name]) for name, metric in metrics.items()}  # type: ignore[union-attr]

    scores = scored(test)
    ended = time.perf_counter()
    learnt = scored(train) if train_scores else {}
    return Fold(scores, learnt, {}, between - began, ended - between, fitted if keep_model else None)


@dataclass(frozen=True, slots=True, eq=False)
class AskedWork:
    """Fits folds of rows that are read in batches, and keeps the answers for the rows tested."""

    model: Any
    metrics: Mapping[str, Any]
    table: ReadRows
    classes: Any

    def __call__(self, pair: Pair) -> Fold:
        """Work on one pair of row numbers."""
        train, test = pair
        table, began = self.table, time.perf_counter()
        fitted = table.fit(self.model, train)
        between = time.perf_counter()
        methods = {name: answering_method(fitted, metric) for name, metric in self.metrics.items()}
        answers = {
            method: filled(table.ask(fitted, test, method), fitted, method, self.classes)
            for method in sorted(set(methods.values()))
        }
        weight = None if table.weight is None else table.weight[test]
        scores = {
            name: float(metric.finish(metric.of(table.y[test], answers[methods[name]], weight)))
            for name, metric in self.metrics.items()
        }
        return Fold(scores, {}, answers, between - began, time.perf_counter() - between)


@dataclass(frozen=True, slots=True, eq=False)
class ReadWork:
    """Fits and scores folds of rows that are read in batches, as ``FoldWork`` does for rows in memory."""

    model: Any
    metrics: Mapping[str, Scorer]
    table: ReadRows
    train_scores: bool = False

    def __post_init__(self) -> None:
        need_own_metrics(self.metrics)

    @property
    def classes(self) -> Any:
        """The labels of all classes; None for numbers."""
        return self.table.source.schema.classes

    @property
    def y(self) -> Any:
        """The target of all rows."""
        return self.table.y

    @property
    def weight(self) -> Any:
        """The weights of all rows, or None."""
        return self.table.weight

    def __call__(self, pair: Pair) -> Fold:
        """Work on one pair of row numbers."""
        train, test = (self.table.part(rows) for rows in pair)
        return source_fold(self.model, self.metrics, train, test, self.train_scores)

    def with_table(self, table: ReadRows) -> ReadWork:
        """The same work on other columns or targets."""
        return replace(self, table=table)
