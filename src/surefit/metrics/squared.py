"""Squared errors: their sum, mean, root, and R²."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native.scores.error_sums import ErrorSums
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Better, Purpose
from surefit.metrics.cases import Case
from surefit.metrics.centred import Centred, columns, in_blocks, sum_of_squares
from surefit.metrics.native_sums import columns_of, spreads, sums
from surefit.metrics.sums import ManyOutputMetric, OutputWeights
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class SquaredErrors(Statistic):
    r"""W and :math:`\sum_i s_i (y_i - \hat y_i)^2` of each output; ``rows`` counts rows of any weight."""

    rows: int
    weight: float
    errors: Vector

    @classmethod
    def of(
        cls, batch: Batch, *, prediction: Any = None, transform: Any = None, **context: Any
    ) -> SquaredErrors:
        """Compute it over targets and what was predicted for them, both transformed if asked for."""
        truth, guess = columns(batch.y), columns(prediction)
        weights = batch.weight

        def of_block(rows: slice) -> Any:
            pair = truth[:, rows], guess[:, rows]
            residual = np.subtract(*(pair if transform is None else map(transform, pair)))
            return sum_of_squares(residual, None if weights is None else weights[rows])

        errors = sum(in_blocks(len(batch), of_block), start=np.zeros(len(truth)))
        return cls(len(batch), float(len(batch) if weights is None else weights.sum()), errors)

    def __add__(self, other: SquaredErrors) -> SquaredErrors:
        return SquaredErrors(self.rows + other.rows, self.weight + other.weight, self.errors + other.errors)

    @classmethod
    def found(cls, rows: int, sums: ErrorSums) -> SquaredErrors:
        """Take over what one pass found."""
        return cls(rows, sums.weight, np.array([sums.sum]))

    @property
    def mean(self) -> Vector:
        """The mean of each output; NaN for no rows."""
        return self.errors / self.weight if self.weight > 0 else np.full_like(self.errors, np.nan)


def squared_errors(truth: Any, prediction: Any) -> Vector:
    """The squared error of each row, averaged over outputs."""
    return np.asarray(np.square(columns(truth) - columns(prediction)).mean(axis=0))


class _Squared(ManyOutputMetric):
    statistic: ClassVar[type[Statistic]] = SquaredErrors

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        if self.statistic is not SquaredErrors:
            return None
        columns = columns_of(y_true, y_pred, sample_weight)
        found = sums("squared", columns)
        return None if found is None or columns is None else SquaredErrors.found(len(columns[0]), found)


class SumSquaredError(_Squared):
    r"""The residual sum of squares, :math:`\sum_i s_i (y_i - \hat y_i)^2`, without a factor ½.

    >>> from surefit import metrics
    >>> metrics.sum_squared_error([1.0, 2.0, 3.0], [1.0, 4.0, 2.0])
    5.0
    """

    name = "sum_squared_error"

    def finish(self, statistic: SquaredErrors) -> float | NDArray[np.float64]:
        """Return the sum, averaged over outputs."""
        return self._averaged(statistic.errors)


class MeanSquaredError(_Squared):
    r"""The mean squared error, :math:`\frac{1}{W} \sum_i s_i (y_i - \hat y_i)^2`.

    >>> from surefit import metrics
    >>> metrics.mean_squared_error([1.0, 2.0, 3.0], [1.0, 4.0, 3.0], sample_weight=[1, 1, 2])
    1.0
    """

    name = "mean_squared_error"
    squared_errors = True

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return squared_errors(truth, prediction) if len(columns(truth)) == 1 or self.uniform else None

    def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return squared_errors(truth, prediction) if self.uniform else None

    def finish(self, statistic: SquaredErrors) -> float | NDArray[np.float64]:
        """Return the mean, averaged over outputs; NaN for no rows."""
        return self._averaged(statistic.mean)


class RootMeanSquaredError(_Squared):
    r"""The root of the mean squared error, :math:`\sqrt{\mathrm{MSE}}`, of each output; then their average.

    >>> from surefit import metrics
    >>> metrics.root_mean_squared_error([1.0, 2.0], [4.0, 5.0])
    3.0
    """

    name = "root_mean_squared_error"
    mean_form = "root"
    squared_errors = True
    told: ClassVar[Mapping[Purpose, int]] = {"evaluation": 2, "study": 1, "fitted": 2}

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return squared_errors(truth, prediction) if len(columns(truth)) == 1 else None

    def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return self._row_values(truth, prediction) if self.uniform else None

    def paired_values(self, y_true: Any, y_pred: Any) -> Vector | None:
        """Return the squared errors, whose mean is under the root."""
        return MeanSquaredError().row_values(y_true, y_pred)

    def finish(self, statistic: SquaredErrors) -> float | NDArray[np.float64]:
        """Return the root, averaged over outputs; NaN for no rows."""
        return self._averaged(np.sqrt(statistic.mean))


@dataclass(frozen=True, slots=True)
class Variation(Statistic):
    """The squared errors, and how the truth varies about its mean."""

    errors: SquaredErrors
    truth: Centred

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, **context: Any) -> Variation:
        """Compute it over the targets of a batch and what was predicted for them."""
        errors = SquaredErrors.of(batch, prediction=prediction)
        return cls(errors, Centred.of(batch, values=batch.y))

    @classmethod
    def at_once(cls, y_true: Any, y_pred: Any, sample_weight: Any) -> Variation | None:
        """Compute it in one pass; None where rows must be looked at first."""
        columns = columns_of(y_true, y_pred, sample_weight)
        found = spreads(columns)
        if found is None or columns is None:
            return None
        squares, truth, _ = found
        return cls(SquaredErrors(len(columns[0]), truth.weight, np.array([squares])), Centred.found(truth))

    def __add__(self, other: Variation) -> Variation:
        return Variation(self.errors + other.errors, self.truth + other.truth)


class VarianceShare(_Squared):
    """A score of 1 minus the share of the variation of the truth that is left."""

    better: ClassVar[Better | None] = "higher"
    bounded: ClassVar[tuple[float, float]] = (-inf, 1.0)

    def __init__(
        self,
        *,
        multioutput: Literal["raw_values", "uniform_average", "variance_weighted"]
        | OutputWeights = "uniform_average",
        force_finite: bool = True,
    ) -> None:
        self.multioutput = multioutput
        self.force_finite = force_finite

    def _shares(self, errors: Vector, total: Vector) -> float | NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = 1 - errors / total
        if self.force_finite:
            scores = np.where(total == 0, np.where(errors == 0, 1.0, 0.0), scores)
        if isinstance(self.multioutput, str) and self.multioutput == "variance_weighted":
            return float(np.average(scores, weights=total if total.any() else None))
        return self._averaged(scores)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add weighting by variance, and a constant target."""
        for case in super().cases(rng):
            yield case
            if not case.options:
                yield case.with_options(multioutput="variance_weighted")
        third = np.full(30, 1 / 3)
        yield Case(third, rng.normal(size=30), third)


