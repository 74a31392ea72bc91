"""The contract of a metric."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.errors import DataError
from surefit.core.parameters import validate, values_of
from surefit.core.registry import Registered
from surefit.data.batches.batch import Batch
from surefit.metrics import cases, door, groups
from surefit.stats.base import Statistic

Task = Literal["regression", "classification", "probability", "score", "ranking", "partition", "clusters"]
Better = Literal["higher", "lower"]
ADMITS = {
    "regression": "numbers",
    "classification": "labels",
    "partition": "partitions",
    "probability": "probabilities",
    "score": "scores",
    "ranking": "tables",
    "clusters": "points",
}


class Metric(Registered, kind="metric", folder="surefit.metrics"):
    """A score, or a table, made of the true and the predicted values of some rows.

    task: what is predicted: numbers, labels, the probability of each class, scores of any scale, the order of
    the labels of a row, another partition of the rows, or the clusters of points. better: which way is
    better; None for a table. arguments: what truth and prediction are called. statistic: what adds up. Its
    ``of(batch, prediction=, classes=, **metric.context)`` takes the truth from ``batch.y``: numbers, labels,
    or codes of ``classes`` where these are given.

    >>> from surefit.metrics import mean_squared_error as mse
    >>> half, rest = mse.of([1.0, 2.0], [1.0, 4.0]), mse.of([3.0], [3.0])
    >>> mse.finish(half + rest) == mse([1.0, 2.0, 3.0], [1.0, 4.0, 3.0])
    True
    """

    task: ClassVar[Task]
    better: ClassVar[Better | None]
    statistic: ClassVar[type[Statistic]]
    arguments: ClassVar[tuple[str, str]] = ("y_true", "y_pred")

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
