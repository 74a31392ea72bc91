"""Curves: scores for rows learnt from and rows left out, over the number of rows or a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surefit.core.arrays import Matrix
from surefit.core.errors import ParameterError
from surefit.core.progress import progress
from surefit.core.public import public
from surefit.engine.thread_map import in_turn
from surefit.evaluate.cross_validation.cross_validate import jobs_of
from surefit.evaluate.cross_validation.source_folds import ReadWork
from surefit.evaluate.rows.dataset import HeldRows, ReadRows, rows_of
from surefit.evaluate.rows.frames import frame_of
from surefit.evaluate.scoring.corrected_resampled_t import corrected_interval, folds_of_one_cut
from surefit.evaluate.scoring.fold import Fold, FoldWork, chosen_metrics, classes_of
from surefit.evaluate.scoring.interval_base import ScoreInterval, check_level
from surefit.evaluate.search.choice import simplest_within, standard_errors
from surefit.metrics.base import Metric
from surefit.metrics.usual import usual_metric

Work = FoldWork | ReadWork
# Parameters that make a model simpler as they grow, whichever model it is.
RESTRAINTS = frozenset(
    [
        "alpha",
        "alpha_1",
        "ccp_alpha",
        "l2_regularization",
        "lambda_1",
        "min_child_weight",
        "min_impurity_decrease",
        "min_samples_leaf",
        "min_samples_split",
        "n_neighbors",
        "reg_alpha",
        "reg_lambda",
        "shrinkage",
        "var_smoothing",
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Scores along an axis: train and test are (steps, folds), with an interval around each mean.

    axis: what changes. values: where. best: the step with the best mean for rows left out; careful: the
    simplest step within one standard error of it, where an order of complexity is known.
    """

    axis: str
    values: Sequence[Any]
    metric: str
    better: str
    train: Matrix
    test: Matrix
    train_intervals: Sequence[ScoreInterval]
    test_intervals: Sequence[ScoreInterval]
    best: int
    careful: int | None = None

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return one row a step: means, intervals and errors."""
        columns: dict[str, Any] = {self.axis: list(self.values)}
        for name, found in (("train", self.train_intervals), ("test", self.test_intervals)):
            columns[f"{name}_{self.metric}"] = [entry.estimate for entry in found]
            columns[f"{name}_low"] = [entry.low for entry in found]
            columns[f"{name}_high"] = [entry.high for entry in found]
        columns["test_error"] = standard_errors(self.test).tolist()
        return frame_of(columns, backend)

    def __str__(self) -> str:
        lines = [f"{self.metric} by {self.axis} (train, rows left out)"]
        for step, value in enumerate(self.values):
            mark = {self.best: " best", self.careful: " simplest within a standard error"}.get(step, "")
            train, test = self.train_intervals[step], self.test_intervals[step]
            shown = f"{value:.4g}" if isinstance(value, float) else str(value)
            lines.append(f"  {shown:>10}  {train.estimate:8.4g}  {test.estimate:8.4g} "
                         f"[{test.low:.4g}, {test.high:.4g}]{mark}")  # fmt: skip
        return "\n".join(lines)


@public
def learning_curve(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sizes: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    metric: Any = None,
    split: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> Curve:
    """Score a model that learns from more and more rows, for these rows and for rows left out.

    sizes: shares of a fold's training rows, or their numbers; each contains the rows of the smaller
    ones, in an order drawn at random, by class for a classifier. The other parameters are those of
    :func:`~surefit.cross_validate`.

    >>> import surefit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> curve = surefit.learning_curve(surefit.LinearRegression(), X, X[:, 0] + rng.normal(size=200))
    >>> list(curve.values), curve.test.shape
    ([16, 40, 80, 120, 160], (5, 5))
    """
    work = _work(model, X, y, metric, sample_weight)
    pairs = _pairs(work, split, groups, random_state)
    most = min(len(train) for train, _ in pairs)
    counts = [_count(size, most) for size in sizes]
    orders = [_shuffled(train, work, random_state) for train, _ in pairs]
    steps = [[(order[:n], test) for order, (_, test) in zip(orders, pairs, strict=True)] for n in counts]
    folds = _run([(work, pair) for step in steps for pair in step], n_jobs, "learning curve")
    return _curve("training rows", counts, work, folds, steps, level, None)


@public
def validation_curve(
    model: Any,
    X: Any,
    y: Any,
    name: str,
    values: Sequence[Any],
    *,
    complexity: str | None = None,
    metric: Any = None,
    split: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> Curve:
    """Score a model for each value of a parameter, for rows learnt from and for rows left out.

    complexity: "increasing" or "decreasing" in the value. Then it is a complexity curve: ``careful`` is
    the simplest step whose score is within one standard error of the best.

    >>> import surefit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 30))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> alphas = [0.1, 1.0, 10.0, 100.0, 1000.0]
    >>> curve = surefit.validation_curve(surefit.Ridge(), X, y, "alpha", alphas, complexity="decreasing")
    >>> curve.values[curve.best], curve.values[curve.careful]
    (10.0, 100.0)
    """
    if complexity not in (None, "increasing", "decreasing"):
        raise ParameterError(f"complexity={complexity!r} must be None, 'increasing' or 'decreasing'.")
    if len(values) == 0:
        raise ParameterError(f"there is no value of {name} to try: give at least one.")
    first = _work(model, X, y, metric, sample_weight)
    pairs = _pairs(first, split, groups, random_state)
    works = [replace(first, model=clone(model).set_params(**{name: value})) for value in values]
    folds = _run([(work, pair) for work in works for pair in pairs], n_jobs, "validation curve")
    order: NDArray[np.float64] | None = None
    if complexity is not None:
        if not all(isinstance(value, int | float | np.number) for value in values):
            raise ParameterError(f"the values of {name} have no order: leave complexity out.")
        order = np.asarray(values, dtype=np.float64) * (1.0 if complexity == "increasing" else -1.0)
    return _curve(name, list(values), first, folds, [pairs] * len(values), level, order)


@public
def complexity_curve(
    model: Any,
    X: Any,
    y: Any,
    name: str,
    values: Sequence[Any],
    *,
    complexity: str | None = None,
    **options: Any,
) -> Curve:
    """A validation curve over a parameter that makes the model more, or less, complex.

    complexity: "increasing" or "decreasing" in the value; by default decreasing for what restrains a model,
    as alpha does, and increasing for all else.

    >>> import surefit
    >>> x = np.linspace(-1, 1, 40)
    >>> y = np.sin(3 * x) + 0.2 * np.random.default_rng(0).normal(size=40)
    >>> model = surefit.make_pipeline(surefit.PolynomialFeatures(), surefit.Ridge(1e-8))
    >>> curve = complexity_curve(model, x[:, None], y, "polynomialfeatures__degree", [1, 3, 5, 12])
    >>> curve.values[curve.best], curve.values[curve.careful]
    (5, 5)
    """
    if complexity is None:
        complexity = "decreasing" if name.rpartition("__")[2] in RESTRAINTS else "increasing"
    return validation_curve(model, X, y, name, values, complexity=complexity, **options)


def _work(model: Any, X: Any, y: Any, metric: Any, weight: Any) -> Work:
    table = rows_of(model, X, y, weight)
    classes = classes_of(model, table.y)
    usual = usual_metric("regression" if classes is None else "classification")
    chosen = chosen_metrics(model, usual if metric is None else metric, classes)
    if len(chosen) > 1:
        raise ParameterError("a curve has one metric: draw one for each.")
    if isinstance(table, ReadRows):
        return ReadWork(model, chosen, table, True)
    return FoldWork(model, chosen, X, y, table.weight, classes, True)


def _pairs(work: Work, split: Any, groups: Any, seed: Any) -> Any:
    table = work.table if isinstance(work, ReadWork) else HeldRows(work.X, work.y)
    return table.pairs(split, groups, classes=work.classes is not None, random_state=seed)


def _count(size: Any, most: int) -> int:
    share = isinstance(size, float) and 0 < size <= 1
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool) and 1 <= size <= most
    if not share and not whole:
        raise ParameterError(
            f"sizes has {size!r}; give shares above 0 and up to 1, or numbers from 1 to {most}."
        )
    return max(1, int(size * most)) if share else int(size)


def _shuffled(train: Any, work: Work, seed: Any) -> Any:
    from surefit.evaluate.search.halving import in_class_shares

    return in_class_shares(train, work, int(seed) if isinstance(seed, int | np.integer) else 0)


def _run(items: list[tuple[Work, Any]], n_jobs: int | None, label: str) -> list[Fold]:
    found = []
    # A table that is read is read by all threads at once.
    jobs = 1 if isinstance(items[0][0], ReadWork) else min(jobs_of(n_jobs), len(items))
    with progress(label, total=len(items)) as bar:
        for fold in in_turn(lambda item: item[0](item[1]), items, jobs):
            found.append(fold)
            bar.advance()
    return found


def _curve(
    axis: str, values: list[Any], work: Work, folds: list[Fold], steps: Any, level: float, order: Any
) -> Curve:
    level = check_level(level)
    ((name, metric),) = work.metrics.items()
    better = str(metric.better) if isinstance(metric, Metric) else "higher"
    shape = (len(values), -1)
    test = np.array([fold.scores[name] for fold in folds]).reshape(shape)
    train = np.array([fold.train_scores[name] for fold in folds]).reshape(shape)
    shares = [float(np.mean([len(b) / len(a) for a, b in step])) for step in steps]
    cut = folds_of_one_cut([(len(work.y) - len(tested), len(tested)) for _, tested in steps[0]])

    def intervals(scores: Matrix) -> list[ScoreInterval]:
        given: dict[str, Any] = {"level": level, "metric": metric, "name": name, "folds": cut}
        if scores.shape[1] < 2:
            mean = scores.mean(axis=1)
            return [
                ScoreInterval(name, float(m), np.nan, np.nan, level, "one fold has no spread") for m in mean
            ]
        return [corrected_interval(row, share, **given) for row, share in zip(scores, shares, strict=True)]

    means = test.mean(axis=1)
    best = simplest_within(means, np.arange(len(means)), 0.0, better=better)
    careful = None
    if order is not None:
        careful = simplest_within(means, order, float(standard_errors(test)[best]), better=better)
    return Curve(axis, values, name, better, train, test, intervals(train), intervals(test), best, careful)
