"""Permutation importance: what a column is worth to a fitted model, by what its loss does to the score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import is_classifier

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.core.native.linear.linear_shuffle import linear_shuffle
from surefit.core.public import public
from surefit.data.door import is_streamed
from surefit.evaluate.cross_validation.source_folds import need_own_metrics
from surefit.evaluate.explain.shuffled_answers import (
    changed_by_asking,
    changed_by_trees,
    linear_part,
    numbers_of,
    trees_of,
)
from surefit.evaluate.rows.column_changes import shuffled
from surefit.evaluate.rows.dataset import ReadRows, rows_of
from surefit.evaluate.rows.frames import frame_of
from surefit.evaluate.scoring.assess import answering_method
from surefit.evaluate.scoring.fold import chosen_metrics
from surefit.evaluate.scoring.interval_base import check_level
from surefit.metrics.base import Metric
from surefit.metrics.usual import usual_metric


@dataclass(frozen=True, slots=True, eq=False)
class Importance:
    """For each column: how much worse the score gets without it, on average, and between which bounds.

    importances: (columns, repeats). low and high take in that other rows, and other shufflings, would
    give other numbers where ``method`` says "rows"; else other shufflings only. baseline: the score of
    the model.
    """

    names: Sequence[str]
    importances: Matrix
    mean: Vector
    low: Vector
    high: Vector
    baseline: float
    metric: str
    level: float
    method: str

    @property
    def importances_mean(self) -> Vector:
        """The mean over repeats, under scikit-learn's name."""
        return self.mean

    @property
    def importances_std(self) -> Vector:
        """The standard deviation over repeats, under scikit-learn's name."""
        return np.asarray(self.importances.std(axis=1))

    def order(self) -> NDArray[np.intp]:
        """The columns from the most to the least important."""
        return np.argsort(-self.mean, kind="stable")

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return one row a column, the most important first."""
        order = self.order()
        columns = {"column": [self.names[j] for j in order]}
        for name in ("mean", "low", "high"):
            columns[name] = getattr(self, name)[order].tolist()
        return frame_of(columns, backend)

    def __str__(self) -> str:
        lines = [f"{self.metric} of {self.baseline:.4g} gets worse, without the column, by"]
        width = max(map(len, self.names), default=0)
        for j in self.order():
            bounds = f"[{self.low[j]:.4g}, {self.high[j]:.4g}]"
            lines.append(f"  {self.names[j]:<{width}}  {self.mean[j]:9.4g}  {bounds}")
        return "\n".join([*lines, f"  intervals: {100 * self.level:g} %, over {self.method}"])


@public
def permutation_importance(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    metric: Any = None,
    repeats: int = 5,
    columns: Sequence[int] | None = None,
    sample_weight: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> Importance:
    """Shuffle one column after the other, and measure how much worse a fitted model then answers.

    X, y: rows that the model has not learnt from; on its own rows a model looks as if it needed columns
    that it only remembers. metric: a name, a metric, or a scorer; R² or accuracy by default. repeats:
    shufflings of each column. Linear models and forests are not asked again: what a shuffled column
    changes is worked out from the coefficients, or by walking each tree from where it asks for the
    column.

    X may be a table that is read in batches, with the name of its target as y; it is then read once for each
    shuffling, and only the shuffled column, the target and the answers are held.

    A column that another one replaces looks unimportant: shuffling measures what is lost with the other
    left.

    >>> import surefit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = 2 * X[:, 0] + X[:, 1] + rng.normal(size=400)
    >>> model = surefit.LinearRegression().fit(X[:200], y[:200])
    >>> found = surefit.permutation_importance(model, X[200:], y[200:])
    >>> found.order().tolist(), found.low[1] > 0, found.low[2] > 0
    ([0, 1, 2], np.True_, np.False_)
    """
    level = check_level(level)
    if isinstance(repeats, bool) or not isinstance(repeats, int | np.integer) or repeats < 1:
        raise ParameterError(f"repeats={repeats!r} must be a whole number of at least 1.")
    if not is_streamed(X, y, sample_weight):
        X = X if hasattr(X, "shape") else np.asarray(X)
    rows_given = rows_of(model, X, y, sample_weight)
    rows, truth, weight = rows_given.count, rows_given.y, rows_given.weight
    classes = getattr(model, "classes_", None)
    usual = usual_metric("classification" if is_classifier(model) else "regression")
    ((name, scorer),) = chosen_metrics(model, usual if metric is None else metric, classes).items()
    rng = np.random.default_rng(random_state)
    orders = np.array([rng.permutation(rows) for _ in range(repeats)])
    names = rows_given.names
    wanted = range(len(names)) if columns is None else columns
    if isinstance(rows_given, ReadRows):
        found = _as_read(model, scorer, rows_given, orders, wanted)
    else:
        found = _fast(model, scorer, X, truth, weight, orders, wanted)
        if found is None:
            found = _slow(model, scorer, X, truth, weight, orders, wanted)
    baseline, table, errors, method = found
    reach = special.stdtrit(max(1, (rows if method == "rows" else repeats) - 1), (1 + level) / 2) * errors
    mean = table.mean(axis=1)
    return Importance(
        [names[j] for j in wanted], table, mean, mean - reach, mean + reach, baseline, name, level, method
    )


def _fast(model: Any, scorer: Any, X: Any, y: Any, weight: Any, orders: Any, columns: Any) -> Any:
    """From coefficients or trees; None where the model or the metric does not allow it."""
    if not isinstance(scorer, Metric) or y.ndim != 1:
        return None
    table = numbers_of(X)
    if scorer.squared_errors and scorer.mean_form != "root" and weight is None and y.dtype.kind in "biuf":
        linear = linear_part(model, X, table)
        if linear is not None and linear[1].shape[0] == 1:
            return _squared_linear(*linear, y.astype(np.float64), scorer, orders, columns)
    trees = trees_of(model)
    if trees is not None and table is not None:
        method = answering_method(model, scorer)
        if method == "predict" and is_classifier(model):
            now = np.asarray(model.predict_proba(X))
        else:
            now = np.asarray(getattr(model, method)(X), dtype=np.float64)
        flat = now.reshape(len(X), -1)
        classes = getattr(model, "classes_", None)

        def answers() -> Iterator[tuple[int, int, Any]]:
            for j, r, change in changed_by_trees(trees, table, orders, columns):
                yield j, r, _as_answer(flat + change, method, classes)

        return _scored(scorer, y, weight, _as_answer(flat, method, classes), answers(), columns, orders)
    linear = linear_part(model, X, table) if weight is None or scorer.task != "probability" else None
    if linear is None or scorer.task == "probability":
        return None
    table, coef, scores = linear
    classes = getattr(model, "classes_", None)
    as_label = is_classifier(model) and answering_method(model, scorer) == "predict"

    def straight() -> Iterator[tuple[int, int, Any]]:
        for j in columns:
            for r, order in enumerate(orders):
                apart = (table[order, j] - table[:, j]).astype(np.float64)
                yield j, r, _from_scores(scores + apart[:, None] * coef[:, j], as_label, classes)

    now = _from_scores(scores, as_label, classes)
    return _scored(scorer, y, weight, now, straight(), columns, orders)


def _as_answer(values: Matrix, method: str, classes: Any) -> Any:
    if classes is None:
        return values[:, 0]
    if method == "predict":
        return classes[np.argmax(values, axis=1)]
    return np.clip(values, 0.0, 1.0)  # sums of shares, to rounding


def _from_scores(scores: Matrix, as_label: bool, classes: Any) -> Any:
    if not as_label:
        return scores[:, 0] if scores.shape[1] == 1 else scores
    if scores.shape[1] == 1:
        return classes[(scores[:, 0] > 0).astype(np.intp)]
    return classes[np.argmax(scores, axis=1)]


def _squared_linear(
    X: Any, coef: Matrix, scores: Matrix, y: Vector, metric: Metric, orders: Any, columns: Any
) -> Any:
    """(e - w d)^2 - e^2 = w d (w d - 2 e), with e the residual and d the difference that shuffling makes."""
    chosen = np.asarray(list(columns), dtype=np.intp)
    residual = y - scores[:, 0]
    terms = np.multiply(X[:, chosen], coef[0, chosen], dtype=np.float64)
    means, spread = linear_shuffle(terms, residual, orders)
    errors = np.sqrt(spread / max(1, len(y) - 1)) / len(orders)
    error = float(np.mean(residual**2))
    if metric.mean_form == "mean":
        return error, means, errors, "rows"
    variance = float(np.mean((y - y.mean()) ** 2))
    if variance == 0:
        return None
    return 1 - error / variance, means / variance, errors / variance, "rows"


def _as_read(model: Any, scorer: Any, table: ReadRows, orders: Any, columns: Any) -> Any:
    """One pass for each shuffling: of the table, a column and the answers are held."""
    need_own_metrics({"metric": scorer})
    method = answering_method(model, scorer)

    def answers() -> Iterator[tuple[int, int, Any]]:
        for j in columns:
            values = table.column(j)
            for r, order in enumerate(orders):
                yield int(j), r, table.with_column(int(j), values[order]).ask(model, method=method)

    return _scored(scorer, table.y, table.weight, table.ask(model, method=method), answers(), columns, orders)


def _slow(model: Any, scorer: Any, X: Any, y: Any, weight: Any, orders: Any, columns: Any) -> Any:
    if isinstance(scorer, Metric):
        method = answering_method(model, scorer)
        asked = changed_by_asking(model, [method], X, orders, columns)
        answers = ((j, r, found[method]) for j, r, found in asked)
        return _scored(scorer, y, weight, getattr(model, method)(X), answers, columns, orders)
    given = {} if weight is None else {"sample_weight": weight}
    now = float(scorer(model, X, y, **given))
    place = {int(j): k for k, j in enumerate(columns)}
    found = np.zeros((len(place), len(orders)))
    for j in columns:
        for r, order in enumerate(orders):
            found[place[int(j)], r] = now - float(scorer(model, shuffled(X, int(j), order), y, **given))
    return now, found, _over_repeats(found), "shufflings"


def _scored(
    metric: Metric,
    y: Any,
    weight: Any,
    now: Any,
    answers: Iterator[tuple[int, int, Any]],
    columns: Any,
    orders: Any,
) -> Any:
    """The loss of score for each column and repeat; with the spread over rows where each row has a loss."""
    sign = 1.0 if metric.better == "higher" else -1.0
    baseline = float(metric.finish(metric.of(y, now, weight)))
    place = {int(j): k for k, j in enumerate(columns)}
    found = np.zeros((len(place), len(orders)))
    base = None if weight is not None or len(y) < 2 else _row_losses(metric, y, now)
    worse = None if base is None else np.zeros((len(place), len(y)))
    for j, r, answer in answers:
        if base is None:
            found[place[j], r] = sign * (baseline - float(metric.finish(metric.of(y, answer, weight))))
        else:
            apart = _row_losses(metric, y, answer) - base
            found[place[j], r] = apart.mean()
            # A row counts as itself and as the one that lends its value to another: both vary with the rows.
            worse[place[j]] += apart  # type: ignore[index]
            worse[place[j], orders[r]] += apart  # type: ignore[index]
    if worse is None:
        return baseline, found, _over_repeats(found), "shufflings"
    errors = (worse / len(orders)).std(axis=1, ddof=1) / np.sqrt(len(y))
    return baseline, found, errors, "rows"


def _row_losses(metric: Metric, y: Any, answer: Any) -> Any:
    """What each row takes from the score, larger for a worse answer; None where rows do not add up to it."""
    losses = None if metric.mean_form == "root" else metric.row_losses(y, answer)
    if losses is None or metric.mean_form == "mean":
        return losses
    variance = float(np.var(np.asarray(y, dtype=np.float64)))
    return None if variance == 0 else losses / variance


def _over_repeats(found: Matrix) -> Vector:
    repeats = found.shape[1]
    if repeats < 2:
        return np.full(len(found), np.nan)
    return np.asarray(found.std(axis=1, ddof=1) / np.sqrt(repeats))
