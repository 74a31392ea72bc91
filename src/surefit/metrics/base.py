"""The contract of a metric."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from math import inf
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.core.parameters import validate, values_of
from surefit.core.registry import Registered
from surefit.data.batches.batch import Batch
from surefit.metrics import cases, door, groups
from surefit.stats.base import Statistic

Task = Literal["regression", "classification", "probability", "score", "ranking", "partition", "clusters"]
Better = Literal["higher", "lower"]
MeanForm = Literal["mean", "root", "explained"]
ComparedBy = Literal["mcnemar", "delong", "paired_t"]
Purpose = Literal["evaluation", "study", "fitted"]
ADMITS = {
    "regression": "numbers",
    "classification": "labels",
    "partition": "partitions",
    "probability": "probabilities",
    "score": "scores",
    "ranking": "tables",
    "clusters": "points",
}
METHODS: Mapping[str, tuple[str, ...]] = {  # of a model, whose answers are scored; the first that it has
    "regression": ("predict",),
    "classification": ("predict",),
    "partition": ("predict",),
    "probability": ("predict_proba",),
    "score": ("decision_function", "predict_proba"),
}


class Share(NamedTuple):
    """A score as a share of rows: which rows count, and which of all rows are hits."""

    rows: NDArray[np.bool_]
    hits: NDArray[Any]


class Metric(Registered, kind="metric", folder="surefit.metrics"):
    """A score, or a table, made of the true and the predicted values of some rows.

    task: what is predicted: numbers, labels, the probability of each class, scores of any scale, the order of
    the labels of a row, another partition of the rows, or the clusters of points. better: which way is
    better; None for a table. arguments: what truth and prediction are called. statistic: what adds up. Its
    ``of(batch, prediction=, classes=, **metric.context)`` takes the truth from ``batch.y``: numbers, labels,
    or codes of ``classes`` where these are given.

    What intervals, comparisons, searches, importances, studies and reports need to know of a metric, it
    declares as well. words: its name for people; by default made of ``name``. bounded: two numbers that no
    score lies beyond, to which intervals are cut (``value_range`` where options move them). mean_form: how
    the score is made of the mean of ``row_values`` or ``row_losses``: that "mean" itself, its "root", or the
    share of the variance of the truth that it leaves "explained". zero_or_one: whether each row value is 0
    or 1, so that the score is a share of rows. squared_errors: whether row losses are squared errors.
    compared_by: the test of two models on the same rows. told: its place among the metrics that an
    evaluation, a study, or a model asked about a table tells of by default; told_of_two: only where there
    are two classes. Neither ``words`` nor ``told`` is inherited.

    >>> from surefit.metrics import mean_squared_error as mse
    >>> half, rest = mse.of([1.0, 2.0], [1.0, 4.0]), mse.of([3.0], [3.0])
    >>> mse.finish(half + rest) == mse([1.0, 2.0, 3.0], [1.0, 4.0, 3.0])
    True
    """

    task: ClassVar[Task]
    better: ClassVar[Better | None]
    statistic: ClassVar[type[Statistic]]
    arguments: ClassVar[tuple[str, str]] = ("y_true", "y_pred")
    words: ClassVar[str] = ""
    bounded: ClassVar[tuple[float, float]] = (-inf, inf)
    mean_form: ClassVar[MeanForm] = "mean"
    zero_or_one: ClassVar[bool] = False
    squared_errors: ClassVar[bool] = False
    compared_by: ClassVar[ComparedBy] = "paired_t"
    told: ClassVar[Mapping[Purpose, int]] = MappingProxyType({})
    told_of_two: ClassVar[bool] = False

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "name" in cls.__dict__ and "words" not in cls.__dict__:
            cls.words = cls.name.removesuffix("_score").replace("_", " ")
        if "name" in cls.__dict__ and "told" not in cls.__dict__:
            cls.told = MappingProxyType({})

    def __init__(self) -> None:
        pass

    @abstractmethod
    def finish(self, statistic: Any) -> Any:
        """Turn the statistic of all rows into the score."""

    def __call__(self, *data: Any, by: Any = None, **options: Any) -> Any:
        """Score predictions: truth, prediction and sample_weight, by place or by name.

        ``by`` names the group of each row; the answer is then a score for each group, by its name. Options
        replace this metric's own for one call.
        """
        truth, prediction, weight = self._placed(data, options)
        metric = type(self)(**{**self.options, **options})
        if len(truth) == 0:
            raise DataError(f"{self.name}: y_true has no rows; give at least one.")
        if by is not None:
            return groups.finish(metric, groups.of(metric, truth, prediction, weight, by))
        statistic = metric.of(truth, prediction, weight)
        if weight is not None and not np.any(weight):
            raise DataError(
                f"{self.name}: every sample_weight is zero, so no row counts; "
                "give at least one row a positive weight."
            )
        return metric.finish(statistic)

    def _placed(self, data: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
        """Truth, prediction and weight, taken out of what was given by place or by name."""
        names = [*self.arguments, "sample_weight"]
        if len(data) > 3:
            raise TypeError(f"{self.name} takes {', '.join(names)}; options are given by name.")
        found = {**dict(zip(names, data, strict=False)), **{n: options.pop(n) for n in names if n in options}}
        missing = [name for name in self.arguments if name not in found]
        if missing:
            raise TypeError(f"{self.name} needs {' and '.join(missing)}.")
        return [found.get(name) for name in names]

    def of(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the statistic of some rows, to be added to that of others and finished."""
        validate(self)
        quick = self._at_once(y_true, y_pred, sample_weight)
        if quick is not None:
            return quick
        try:
            truth, prediction, classes = self._admit(y_true, y_pred)
            weight = door.weights(sample_weight, len(truth))
        except DataError as error:
            raise DataError(f"{self.name}: {error}") from None
        batch = Batch(np.empty((len(truth), 0)), truth, weight)
        return self.statistic.of(batch, prediction=prediction, classes=classes, **self.context)

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        """The statistic in one pass over rows that were not looked at yet; None where they must be first."""
        return None

    @property
    def context(self) -> dict[str, Any]:
        """What the statistic must know of the options."""
        return {}

    def _admit(self, y_true: Any, y_pred: Any) -> door.Pair:
        """Check truth and prediction, as the task asks."""
        admit: Any = getattr(door, ADMITS[self.task])
        if self.task in ("probability", "score"):
            return door.Pair(*admit(y_true, y_pred, getattr(self, "labels", None)))
        return door.Pair(*admit(y_true, y_pred))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of a model whose answers it scores, in order of preference; none for other tasks."""
        return METHODS.get(self.task, ())

    @property
    def value_range(self) -> tuple[float, float]:
        """The two numbers that no score lies beyond under these options."""
        return self.bounded

    def row_values(self, y_true: Any, y_pred: Any) -> Vector | None:
        """Return the value of each row whose mean is the score (its square, for a root); None for others.

        >>> from surefit import metrics
        >>> metrics.mean_squared_error.row_values([1.0, 2.0], [1.0, 4.0])
        array([0., 4.])
        """
        truth, prediction, _ = self._admit(y_true, y_pred)
        found = self._row_values(truth, prediction)
        return None if found is None else np.asarray(found, dtype=np.float64)

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        """The values of rows that were checked."""
        return None

    def paired_values(self, y_true: Any, y_pred: Any) -> Vector | None:
        """Return the values of rows by which two models are paired: those that make the score, or one that
        is equal for two models on the same rows just where this is; None for others.
        """
        return self.row_values(y_true, y_pred)

    def row_losses(self, y_true: Any, y_pred: Any) -> Vector | None:
        """Return what each row loses, less the better, where the mean of it is all that the score needs.

        Rows may then be drawn, shuffled and added up without making the score again: ``of_mean_loss`` makes
        it of the mean. None for other scores.

        >>> from surefit import metrics
        >>> metrics.r2_score.row_losses([1.0, 2.0], [1.0, 4.0])
        array([0., 4.])
        """
        truth, prediction, _ = self._admit(y_true, y_pred)
        found = self._row_losses(truth, prediction)
        return None if found is None else np.asarray(found, dtype=np.float64)

    def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        """The losses of rows that were checked."""
        return None

    def of_mean_loss(self, mean: Any, variance: Any) -> Vector:
        """Return the score of rows with this mean loss, whose truth has this variance; each may be many.

        >>> from surefit import metrics
        >>> metrics.r2_score.of_mean_loss([2.0, 4.0], 8.0), metrics.root_mean_squared_error.of_mean_loss(4, 8)
        (array([0.75, 0.5 ]), array(2.))
        """
        mean = np.asarray(mean, dtype=np.float64)
        if self.mean_form == "root":
            return np.asarray(np.sqrt(mean))
        if self.mean_form == "explained":
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(np.asarray(variance) > 0, 1 - mean / np.asarray(variance), np.nan)
        return mean if self.better == "lower" else np.asarray(self.value_range[1] - mean)

    def share(self, y_true: Any, y_pred: Any) -> Share | None:
        """Return which rows count and which are hits, where the score is a share of rows; None for others."""
        hits = self.row_values(y_true, y_pred) if self.zero_or_one else None
        return None if hits is None else Share(np.ones(len(hits), dtype=bool), hits)

    def pair_scores(self, y_pred: Any) -> Vector | None:
        """Return one score a row, where the metric is how often a row of the upper of two classes scores
        above one of the lower, which is what DeLong's variance is for; None for others.
        """
        return None

    @property
    def options(self) -> dict[str, Any]:
        """The options by name."""
        return values_of(self)

    @property
    def __name__(self) -> str:
        return self.name  # scikit-learn's scorers show it

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[cases.Case]:
        """Make test data for the laws; a metric with options or a domain of its own adds to them."""
        return cases.of_task(cls.task, rng)