class R2(VarianceShare):
    r"""The coefficient of determination,
    :math:`R^2 = 1 - \sum_i s_i (y_i - \hat y_i)^2 / \sum_i s_i (y_i - \bar y)^2`.

    It is 1 for a perfect prediction, 0 for one as good as the mean, and negative for a worse one. A constant
    target makes it 0/0: the score is 1 if every prediction is right and 0 otherwise, or, with
    ``force_finite=False``, what the division gives. Fewer than two rows give NaN.

    >>> from surefit import metrics
    >>> metrics.r2_score([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    0.5
    """

    name = "r2_score"
    words = "R²"
    statistic: ClassVar[type[Statistic]] = Variation
    mean_form = "explained"
    squared_errors = True
    told: ClassVar[Mapping[Purpose, int]] = {"evaluation": 1, "study": 3, "fitted": 1}

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        return Variation.at_once(y_true, y_pred, sample_weight)

    def finish(self, statistic: Variation) -> float | NDArray[np.float64]:
        """Return the share of the variation that the prediction accounts for, averaged over outputs."""
        if statistic.errors.rows < 2:
            return float("nan")
        total = np.where(statistic.truth.constant, 0.0, statistic.truth.scatter)
        return self._shares(statistic.errors.errors, total)

    def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return squared_errors(truth, prediction) if len(columns(truth)) == 1 and self.uniform else None

    def paired_values(self, y_true: Any, y_pred: Any) -> Vector | None:
        """Return the squared errors: on the same rows R² is equal just where their mean is."""
        return MeanSquaredError().row_values(y_true, y_pred)


@dataclass(frozen=True, slots=True)
class BothVariations(Statistic):
    """How truth and prediction vary, each about its mean."""

    truth: Centred
    prediction: Centred

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, **context: Any) -> BothVariations:
        """Compute it over the targets of a batch and what was predicted for them."""
        return cls(Centred.of(batch, values=batch.y), Centred.of(batch, values=prediction))

    def __add__(self, other: BothVariations) -> BothVariations:
        return BothVariations(self.truth + other.truth, self.prediction + other.prediction)


class ExplainedR2(_Squared):
    r"""The other textbook form of R², how much the predictions vary for how much the truth does:
    :math:`\sum_i s_i (\hat y_i - \bar y)^2 / \sum_i s_i (y_i - \bar y)^2`.

    It equals ``r2_score`` for least squares with an intercept on its own training data, and in general
    nowhere else: it is no score, since predictions that vary more have more of it, right or wrong. A constant
    target gives NaN.

    >>> from surefit import metrics
    >>> metrics.r2_explained([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    0.0
    """

    name = "r2_explained"
    words = "variance of the predictions over that of the truth"
    better = None
    statistic = BothVariations

    def finish(self, statistic: BothVariations) -> float | NDArray[np.float64]:
        """Return the ratio, averaged over outputs."""
        truth = statistic.truth
        total = np.where(truth.constant, np.nan, truth.scatter)
        return self._averaged(statistic.prediction.scatter_about(truth.mean, truth.low) / total)
