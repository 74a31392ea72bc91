"""Whether a model has learnt anything: its score against those for shuffled targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.errors import ParameterError
from surefit.core.progress import progress
from surefit.core.public import public
from surefit.engine.thread_map import in_turn
from surefit.evaluate.cross_validation.cross_validate import jobs_of
from surefit.evaluate.cross_validation.source_folds import ReadWork
from surefit.evaluate.rows.dataset import HeldRows, ReadRows, rows_of
from surefit.evaluate.scoring.assess import answering_method
from surefit.evaluate.scoring.fold import FoldWork, chosen_metrics, classes_of
from surefit.metrics.base import Metric
from surefit.metrics.usual import usual_metric
from surefit.models.linear.squares.linear_regression import LinearRegression
from surefit.models.linear.squares.ridge import Ridge
from surefit.resample.choose import Pair
from surefit.resample.streams import seed_of

CELLS_AT_ONCE = 2**16  # rows times targets that are learnt together: about what stays near a core
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
        size = max(TARGETS, CELLS_AT_ONCE // self.table.count)
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


CELLS = 20_000_000  # shuffled targets, and answers to them, that are held at a time


@dataclass(frozen=True, slots=True, eq=False)
class PermutationTest:
    """The cross-validated score, those for shuffled targets, and how probable it is without any skill."""

    score: float
    shuffled: Vector
    p_value: float
    metric: str

    def __str__(self) -> str:
        low, high = np.quantile(self.shuffled, [0.025, 0.975])
        return (
            f"{self.metric} {self.score:.4g}; with shuffled targets {np.median(self.shuffled):.4g} "
            f"[{low:.4g}, {high:.4g}] over {len(self.shuffled)} draws: p = {self.p_value:.3g}"
        )


@public
def permutation_test(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    metric: Any = None,
    split: Any = 5,
    draws: int = 100,
    groups: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> PermutationTest:
    r"""Cross-validate a model on targets as they are and shuffled: :math:`p = (1 + \#) / (1 + B)`.

    # counts the draws whose score is as good or better, of B; the least p-value is 1 / (1 + B). A whole
    pipeline is fitted anew for each, so that a search or a selection inside it is tested as well. groups:
    targets are shuffled within each. split: as in :func:`~surefit.cross_validate`; folds by class are cut
    anew for each draw. A Ridge, LinearRegression or LogisticRegression of two classes learns all draws at
    once, since they share X. X may be a table that is read in batches, with the name of its target as y, and
    of its groups.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> found = surefit.permutation_test(surefit.Ridge(), X, X[:, 0], draws=99)
    >>> found.p_value, bool(found.shuffled.max() < found.score)
    (0.01, True)
    """
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise ParameterError(f"draws={draws!r} must be a whole number of at least 1.")
    table = rows_of(model, X, y, sample_weight)
    rows, classes = table.count, classes_of(model, table.y)
    groups = table.groups(groups)
    usual = usual_metric("regression" if classes is None else "classification")
    ((name, scorer),) = chosen_metrics(model, usual if metric is None else metric, classes).items()
    seed = seed_of(random_state)
    orders = [np.arange(rows), *(_shuffled(rows, groups, seed, k) for k in range(int(draws)))]
    given: dict[str, Any] = {"classes": classes is not None, "random_state": seed}
    # A table that is read is read by all threads at once.
    jobs = 1 if isinstance(table, ReadRows) else jobs_of(n_jobs)
    if _learns_many(model, scorer, table.y) and not _by_target(split):
        found = _at_once(model, table, scorer, orders, table.pairs(split, groups, **given), jobs)
    elif (tasks := TasksAtOnce.of(model, name, scorer, table, classes)) is not None:
        found = tasks.scores(orders, lambda own: own.pairs(split, groups, **given), jobs)
    else:
        work = _Shuffled(model, {name: scorer}, table, classes, lambda own: own.pairs(split, groups, **given))
        found = _one_by_one(work, orders, jobs)
    sign = -1.0 if getattr(scorer, "better", "higher") == "lower" else 1.0
    reached = int(np.count_nonzero(sign * found[1:] >= sign * found[0]))
    return PermutationTest(float(found[0]), found[1:], (1 + reached) / (1 + int(draws)), name)


def _shuffled(rows: int, groups: Any, seed: int, number: int) -> NDArray[np.intp]:
    rng = np.random.Generator(np.random.Philox(key=[seed % 2**64, number]))
    if groups is None:
        return rng.permutation(rows)
    order, of = np.arange(rows), np.asarray(groups)
    for group in np.unique(of):
        own = np.flatnonzero(of == group)
        order[own] = rng.permutation(own)
    return order


def _by_target(split: Any) -> bool:
    """Whether the folds follow from the targets, so that other targets have others."""
    return hasattr(split, "split") and "Stratified" in type(split).__name__


def _learns_many(model: Any, scorer: Any, y: Any) -> bool:
    exact = type(model) is LinearRegression or (type(model) is Ridge and model.solver in EXACT)
    numbers = np.asarray(y).dtype.kind in "biuf" and np.ndim(y) == 1
    return exact and not model.positive and numbers and isinstance(scorer, Metric)


EXACT = ("auto", "cholesky", "svd")  # solvers whose answer for a target is that of the target alone


@dataclass(frozen=True, slots=True, eq=False)
class _Shuffled:
    """The mean score over folds for targets in another order."""

    model: Any
    metrics: Any
    table: HeldRows | ReadRows
    classes: Any
    pairs_of: Any

    def __call__(self, order: Any) -> float:
        table, target = self.table, self.table.y[order]
        fold: FoldWork | ReadWork
        if isinstance(table, ReadRows):
            table = table.with_target(target)
            fold = ReadWork(self.model, self.metrics, table)
        else:
            table = HeldRows(table.X, target, table.weight)
            fold = FoldWork(self.model, self.metrics, table.X, target, table.weight, self.classes)
        (name,) = self.metrics
        return float(np.mean([fold(pair).scores[name] for pair in self.pairs_of(table)]))


def _one_by_one(work: _Shuffled, orders: Sequence[Any], jobs: int) -> Vector:
    found = []
    with progress("permutation test", total=len(orders)) as bar:
        for score in in_turn(work, orders, min(jobs, len(orders))):
            found.append(score)
            bar.advance()
    return np.array(found)


def _at_once(
    model: Any,
    table: HeldRows | ReadRows,
    scorer: Any,
    orders: Sequence[Any],
    pairs: Sequence[Pair],
    jobs: int,
) -> Vector:
    """Each fold learns as many shuffled targets as memory holds, as targets of one fit."""
    truth, weight = table.y.astype(np.float64), table.weight
    step = max(1, CELLS // len(truth))

    def one(item: tuple[Pair, Sequence[Any]]) -> list[float]:
        (train, test), some = item
        targets = truth[np.stack(some, axis=1)]
        fitted = table.fit(model, train, targets)
        answers = table.ask(fitted, test).reshape(len(test), -1)
        own = None if weight is None else weight[test]
        return [
            float(scorer.finish(scorer.of(target, answer, own)))
            for target, answer in zip(targets[test].T.copy(), answers.T.copy(), strict=True)
        ]

    found = []
    for begin in range(0, len(orders), step):
        some = orders[begin : begin + step]
        scores = list(in_turn(one, [(pair, some) for pair in pairs], min(jobs, len(pairs))))
        found.append(np.mean(scores, axis=0))
    return np.concatenate(found)
