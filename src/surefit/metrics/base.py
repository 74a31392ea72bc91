"""The contract of a metric."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.errors import DataError
from surefit.core.parameters import parameters_of, validate
from surefit.core.registry import Registered
from surefit.data.batch import Batch
from surefit.metrics import cases, door
from surefit.stats.base import Statistic

Task = Literal["regression", "classification", "probability"]
Better = Literal["higher", "lower"]


class Metric(Registered, kind="metric", folder="surefit.metrics"):
    """A score, or a table, made of the true and the predicted values of some rows.

    task: what is predicted: numbers, labels, or the probability of each class. better: which way is better;
    None for a table. statistic: what adds up. Its ``of(batch, prediction=, classes=)`` takes the truth from
    ``batch.y``: numbers, labels, or codes of ``classes`` where these are given.

    >>> from surefit.metrics import mean_squared_error as mse
    >>> half, rest = mse.of([1.0, 2.0], [1.0, 4.0]), mse.of([3.0], [3.0])
    >>> mse.finish(half + rest) == mse([1.0, 2.0, 3.0], [1.0, 4.0, 3.0])
    True
    """

    task: ClassVar[Task]
    better: ClassVar[Better | None]
    statistic: ClassVar[type[Statistic]]

    def __init__(self) -> None:
        pass

    @abstractmethod
    def finish(self, statistic: Any) -> Any:
        """Turn the statistic of all rows into the score."""

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None, **options: Any) -> Any:
        """Score predictions; options replace this metric's own for one call."""
        metric = type(self)(**{**self.options, **options})
        statistic = metric.of(y_true, y_pred, sample_weight)
        if len(y_true) == 0:
            raise DataError(f"{self.name}: y_true has no rows; give at least one.")
        if sample_weight is not None and not np.any(sample_weight):
            raise DataError(
                f"{self.name}: every sample_weight is zero, so no row counts; "
                "give at least one row a positive weight."
            )
        return metric.finish(statistic)

    def of(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the statistic of some rows, to be added to that of others and finished."""
        validate(self)
        try:
            truth, prediction, classes = self._admit(y_true, y_pred)
            weight = door.weights(sample_weight, len(truth))
        except DataError as error:
            raise DataError(f"{self.name}: {error}") from None
        batch = Batch(np.empty((len(truth), 0)), truth, weight)
        return self.statistic.of(batch, prediction=prediction, classes=classes)

    def _admit(self, y_true: Any, y_pred: Any) -> door.Pair:
        """Check truth and prediction, as the task asks."""
        if self.task == "regression":
            return door.numbers(y_true, y_pred)
        if self.task == "classification":
            return door.labels(y_true, y_pred)
        return door.probabilities(y_true, y_pred, getattr(self, "labels", None))

    @property
    def options(self) -> dict[str, Any]:
        """The options by name."""
        cls: Any = type(self)
        return {name: getattr(self, name) for name in parameters_of(cls)}

    @property
    def __name__(self) -> str:
        return self.name  # scikit-learn's scorers show it

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[cases.Case]:
        """Make test data for the laws; a metric with options or a domain of its own adds to them."""
        return cases.of_task(cls.task, rng)
