"""Whether a model has learnt anything: its score against those for shuffled targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from surefit.core.errors import DataError, ParameterError
from surefit.core.progress import progress
from surefit.data.checks import check_weights
from surefit.engine.in_turn import in_turn
from surefit.evaluate.cross_validate import jobs_of
from surefit.evaluate.cross_validate_folds import FoldWork, chosen_metrics, classes_of
from surefit.evaluate.in_memory import need_memory
from surefit.metrics.base import Metric
from surefit.models.linear.linear_regression import LinearRegression
from surefit.models.linear.ridge import Ridge
from surefit.resample.choose import Pair, count_rows, pairs_of
from surefit.resample.streams import seed_of

Vector = NDArray[np.float64]
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


def permutation_test(
    model: Any,
    X: Any,
    y: Any,
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
    anew for each draw. A Ridge or LinearRegression learns all draws at once, since they share X.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> found = surefit.permutation_test(surefit.Ridge(), X, X[:, 0], draws=99)
    >>> found.p_value, bool(found.shuffled.max() < found.score)
    (0.01, True)
    """
    need_memory("permutation_test", X, y)
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise ParameterError(f"draws={draws!r} must be a whole number of at least 1.")
    rows = count_rows(X)
    if count_rows(y) != rows:
        raise DataError(f"X has {rows} rows and y has {count_rows(y)}; give one target for each row.")
    classes = classes_of(model, y)
    usual = "r2_score" if classes is None else "accuracy_score"
    ((name, scorer),) = chosen_metrics(model, usual if metric is None else metric, classes).items()
    weight = check_weights(sample_weight, rows)
    seed = seed_of(random_state)
    orders = [np.arange(rows), *(_shuffled(rows, groups, seed, k) for k in range(int(draws)))]
    work = FoldWork(model, {name: scorer}, X, y, weight, classes)
    given: dict[str, Any] = {"classes": classes is not None, "random_state": seed}
    if _learns_many(model, scorer, y) and not _by_target(split):
        pairs = pairs_of(split, X, y, groups, **given)
        found = _at_once(work, scorer, orders, pairs, jobs_of(n_jobs))
    else:
        found = _one_by_one(
            work, name, orders, lambda target: pairs_of(split, X, target, groups, **given), n_jobs
        )
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


def _one_by_one(
    work: FoldWork, name: str, orders: Sequence[Any], pairs_for: Any, n_jobs: int | None
) -> Vector:
    truth = np.asarray(work.y)

    def one(order: Any) -> float:
        target = truth[order]
        fold = FoldWork(work.model, work.metrics, work.X, target, work.weight, work.classes)
        return float(np.mean([fold(pair).scores[name] for pair in pairs_for(target)]))

    found = []
    with progress("permutation test", total=len(orders)) as bar:
        for score in in_turn(one, orders, min(jobs_of(n_jobs), len(orders))):
            found.append(score)
            bar.advance()
    return np.array(found)


def _at_once(work: FoldWork, scorer: Any, orders: Sequence[Any], pairs: Sequence[Pair], jobs: int) -> Vector:
    """Each fold learns as many shuffled targets as memory holds, as targets of one fit."""
    truth = np.asarray(work.y, dtype=np.float64)
    step = max(1, CELLS // len(truth))
    weight = work.weight

    def one(item: tuple[Pair, Sequence[Any]]) -> list[float]:
        (train, test), some = item
        targets = truth[np.stack(some, axis=1)]
        given = {} if weight is None else {"sample_weight": weight[train]}
        model = clone(work.model).fit(_safe_indexing(work.X, train), targets[train], **given)
        answers = np.asarray(model.predict(_safe_indexing(work.X, test))).reshape(len(test), -1)
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
