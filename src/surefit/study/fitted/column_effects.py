"""What the models of the folds make of the table's columns: importance and dependence, with intervals.

Each fold's model is asked about rows that it has not seen, so that columns which a model only remembers earn
nothing, and the spread over folds shows how much hangs on the rows that were learnt from.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.table import Table
from surefit.evaluate.scoring.assess import answering_method
from surefit.evaluate.scoring.corrected_resampled_t import corrected_interval
from surefit.evaluate.scoring.fold import aligned
from surefit.metrics.base import Metric
from surefit.models.prepare.tables.table_preparer import TablePreparer, blocks_of
from surefit.resample.choose import Pair
from surefit.study.race.candidates import Entrant
from surefit.study.race.nested_fold import Work
from surefit.study.record import Cell, DependenceRecord, ImportanceRecord
from surefit.study.table.prepared_rows import RowsInMemory, transformed

MODELS = 5  # of folds that are asked at least, if they do not take long to fit
MOST_COLUMNS = 100  # that are shuffled; of more, those that go along most with the answers
MOST_ROWS = 2000  # of a fold that are asked about
SHUFFLES = 3
DRAWN = 6  # columns whose dependence is worked out
STEPS = 20  # values of a number
LEVELS = 12  # of a category
ASKED = 200  # rows of a fold that are averaged over, at each value
CLASSES = 3  # of more than two, the commonest


@dataclass(frozen=True, slots=True, eq=False)
class FoldModel:
    """A model of one fold, and rows that it has not seen: typed, prepared, and their targets."""

    model: Any
    preparer: TablePreparer
    table: Table
    X: NDArray[np.float64]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None

    @property
    def blocks(self) -> list[NDArray[np.intp]]:
        """The prepared columns that each column of the table became."""
        ends = np.cumsum([0, *blocks_of(self.preparer)])
        return [np.arange(start, end) for start, end in pairwise(ends)]


def fold_models(
    work: Work, entrant: Entrant, pairs: Sequence[Pair], rows: int | None, least: int, deadline: float
) -> list[FoldModel]:
    """Fit the family to folds, to so many at least and then as long as there is time."""
    found: list[FoldModel] = []
    for number, pair in enumerate(pairs):
        if number >= least and time.monotonic() > deadline:
            break
        _, model, (unseen, preparer) = work.fitted(entrant, pair, rows)
        test = pair[1]
        kept = np.arange(len(test))
        if len(test) > MOST_ROWS:
            kept = np.sort(np.random.default_rng(work.seed).choice(len(test), MOST_ROWS, replace=False))
        held, asked = work.held, test[kept]
        weight = None if held.weight is None else held.weight[asked]
        found.append(FoldModel(model, preparer, held.table.take(asked), unseen[kept], held.y[asked], weight))
    return found


def importance(
    models: Sequence[FoldModel],
    metric: Metric,
    held: RowsInMemory,
    share: float,
    level: float,
    deadline: float,
    seed: int = 0,
) -> tuple[ImportanceRecord, ...]:
    """How much worse the score gets when a column of the table is shuffled, the most important first."""
    sign = 1.0 if metric.better == "higher" else -1.0
    chosen = _columns(models, held)
    lost = np.full((len(models), len(chosen)), np.nan)
    for number, one in enumerate(models):
        if number >= MODELS and time.monotonic() > deadline:
            break
        rng = np.random.default_rng([seed, number])
        orders = [rng.permutation(len(one.y)) for _ in range(SHUFFLES)]
        method, blocks = answering_method(one.model, metric), one.blocks

        def score(X: Any, one: FoldModel = one, method: str = method) -> float:
            answer = aligned(one.model, method, X, held.classes)
            return sign * float(metric.finish(metric.of(one.y, answer, one.weight)))

        now, other = score(one.X), one.X.copy()
        for place, column in enumerate(chosen):
            block = blocks[column]
            if len(block) == 0:
                lost[number, place] = 0.0
                continue
            scores = []
            for order in orders:
                other[:, block] = one.X[np.ix_(order, block)]
                scores.append(score(other))
            other[:, block] = one.X[:, block]
            lost[number, place] = now - float(np.mean(scores))
    lost = lost[~np.isnan(lost).any(axis=1)]
    names = [held.table.columns[column].name for column in chosen]
    found = []
    for name, values in zip(names, lost.T, strict=True):
        if len(values) > 1:
            interval = corrected_interval(values, share, level=level)
            found.append(ImportanceRecord(name, interval.estimate, interval.low, interval.high))
    return tuple(sorted(found, key=lambda entry: -entry.mean))


def _columns(models: Sequence[FoldModel], held: RowsInMemory) -> list[int]:
    """The columns to shuffle: all, or those of many that go along most with what a model answers."""
    count = len(held.table.columns)
    if count <= MOST_COLUMNS:
        return list(range(count))
    one = models[0]
    answer = _answers(one.model, one.X, held)[0]
    centred = one.X - one.X.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    along = np.abs((answer - answer.mean()) @ centred) / np.where(spread > 0, spread, np.inf)
    worth = [float(along[block].max(initial=0.0)) for block in one.blocks]
    return sorted(np.argsort(worth)[::-1][:MOST_COLUMNS].tolist())


def _answers(model: Any, X: Any, held: RowsInMemory) -> list[NDArray[np.float64]]:
    """The answers that a dependence is drawn of: the prediction, or probabilities of classes."""
    if held.classes is None:
        return [np.asarray(model.predict(X), dtype=np.float64)]
    if hasattr(model, "predict_proba"):
        shares = aligned(model, "predict_proba", X, held.classes)
    else:
        shares = (np.asarray(model.predict(X))[:, None] == held.classes).astype(np.float64)
    return [shares[:, place] for place in _shown_classes(held)]


def _shown_classes(held: RowsInMemory) -> list[int]:
    assert held.classes is not None
    if len(held.classes) == 2:
        return [1]
    counts = [int((held.y == label).sum()) for label in held.classes]
    return sorted(np.argsort(counts, kind="stable")[::-1][:CLASSES].tolist())


def dependence(
    models: Sequence[FoldModel], held: RowsInMemory, names: Sequence[str], share: float, level: float
) -> tuple[DependenceRecord, ...]:
    """The mean answer over the values of some columns, with the other columns as they are."""
    places = {column.name: k for k, column in enumerate(held.table.columns)}
    labels = [""] if held.classes is None else [str(held.classes[k]) for k in _shown_classes(held)]
    found = []
    for name in names[:DRAWN]:
        stored, grid = _grid(held.table, places[name])
        if len(grid) < 2:
            continue
        means = np.array([_means(one, held, places[name], stored) for one in models])
        for k, label in enumerate(labels):
            ends = [corrected_interval(means[:, k, j], share, level=level) for j in range(len(grid))]
            mean, low, high = (
                tuple(float(getattr(end, part)) for end in ends) for part in ("estimate", "low", "high")
            )
            if held.classes is not None:
                low, high = tuple(max(0.0, v) for v in low), tuple(min(1.0, v) for v in high)
            found.append(DependenceRecord(name, grid, mean, low, high, label))
    return tuple(found)


def _grid(table: Table, place: int) -> tuple[NDArray[Any], tuple[Cell, ...]]:
    """The values of a column, as it is stored and as people read them."""
    column, values = table.columns[place], table.column(place)
    if column.kind == "category":
        assert column.levels is not None
        counts = np.bincount(values[values >= 0], minlength=len(column.levels))
        common = np.sort(np.argsort(-counts, kind="stable")[:LEVELS][: np.count_nonzero(counts)])
        return common.astype(values.dtype), tuple(str(column.levels[code]) for code in common)
    there = values[np.isfinite(values)]
    stored = np.unique(there)
    if len(stored) > STEPS:
        low, high = np.quantile(there, [0.05, 0.95])
        stored = np.linspace(low, high, STEPS) if high > low else np.unique(there)[:STEPS]
    if column.kind == "boolean":
        return stored, tuple("yes" if value else "no" for value in stored)
    if column.kind == "date":
        days = np.round(stored).astype("datetime64[D]")
        return stored, tuple(str(day) for day in days)
    return stored, tuple(float(value) for value in stored)


def _means(one: FoldModel, held: RowsInMemory, place: int, stored: NDArray[Any]) -> list[list[float]]:
    rows = np.arange(min(ASKED, len(one.y)))
    table = one.table.take(np.tile(rows, len(stored)))
    values = [table.column(k) for k in range(len(table.columns))]
    values[place] = np.repeat(stored, len(rows)).astype(values[place].dtype)
    X = transformed(one.preparer, Table.build(table.columns, values, len(rows) * len(stored)))
    return [answer.reshape(len(stored), -1).mean(axis=1).tolist() for answer in _answers(one.model, X, held)]
