"""Shuffled targets and their folds, learnt together by a model that takes many targets at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefit.core.blas_threads import one_blas_thread
from surefit.core.progress import progress
from surefit.engine.in_turn import in_turn
from surefit.evaluate.assess import answering_method
from surefit.evaluate.cross_validate_folds import FoldWork
from surefit.evaluate.rows import HeldRows
from surefit.metrics.base import Metric
from surefit.resample.choose import Pair

CELLS = 2**16  # rows times targets that are learnt together: about what stays near a core
TARGETS = 8  # that are learnt together at least
LARGEST = 50_000  # rows; of more, a fit spends its time in kernels, and they are as fast


class Task(NamedTuple):
    """A fold of a draw."""

    draw: int
    order: NDArray[np.intp]
    train: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class TasksAtOnce:
    """Scores folds of shuffled targets, a batch of them at a time."""

    model: Any
    learner: Any
    name: str
    scorer: Metric
    table: HeldRows
    classes: Any

    @classmethod
    def of(cls, model: Any, name: str, scorer: Any, table: Any, classes: Any) -> TasksAtOnce | None:
        """Prepare the model; None where it, or the metric, wants one fit after the other."""
        prepare = getattr(type(model), "_targets_at_once", None)
        if prepare is None or not isinstance(table, HeldRows) or not isinstance(scorer, Metric):
            return None
        if table.count > LARGEST:
            return None
        with one_blas_thread():
            learner = prepare(model, table.X, table.y, table.weight)
        return None if learner is None else cls(model, learner, name, scorer, table, classes)

    def scores(self, orders: Sequence[Any], pairs_of: Callable[[HeldRows], list[Pair]], jobs: int) -> Any:
        """The mean score over the folds of each draw."""
        size = max(TARGETS, CELLS // self.table.count)
        found: list[list[float]] = [[] for _ in orders]
        with one_blas_thread(), progress("permutation test", total=len(orders)) as bar:
            done = 0
            for batch in in_turn(self, _batches(self._tasks(orders, pairs_of), size), jobs):
                for draw, score in batch:
                    found[draw].append(score)
                bar.advance(batch[-1][0] - done)
                done = batch[-1][0]
            bar.advance(len(orders) - done)
        return np.array([np.mean(folds) for folds in found])

    def _tasks(self, orders: Sequence[Any], pairs_of: Callable[[HeldRows], list[Pair]]) -> Iterator[Task]:
        for draw, order in enumerate(orders):
            shuffled = HeldRows(self.table.X, self.table.y[order], self.table.weight)
            for train, test in pairs_of(shuffled):
                yield Task(draw, order, train, test)

    def __call__(self, tasks: Sequence[Task]) -> list[tuple[int, float]]:
        """Learn some of them together; what is not proved then is learnt alone."""
        count, own = self.table.count, self.table.weight
        targets = np.stack([self.learner.codes[task.order] == 1 for task in tasks])
        weights = np.stack([np.bincount(task.train, minlength=count) for task in tasks]).astype(np.float64)
        if own is not None:
            weights *= own
        scores, proved = self.learner(targets, weights)
        return [
            (task.draw, self._score(task, row) if holds else self._alone(task))
            for task, row, holds in zip(tasks, scores, proved, strict=True)
        ]

    def _score(self, task: Task, scores: Any) -> float:
        test = task.test
        answer = self.learner.answer(scores[test], answering_method(self.model, self.scorer))
        weight = None if self.table.weight is None else self.table.weight[test]
        truth = self.table.y[task.order[test]]
        return float(self.scorer.finish(self.scorer.of(truth, answer, weight)))

    def _alone(self, task: Task) -> float:
        table = self.table
        target = table.y[task.order]
        fold = FoldWork(self.model, {self.name: self.scorer}, table.X, target, table.weight, self.classes)
        return fold((task.train, task.test)).scores[self.name]


def _batches(tasks: Iterator[Task], size: int) -> Iterator[list[Task]]:
    while batch := list(islice(tasks, size)):
        yield batch
