"""The answers of fitted models to rows whose truth is known, and scores of them with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError
from surefit.core.registry import lookup
from surefit.data.arrow import plain
from surefit.evaluate.compare.difference_tests import TestResult, delong_test, mcnemar_test, paired_t_test
from surefit.evaluate.compare.multiple_testing import adjust_pvalues, tie_groups, tie_letters
from surefit.evaluate.scoring.fold import chosen_metrics
from surefit.evaluate.scoring.interval_base import ScoreInterval
from surefit.evaluate.scoring.intervals import score_interval
from surefit.metrics.base import Metric
from surefit.metrics.usual import usual_metrics
from surefit.study.fitted.apply import Applied
from surefit.study.fitted.unknown_values import UnknownValues
from surefit.study.table.typed import convert

if TYPE_CHECKING:
    import pyarrow as pa

EXACT = 2000  # rows up to which the dearest interval is taken; beyond, fewer draws
DRAWS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """Truth and answers of all rows that have a truth; answers by method of the model."""

    truth: NDArray[Any]
    answers: dict[str, NDArray[Any]]
    weight: NDArray[np.float64] | None
    groups: NDArray[Any] | None
    classes: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.truth)

    def where(self, rows: NDArray[Any]) -> Graded:
        """Some of the rows."""
        answers = {name: answer[rows] for name, answer in self.answers.items()}
        weight = None if self.weight is None else self.weight[rows]
        return Graded(self.truth[rows], answers, weight, None, self.classes)

    def answer(self, metric: Metric) -> NDArray[Any]:
        """What a metric compares with the truth."""
        method = next((name for name in metric.methods if name in self.answers), None)
        if method is None:
            wanted = " or ".join(metric.methods)
            raise ParameterError(
                f"{metric.name} needs {wanted}, which the model does not have: choose another."
            )
        return self.answers[method]

    def score(self, metric: Metric, level: float = 0.95) -> ScoreInterval:
        """A score with its interval; one that these rows do not have is NaN."""
        options: dict[str, Any] = {}
        if len(self) > EXACT and metric.compared_by != "delong":
            options = {"n_resamples": DRAWS}
            if metric.row_values(self.truth, self.answer(metric)) is None:
                options["method"] = "percentile"  # the other kind leaves every row out once
        try:
            return score_interval(
                metric, self.truth, self.answer(metric), sample_weight=self.weight, level=level, **options
            )
        except DataError:
            if len(self) > 1:
                raise
            value = float(metric(self.truth, self.answer(metric), self.weight))
            return ScoreInterval(metric.name, value, np.nan, np.nan, level, "none: one row")


def grade(
    applied: Applied,
    table: Any,
    target: str,
    *,
    weight: str | None = None,
    by: str | None = None,
    besides: Sequence[str] = (),
    unread: UnknownValues | None = None,
) -> Graded:
    """Ask a model about every row of a table that has a truth, batch by batch; tell what was not read."""
    also = list(dict.fromkeys(name for name in (target, weight, by) if name is not None))
    methods = [
        name for name in ("predict", "predict_proba", "decision_function") if hasattr(applied.last, name)
    ]
    truths, weights, groups = [], [], []
    answers: dict[str, list[NDArray[Any]]] = {name: [] for name in methods}
    for batch, rows in applied.rows(table, also, labelled=target, besides=besides, unread=unread):
        truths.append(truth_of(applied, batch.column(target)))
        for name in methods:
            answers[name].append(applied.ask(rows, name))
        if weight is not None:
            weights.append(_numbers(batch.column(weight)))
        if by is not None:
            groups.append(_words(batch.column(by)))
    if not truths:
        raise DataError(f"no row has a {target!r}: there is nothing to compare with.")
    return Graded(
        np.concatenate(truths),
        {name: np.concatenate(parts) for name, parts in answers.items()},
        np.concatenate(weights) if weights else None,
        np.concatenate(groups) if groups else None,
        applied.classes,
    )


def _numbers(cells: pa.Array) -> NDArray[np.float64]:
    import pyarrow as pa

    return np.asarray(convert(cells, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _words(cells: pa.Array) -> NDArray[Any]:
    import pyarrow as pa

    words = convert(plain(cells), pa.string()).fill_null("(missing)")
    return np.array(words.to_pylist(), dtype=object)


def truth_of(applied: Applied, cells: pa.Array) -> NDArray[Any]:
    """The truth as the model answers: labels of its own type, or numbers."""
    import pyarrow as pa

    classes = applied.classes
    kind = "f" if classes is None else classes.dtype.kind
    if kind not in "biuf":
        return _words(cells)
    wanted = pa.bool_() if kind == "b" else pa.float64()
    found = convert(cells, wanted)
    if found.null_count:
        what = "numbers" if classes is None else f"classes such as {classes[0]}"
        raise DataError(
            f"the model predicts {what}, and some cells of the target are not: fix or drop those rows."
        )
    values: NDArray[Any] = found.to_numpy(zero_copy_only=False)
    return values if classes is None or kind == "b" else values.astype(classes.dtype)


def metrics_of(applied: Applied, names: Sequence[str] = ()) -> dict[str, Metric]:
    """The metrics named, or the usual ones of the model's task, told of its classes."""
    classes = applied.classes
    wanted = list(names)
    if not wanted:
        probable = hasattr(applied.last, "predict_proba")
        two = probable and classes is not None and len(classes) == 2
        task: Any = "regression" if classes is None else "classification"
        wanted = usual_metrics("fitted", task, two_classes=two)
        if not probable:
            wanted = [name for name in wanted if lookup("metric", name).task != "probability"]  # type: ignore[attr-defined]
    found = chosen_metrics(applied.last, list(dict.fromkeys(wanted)), classes)
    for name, metric in found.items():
        if not isinstance(metric, Metric) or not metric.methods or metric.better is None:
            raise ParameterError(f"{name} is not one score of predictions: choose another.")
    return {name: metric for name, metric in found.items() if isinstance(metric, Metric)}


