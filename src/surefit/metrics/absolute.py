"""Absolute errors: mean, median, greatest, relative, and the pinball loss of quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.native.scores.select_rank import select_ranks
from surefit.core.parameters import Fraction
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Better, Metric, Purpose
from surefit.metrics.cases import Case
from surefit.metrics.centred import columns
from surefit.metrics.native_sums import columns_of, errors, sums
from surefit.metrics.sums import ManyOutputMetric, ManyOutputs, MeanMetric, Sums
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class StoredValues(Statistic):
    """The values of each output, and the weight of each row (None for ones): eight bytes an entry."""

    values: Vector
    weight: Vector | None

    @classmethod
    def of(cls, batch: Batch, *, values: Any = None, **context: Any) -> StoredValues:
        """Keep ``values``, (n,) or (n, k), of the rows that count."""
        table, weight = columns(values), batch.weight
        if weight is not None and not weight.all():
            table, weight = table[:, weight > 0], weight[weight > 0]
        return cls(table, weight)

    def __add__(self, other: StoredValues) -> StoredValues:
        weight = None
        if self.weight is not None or other.weight is not None:
            both = (part.values.shape[1] if part.weight is None else part.weight for part in (self, other))
            weight = np.concatenate([np.ones(w) if isinstance(w, int) else w for w in both])
        return StoredValues(np.concatenate([self.values, other.values], axis=1), weight)

    def quantile(self, share: float) -> Vector:
        """The quantile of each output: the value where the weight reaches the share; where it does so
        exactly, the middle of that value and the next.
        """
        if self.values.shape[1] == 0:
            return np.full(len(self.values), np.nan)
        return np.array([_quantile(column, self.weight, share) for column in self.values])


def _quantile(values: Vector, weight: Vector | None, share: float) -> float:
    if weight is None:
        place = share * len(values)
        low = max(int(np.ceil(place)) - 1, 0)
        high = min(low + (place == low + 1), len(values) - 1)
        first, second = select_ranks(np.ascontiguousarray(values), low, high)
        return (first + second) / 2
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    place = share * reached[-1]
    low = min(int(np.searchsorted(reached, place)), len(values) - 1) if place > 0 else 0
    # A share such as 1/2 of weights such as 0.1 is reached exactly up to the rounding of the sum.
    level = abs(reached[low] - place) <= np.finfo(np.float64).eps * reached[-1]
    high = min(low + int(level), len(values) - 1)
    return float((values[order[low]] + values[order[high]]) / 2)


class MeanAbsoluteError(MeanMetric):
    r"""The mean absolute error, :math:`\frac{1}{W} \sum_i s_i |y_i - \hat y_i|`.

    >>> from surefit import metrics
    >>> metrics.mean_absolute_error([1.0, 2.0, 4.0], [1.0, 4.0, 3.0])
    1.0
    """

    name = "mean_absolute_error"
    cost = "absolute"
    told: ClassVar[Mapping[Purpose, int]] = {"study": 2, "fitted": 3}

    def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        found = self._value(columns(truth), columns(prediction))
        return np.asarray(found.mean(axis=0)) if self.uniform else None

    def _value(self, truth: Matrix, guess: Matrix) -> Matrix:
        return np.abs(truth - guess)


class MeanAbsolutePercentageError(MeanMetric):
    r"""The mean relative error, :math:`\frac{1}{W} \sum_i s_i |y_i - \hat y_i| / \max(ε, |y_i|)`.

    It is a share, not a percentage; ε is the machine epsilon, so that a true zero gives a huge number.

    >>> from surefit import metrics
    >>> metrics.mean_absolute_percentage_error([2.0, 4.0], [1.0, 5.0])
    0.375
    """

    name = "mean_absolute_percentage_error"
    cost = "relative"

    def _value(self, truth: Matrix, guess: Matrix) -> Matrix:
        return np.abs(truth - guess) / np.maximum(np.abs(truth), np.finfo(np.float64).eps)


def pinball(truth: Matrix, guess: Matrix, alpha: float) -> Matrix:
    """What a prediction of the alpha-quantile costs, row by row."""
    difference = truth - guess
    return np.where(difference >= 0, alpha * difference, (alpha - 1) * difference)


class MeanPinballLoss(MeanMetric):
    r"""The mean pinball loss of a predicted quantile q: :math:`\alpha (y - q)` above it,
    :math:`(1 - \alpha)(q - y)` below.

    >>> from surefit import metrics
    >>> metrics.mean_pinball_loss([1.0, 2.0, 3.0], [2.0, 2.0, 2.0], alpha=0.25)
    0.3333333333333333
    """

    name = "mean_pinball_loss"
    cost = "pinball"

    def __init__(self, *, alpha: Fraction = 0.5, multioutput: ManyOutputs = "uniform_average") -> None:
        self.alpha = alpha
        self.multioutput = multioutput

    def _value(self, truth: Matrix, guess: Matrix) -> Matrix:
        return pinball(truth, guess, self.alpha)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add another quantile."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(alpha=0.9)


@dataclass(frozen=True, slots=True)
class Deviations(Statistic):
    """The pinball losses, and the truth as it is, whose quantile is the prediction to beat."""

    losses: Sums
    truth: StoredValues

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, value: Any = None, **context: Any) -> Deviations:
        """Compute it over the targets of a batch and what was predicted for them."""
        return cls(Sums.of(batch, prediction=prediction, value=value), StoredValues.of(batch, values=batch.y))

    def __add__(self, other: Deviations) -> Deviations:
        return Deviations(self.losses + other.losses, self.truth + other.truth)


class D2Pinball(MeanPinballLoss):
    """The share of the pinball loss of the best constant, the quantile, that the prediction saves.

    A constant target gives 1 if every prediction is right and 0 otherwise; fewer than two rows give NaN. The
    statistic keeps the truth, eight bytes a row.

    >>> from surefit import metrics
    >>> metrics.d2_pinball_score([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    0.5
    """

    name = "d2_pinball_score"
    words = "D² by the pinball loss"
    better: ClassVar[Better | None] = "higher"
    bounded: ClassVar[tuple[float, float]] = (-inf, inf)
    statistic: ClassVar[type[Statistic]] = Deviations

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return None

    def finish(self, statistic: Any) -> float | NDArray[np.float64]:
        """Return the share saved, averaged over outputs."""
        if statistic.losses.rows < 2:
            return float("nan")
        kept = statistic.truth
        constant = kept.quantile(self.alpha)[:, None]
        losses = pinball(kept.values, constant, self.alpha)
        base = losses.sum(axis=1) if kept.weight is None else losses @ kept.weight
        return self._averaged(saved(statistic.losses.sums, base))


def saved(loss: Vector, base: Vector) -> Vector:
    """1 - loss / base; where base is 0, 1 for no loss and 0 otherwise."""
    ratio = np.divide(loss, base, out=np.where(loss == 0, 0.0, 1.0), where=base != 0)
    return np.asarray(1 - ratio)


class D2AbsoluteError(D2Pinball):
    """The share of the absolute error of the median that the prediction saves; the pinball score at 1/2.

    >>> from surefit import metrics
    >>> metrics.d2_absolute_error_score([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    0.5
    """

    name = "d2_absolute_error_score"
    words = "D² by the absolute error"
    alpha = 0.5

    def __init__(self, *, multioutput: ManyOutputs = "uniform_average") -> None:
        self.multioutput = multioutput

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """There is no other quantile."""
        return ManyOutputMetric.cases.__func__(cls, rng)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class StoredErrors(Statistic):
    """The absolute errors as they are."""

    errors: StoredValues

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, **context: Any) -> StoredErrors:
        """Compute it over the targets of a batch and what was predicted for them."""
        return cls(StoredValues.of(batch, values=np.abs(columns(batch.y) - columns(prediction)).T))

    def __add__(self, other: StoredErrors) -> StoredErrors:
        return StoredErrors(self.errors + other.errors)


class MedianAbsoluteError(ManyOutputMetric):
    """The median of the absolute errors: exact, and kept exact when joined, at eight bytes a row.

    >>> from surefit import metrics
    >>> metrics.median_absolute_error([1.0, 2.0, 4.0], [1.0, 4.0, 3.0])
    1.0
    """

    name = "median_absolute_error"
    statistic = StoredErrors

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        found = errors(columns_of(y_true, y_pred, sample_weight))
        return None if found is None else StoredErrors(StoredValues(found[None], None))

    def finish(self, statistic: StoredErrors) -> float | NDArray[np.float64]:
        """Return the median, averaged over outputs; NaN for no rows."""
        return self._averaged(statistic.errors.quantile(0.5))


@dataclass(frozen=True, slots=True)
class LargestError(Statistic):
    """The greatest absolute error of the rows that count; NaN for none."""

    error: float

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, **context: Any) -> LargestError:
        """Compute it over the targets of a batch and what was predicted for them."""
        truth, guess = np.ravel(np.asarray(batch.y)), np.ravel(np.asarray(prediction))
        if batch.weight is not None and not batch.weight.all():
            truth, guess = truth[batch.weight > 0], guess[batch.weight > 0]
        error = float("nan") if len(truth) == 0 else float(np.max(np.abs(truth - guess)))
        return cls(error)

    def __add__(self, other: LargestError) -> LargestError:
        return LargestError(float(np.fmax(self.error, other.error)))


class MaxError(Metric):
    r"""The greatest absolute error, :math:`\max_i |y_i - \hat y_i|`; weights only leave rows out.

    >>> from surefit import metrics
    >>> metrics.max_error([1.0, 2.0, 4.0], [1.0, 4.0, 3.0])
    2.0
    """

    name = "max_error"
    words = "maximum error"
    task = "regression"
    better = "lower"
    bounded = (0.0, inf)
    statistic = LargestError

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        columns = columns_of(y_true, y_pred, sample_weight)
        found = sums("absolute", columns, above=(-np.inf, -np.inf))
        return None if found is None or found.least_weight == 0 else LargestError(found.greatest)

    def finish(self, statistic: LargestError) -> float:
        """Return it; NaN for no rows."""
        return statistic.error

    def _admit(self, y_true: Any, y_pred: Any) -> Any:
        return one_output(super()._admit(y_true, y_pred))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Leave out several outputs."""
        return (case for case in super().cases(rng) if case.truth.ndim == 1)


def one_output(pair: Any) -> Any:
    """Check that there is one number a row."""
    if pair.truth.ndim == 2 and pair.truth.shape[1] > 1:
        raise DataError(f"y_true has {pair.truth.shape[1]} outputs; give them one at a time.")
    return pair
