"""The sum of something computed row by row: what most metrics of numbers are means of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.native.scores.error_sums import Cost, ErrorSums
from surefit.core.parameters import Has
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Better, Metric
from surefit.metrics.cases import Case
from surefit.metrics.centred import columns, in_blocks
from surefit.metrics.native_sums import columns_of
from surefit.metrics.native_sums import sums as sums_at_once
from surefit.stats.base import Statistic

OutputWeights = Annotated[object, Has("__array__")] | list[Any] | tuple[Any, ...]
ManyOutputs = Literal["raw_values", "uniform_average"] | OutputWeights


@dataclass(frozen=True, slots=True)
class Sums(Statistic):
    """The number of rows, their weight, and for each output the weighted sum of a value of each row."""

    rows: int
    weight: float
    sums: Vector

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, value: Any = None, **context: Any) -> Sums:
        """Add up ``value(truth, prediction)``, which takes and returns an output a row."""
        truth, guess = columns(batch.y), columns(prediction)
        weights = batch.weight

        def of_block(rows: slice) -> Any:
            found = value(truth[:, rows], guess[:, rows])
            return found.sum(axis=1) if weights is None else np.vecdot(found, weights[rows])

        sums = sum(in_blocks(len(batch), of_block), start=np.zeros(len(truth)))
        return cls(len(batch), float(len(batch) if weights is None else weights.sum()), sums)

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.rows + other.rows, self.weight + other.weight, self.sums + other.sums)

    @classmethod
    def found(cls, rows: int, sums: ErrorSums) -> Sums:
        """Take over what one pass found."""
        return cls(rows, sums.weight, np.array([sums.sum]))

    @property
    def mean(self) -> Vector:
        """The mean of each output; NaN for no rows."""
        return self.sums / self.weight if self.weight > 0 else np.full_like(self.sums, np.nan)


@dataclass(frozen=True, slots=True)
class RowMean(Statistic):
    """The weight of all rows, and the weighted sum of one value a row."""

    weight: float
    sum: float

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, value: Any = None, **context: Any) -> RowMean:
        """Add up ``value(truth, prediction)``."""
        found = np.asarray(value(np.asarray(batch.y), np.asarray(prediction)), dtype=np.float64)
        if batch.weight is None:
            return cls(float(len(batch)), float(found.sum()))
        return cls(float(batch.weight.sum()), float(found @ batch.weight))

    def __add__(self, other: RowMean) -> RowMean:
        return RowMean(self.weight + other.weight, self.sum + other.sum)

    @property
    def mean(self) -> float:
        """The mean; NaN for no rows."""
        return self.sum / self.weight if self.weight > 0 else float("nan")


class RowMeanMetric(Metric):
    """A mean over rows of ``_value``."""

    statistic: ClassVar[type[Statistic]] = RowMean

    @property
    def context(self) -> dict[str, Any]:
        """How a row is valued."""
        return {"value": self._value}

    @abstractmethod
    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        """What a row counts."""

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return self._value(truth, prediction)

    def finish(self, statistic: RowMean) -> float:
        """Return the mean; NaN for no rows."""
        return statistic.mean


class ManyOutputMetric(Metric):
    """What the metrics of an average over outputs share."""

    task = "regression"
    better: ClassVar[Better | None] = "lower"
    bounded: ClassVar[tuple[float, float]] = (0.0, inf)

    def __init__(self, *, multioutput: ManyOutputs = "uniform_average") -> None:
        self.multioutput = multioutput

    @property
    def uniform(self) -> bool:
        """Whether the score is the plain average over outputs."""
        return isinstance(self.multioutput, str) and self.multioutput == "uniform_average"

    def _averaged(self, scores: Vector) -> float | NDArray[np.float64]:
        if isinstance(self.multioutput, str) and self.multioutput == "raw_values":
            return scores
        if isinstance(self.multioutput, str):
            return float(scores.mean())
        weights = np.asarray(self.multioutput, dtype=np.float64)
        if weights.shape != (len(scores),) or not weights.sum() > 0:
            raise ParameterError(
                f"{self.name}: multioutput={self.multioutput!r} must hold one weight for each of the "
                f"{len(scores)} outputs, with a positive sum."
            )
        return float(np.average(scores, weights=weights))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add the ways to average outputs."""
        for case in super().cases(rng):
            yield case
            if case.truth.ndim == 2:
                yield case.with_options(multioutput="raw_values")
                yield case.with_options(multioutput=[0.5, 2.0, 1.0])


class MeanMetric(ManyOutputMetric):
    """A mean of ``_value`` over rows, averaged over outputs."""

    statistic: ClassVar[type[Statistic]] = Sums
    cost: ClassVar[Cost | None] = None  # what ``_value`` is called where one pass adds it up

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        if self.cost is None or self.statistic is not Sums:
            return None
        columns = columns_of(y_true, y_pred, sample_weight)
        found = sums_at_once(self.cost, columns, option=getattr(self, "alpha", 0.0))
        return None if found is None or columns is None else Sums.found(len(columns[0]), found)

    @property
    def context(self) -> dict[str, Any]:
        """How a row is valued."""
        return {"value": self._value}

    @abstractmethod
    def _value(self, truth: NDArray[np.float64], guess: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a row counts, one number an output."""

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        pair = columns(truth), columns(prediction)
        return self._value(*pair)[0] if len(pair[0]) == 1 else None

    def finish(self, statistic: Sums) -> float | NDArray[np.float64]:
        """Return the mean, averaged over outputs; NaN for no rows."""
        return self._averaged(statistic.mean)