@dataclass(frozen=True, slots=True)
class Place:
    """One line of a leaderboard; p: against the best, adjusted; group: letters of models that tie."""

    name: str
    score: ScoreInterval
    p: float | None
    group: str


def ranked(models: dict[str, Graded], metrics: dict[str, Metric], level: float = 0.95) -> list[Place]:
    """Put models in order by their answers to the same rows, and say which cannot be told apart.

    metrics: by model, the same one told of each model's classes. Pairs are tested by DeLong's test of the
    area under the curve, by McNemar's of right answers, or by Student's of the losses of rows; p-values
    allow for the number of pairs (Holm).
    """
    scores = {name: graded.score(metrics[name], level) for name, graded in models.items()}
    first = next(iter(metrics.values()))
    sign = -1.0 if first.better == "higher" else 1.0
    names = sorted(models, key=lambda name: sign * scores[name].estimate)
    pairs = list(combinations(range(len(names)), 2))
    tests = [_tested(first, models[names[i]], models[names[j]]) for i, j in pairs]
    adjusted = adjust_pvalues([1.0 if test is None else test.pvalue for test in tests])
    table = np.ones((len(names), len(names)))
    for (i, j), p in zip(pairs, adjusted, strict=True):
        table[i, j] = table[j, i] = p
    groups = tie_groups(table > 1 - level)
    letters = tie_letters(groups, len(names))
    return [
        Place(name, scores[name], None if i == 0 else float(table[0, i]), letters[i])
        for i, name in enumerate(names)
    ]


def _tested(metric: Metric, one: Graded, two: Graded) -> TestResult | None:
    truth, weight = one.truth, one.weight
    if metric.compared_by == "delong" and one.classes is not None and len(one.classes) == 2:
        upper = truth == one.classes[-1]
        return delong_test(upper, _score(one.answer(metric)), _score(two.answer(metric)), weight)
    if metric.compared_by == "mcnemar":
        return mcnemar_test(truth, one.answer(metric), two.answer(metric), sample_weight=weight)
    mine, yours = (metric.paired_values(truth, each.answer(metric)) for each in (one, two))
    return None if mine is None or yours is None else paired_t_test(mine, yours, weight)


def _score(answer: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(answer[:, -1] if answer.ndim == 2 else answer, dtype=np.float64)
