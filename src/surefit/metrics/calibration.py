"""Whether probabilities mean what they say: the calibration curve and its distance from the diagonal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.parameters import Count
from surefit.metrics import door
from surefit.metrics.base import Better, Purpose
from surefit.metrics.cases import Case
from surefit.metrics.curves import Points, ThresholdMetric
from surefit.metrics.rates import Label
from surefit.metrics.score_table import ScoreTable

Strategy = Literal["uniform", "quantile"]


class CalibrationCurve(ThresholdMetric):
    """For each bin of probabilities that holds rows: the share of positive rows, and the mean probability.

    strategy: bins of equal width, or of about equal weight. Scores of several classes are judged by the
    greatest of each row: whether that class is right as often as its probability says.

    >>> from surefit import metrics
    >>> metrics.calibration_curve([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.4, 0.6, 0.8, 1.0], n_bins=2)
    (array([0., 1.]), array([0.23333333, 0.8       ]))
    """

    name = "calibration_curve"
    arguments = ("y_true", "y_prob")
    labels: Any = None

    def __init__(
        self,
        *,
        pos_label: Label = None,
        n_bins: Count = 5,
        strategy: Strategy = "uniform",
        max_points: Points = None,
    ) -> None:
        self.pos_label = pos_label
        self.n_bins = n_bins
        self.strategy = strategy
        self.max_points = max_points

    @property
    def methods(self) -> tuple[str, ...]:
        """Probabilities alone can be calibrated."""
        return ("predict_proba",)

    def _admit(self, y_true: Any, y_pred: Any) -> door.Pair:
        pair = super()._admit(y_true, y_pred)
        door.inside_unit(pair.prediction)
        if pair.classes is None:
            return pair
        best = pair.prediction.argmax(axis=1)
        return door.Pair((best == pair.truth) * 1, pair.prediction.max(axis=1), None)

    def finish(self, statistic: ScoreTable) -> Any:
        """Return the two columns."""
        weight, right, said = self._bins(statistic)
        return right / weight, said / weight

    def _bins(self, table: ScoreTable) -> tuple[Vector, Vector, Vector]:
        """Of each bin with rows: its weight, that of its positive rows, and the sum of probabilities."""
        positive, negative = table.sides(self.name, self.pos_label)
        chance, weight = table.score.astype(np.float64), positive + negative
        edges = np.linspace(0.0, 1.0, self.n_bins + 1)
        if self.strategy == "quantile" and len(chance):
            edges = _percentiles(chance, weight, edges)
        places = np.searchsorted(edges[1:-1], chance)
        sums = [np.bincount(places, part, self.n_bins) for part in (weight, positive, weight * chance)]
        total, right, said = (part[sums[0] > 0].astype(np.float64) for part in sums)
        return total, right, said

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Probabilities, and the strategies."""
        for case in super().cases(rng):
            chances = 1 / (1 + np.exp(-case.prediction))
            case = Case(case.truth, chances, (case.perfect > 0) * 1.0, case.options)
            if not case.options:
                yield case
                yield case.with_options(strategy="quantile", n_bins=4)


def _percentiles(values: Vector, weight: Vector, shares: Vector) -> Vector:
    """Percentiles by line between ranks, as if each value stood there as often as it weighs."""
    ends = np.cumsum(weight)
    rank = shares * (ends[-1] - 1)
    below = np.floor(rank)
    low, high = (
        values[np.minimum(np.searchsorted(ends, at, side="right"), len(values) - 1)]
        for at in (below, below + 1)
    )
    return np.asarray(low + (rank - below) * (high - low))


class ExpectedCalibrationError(CalibrationCurve):
    r"""The mean distance of bins from the diagonal, :math:`\sum_b \frac{W_b}{W} |\bar y_b - \bar p_b|`.

    >>> from surefit import metrics
    >>> round(metrics.expected_calibration_error([0, 0, 1, 1], [0.1, 0.1, 0.9, 0.7]), 6)
    0.15
    """

    name = "expected_calibration_error"
    better: ClassVar[Better | None] = "lower"
    bounded = (0.0, 1.0)
    told: ClassVar[Mapping[Purpose, int]] = {"study": 7}
    told_of_two = True

    def __init__(
        self,
        *,
        pos_label: Label = None,
        n_bins: Count = 10,
        strategy: Strategy = "uniform",
        max_points: Points = None,
    ) -> None:
        super().__init__(pos_label=pos_label, n_bins=n_bins, strategy=strategy, max_points=max_points)

    def finish(self, statistic: ScoreTable) -> float:
        """Return the mean; NaN for no rows."""
        weight, right, said = self._bins(statistic)
        return float(np.abs(right - said).sum() / weight.sum()) if len(weight) else float("nan")


class MaximumCalibrationError(ExpectedCalibrationError):
    r"""The greatest distance of a bin from the diagonal, :math:`\max_b |\bar y_b - \bar p_b|`.

    >>> from surefit import metrics
    >>> round(metrics.maximum_calibration_error([0, 0, 1, 1], [0.1, 0.1, 0.9, 0.7]), 6)
    0.3
    """

    name = "maximum_calibration_error"

    def finish(self, statistic: ScoreTable) -> float:
        """Return the greatest; NaN for no rows."""
        weight, right, said = self._bins(statistic)
        return float(np.abs((right - said) / weight).max()) if len(weight) else float("nan")
