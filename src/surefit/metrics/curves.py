"""Curves over thresholds: ROC, precision against recall, detection error, gains and lift."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, SurefitWarning, warn
from surefit.core.parameters import Count
from surefit.metrics.base import Better, Metric
from surefit.metrics.cases import Case
from surefit.metrics.rates import Label
from surefit.metrics.score_table import ScoreTable
from surefit.stats.base import Statistic

Points = Count | None
Curve = tuple[Vector, Vector, Vector]


class ThresholdMetric(Metric):
    """What is read off the counts at each threshold: a row is positive when its score is not below it.

    pos_label: the positive label; by default the greater of the two. max_points: keep at most so many
    thresholds of a table too long for the memory; the points are then fewer, and each still exact.
    """

    task = "score"
    better: ClassVar[Better | None] = None
    statistic: ClassVar[type[Statistic]] = ScoreTable
    arguments = ("y_true", "y_score")

    def __init__(self, *, pos_label: Label = None, max_points: Points = None) -> None:
        self.pos_label = pos_label
        self.max_points = max_points

    pos_label: Any
    max_points: Any

    @property
    def context(self) -> dict[str, Any]:
        """How long the table may be."""
        return {"max_points": self.max_points}

    def _counts(self, table: ScoreTable) -> Curve:
        """False positives, true positives and threshold, from the highest threshold down."""
        positive, negative = table.sides(self.name, self.pos_label)
        alarms, hits = (np.cumsum(part[::-1]) for part in (negative, positive))
        return alarms, hits, table.score[::-1].astype(np.float64)

    def _both(self, alarms: Vector, hits: Vector) -> None:
        if len(hits) == 0 or hits[-1] == 0 or alarms[-1] == 0:
            raise DataError(
                f"{self.name}: y_true holds one label only, so there is no curve; give rows of both classes."
            )

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """One column of scores, and a choice of the positive label."""
        for case in super().cases(rng):
            if case.prediction.ndim == 1:
                yield case
                lower = {"pos_label": np.unique(case.truth)[0]}
                yield Case(case.truth, -case.prediction, -case.perfect, {**case.options, **lower})


def _share(part: Vector, what: str, name: str) -> Vector:
    """Divide by the last entry; without one the rate does not exist."""
    if len(part) and part[-1] > 0:
        return part / part[-1]
    warn(f"{name}: y_true has no {what} row, so that rate is NaN.", SurefitWarning)
    return np.full(len(part), np.nan)


class RocCurve(ThresholdMetric):
    """False positive rate, true positive rate and thresholds, from (0, 0) at an infinite threshold to (1, 1).

    drop_intermediate: leave out thresholds on a straight line between others.

    >>> from surefit import metrics
    >>> fpr, tpr, thresholds = metrics.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """

    name = "roc_curve"
    words = "ROC curve"

    def __init__(
        self, *, pos_label: Label = None, drop_intermediate: bool = True, max_points: Points = None
    ) -> None:
        self.pos_label = pos_label
        self.drop_intermediate = drop_intermediate
        self.max_points = max_points

    def finish(self, statistic: ScoreTable) -> Curve:
        """Return the three columns."""
        alarms, hits, thresholds = self._counts(statistic)
        if self.drop_intermediate and len(hits) > 2:
            bent = (np.diff(alarms, 2) != 0) | (np.diff(hits, 2) != 0)
            kept = np.r_[True, bent, True]
            alarms, hits, thresholds = alarms[kept], hits[kept], thresholds[kept]
        fpr = _share(np.r_[0.0, alarms], "negative", self.name)
        return fpr, _share(np.r_[0.0, hits], "positive", self.name), np.r_[np.inf, thresholds]


def _level_ends(hits: Vector) -> NDArray[np.bool_]:
    """The first and the last of neighbours with the same hits."""
    return np.r_[True, (np.diff(hits[:-1]) != 0) | (np.diff(hits[1:]) != 0), True]


class PrecisionRecallCurve(ThresholdMetric):
    """Precision, recall and thresholds, from the lowest threshold up, and at last (1, 0) without a threshold.

    >>> from surefit import metrics
    >>> precision, recall, thresholds = metrics.precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> recall
    array([1. , 1. , 0.5, 0.5, 0. ])
    """

    name = "precision_recall_curve"

    def __init__(
        self, *, pos_label: Label = None, drop_intermediate: bool = False, max_points: Points = None
    ) -> None:
        self.pos_label = pos_label
        self.drop_intermediate = drop_intermediate
        self.max_points = max_points

    def finish(self, statistic: ScoreTable) -> Curve:
        """Return the three columns; without positive rows recall is 1."""
        alarms, hits, thresholds = self._counts(statistic)
        if self.drop_intermediate and len(hits) > 2:
            kept = _level_ends(hits)
            alarms, hits, thresholds = alarms[kept], hits[kept], thresholds[kept]
        precision = hits / (hits + alarms)
        if len(hits) and hits[-1] > 0:
            recall = hits / hits[-1]
        else:
            warn(f"{self.name}: y_true has no positive row, so recall is set to 1.", SurefitWarning)
            recall = np.ones(len(hits))
        return np.r_[precision[::-1], 1.0], np.r_[recall[::-1], 0.0], thresholds[::-1]


class DetCurve(ThresholdMetric):
    """False positive rate, false negative rate and thresholds, from the lowest useful threshold up.

    >>> from surefit import metrics
    >>> fpr, fnr, thresholds = metrics.det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, fnr
    (array([0.5, 0.5, 0. ]), array([0. , 0.5, 0.5]))
    """

    name = "det_curve"
    words = "DET curve"

    def __init__(
        self, *, pos_label: Label = None, drop_intermediate: bool = False, max_points: Points = None
    ) -> None:
        self.pos_label = pos_label
        self.drop_intermediate = drop_intermediate
        self.max_points = max_points

    def finish(self, statistic: ScoreTable) -> Curve:
        """Return the three columns."""
        alarms, hits, thresholds = self._counts(statistic)
        self._both(alarms, hits)
        alarms, hits, thresholds = np.r_[0.0, alarms], np.r_[0.0, hits], np.r_[np.inf, thresholds]
        if self.drop_intermediate and len(hits) > 2:
            kept = _level_ends(hits)
            alarms, hits, thresholds = alarms[kept], hits[kept], thresholds[kept]
        first = np.searchsorted(alarms, 0.0, side="right") - 1
        useful = slice(first, np.searchsorted(hits, hits[-1]) + 1)
        fpr, fnr = alarms[useful] / alarms[-1], (hits[-1] - hits[useful]) / hits[-1]
        return fpr[::-1], fnr[::-1], thresholds[useful][::-1]


class GainsCurve(ThresholdMetric):
    """The share of all rows that are taken, best score first, the share of the positive ones among them, and
    the threshold.

    >>> from surefit import metrics
    >>> taken, gained, thresholds = metrics.cumulative_gains_curve([0, 1, 0, 1], [0.1, 0.7, 0.4, 0.9])
    >>> taken, gained
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0. , 0.5, 1. , 1. , 1. ]))
    """

    name = "cumulative_gains_curve"

    def finish(self, statistic: ScoreTable) -> Curve:
        """Return the three columns."""
        alarms, hits, thresholds = self._counts(statistic)
        taken = _share(np.r_[0.0, alarms + hits], "single", self.name)
        return taken, _share(np.r_[0.0, hits], "positive", self.name), np.r_[np.inf, thresholds]


class LiftCurve(ThresholdMetric):
    """The share of all rows that are taken, best score first, how many times as many positive rows are among
    them as among as many rows drawn at random, and the threshold.

    >>> from surefit import metrics
    >>> taken, lift, thresholds = metrics.lift_curve([0, 1, 0, 1], [0.1, 0.7, 0.4, 0.9])
    >>> lift
    array([2.        , 2.        , 1.33333333, 1.        ])
    """

    name = "lift_curve"

    def finish(self, statistic: ScoreTable) -> Curve:
        """Return the three columns."""
        alarms, hits, thresholds = self._counts(statistic)
        taken = _share(alarms + hits, "single", self.name)
        return taken, _share(hits, "positive", self.name) / taken, thresholds


class EqualErrorRate(ThresholdMetric):
    """The rate at which false positives and false negatives are equally frequent, between thresholds by line.

    The crossing of FPR and FNR, read off the straight line between the two neighbouring points of the ROC
    curve where there is no threshold with both equal.

    >>> from surefit import metrics
    >>> metrics.equal_error_rate([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    0.3333333333333333
    """

    name = "equal_error_rate"
    better: ClassVar[Better | None] = "lower"
    bounded = (0.0, 1.0)

    def finish(self, statistic: ScoreTable) -> float:
        """Return the rate."""
        alarms, hits, _ = self._counts(statistic)
        self._both(alarms, hits)
        fpr, fnr = np.r_[0.0, alarms / alarms[-1]], np.r_[1.0, 1 - hits / hits[-1]]
        after = int(np.argmax(fpr >= fnr))  # the first is 0 against 1, so there is one before
        gap, step = fnr[after - 1] - fpr[after - 1], fpr[after] - fnr[after]
        share = gap / (gap + step)
        return float(fpr[after - 1] + share * (fpr[after] - fpr[after - 1]))


class KolmogorovSmirnov(ThresholdMetric):
    r"""How far apart the scores of the two classes lie: the greatest :math:`|TPR - FPR|` over thresholds.

    >>> from surefit import metrics
    >>> metrics.ks_statistic([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """

    name = "ks_statistic"
    words = "Kolmogorov-Smirnov statistic"
    better: ClassVar[Better | None] = "higher"
    bounded = (0.0, 1.0)

    def finish(self, statistic: ScoreTable) -> float:
        """Return the distance."""
        alarms, hits, _ = self._counts(statistic)
        self._both(alarms, hits)
        return float(np.abs(hits / hits[-1] - alarms / alarms[-1]).max())


class CostThreshold(ThresholdMetric):
    r"""The threshold of least cost, :math:`c_{FP} FP + c_{FN} FN`, and the cost a row at it.

    Infinite where it is best to call nothing positive. For probabilities that are right it approaches
    :math:`c_{FP} / (c_{FP} + c_{FN})`. The highest of equally good thresholds is taken.

    >>> from surefit import metrics
    >>> metrics.cost_optimal_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], false_negative_cost=3.0)
    (0.35, 0.25)
    """

    name = "cost_optimal_threshold"

    def __init__(
        self,
        *,
        false_positive_cost: float = 1.0,
        false_negative_cost: float = 1.0,
        pos_label: Label = None,
        max_points: Points = None,
    ) -> None:
        self.false_positive_cost = false_positive_cost
        self.false_negative_cost = false_negative_cost
        self.pos_label = pos_label
        self.max_points = max_points

    def finish(self, statistic: ScoreTable) -> tuple[float, float]:
        """Return the threshold and the mean cost."""
        alarms, hits, thresholds = (
            np.r_[start, part]
            for start, part in zip((0.0, 0.0, np.inf), self._counts(statistic), strict=True)
        )
        weight = alarms[-1] + hits[-1]
        costs = self.false_positive_cost * alarms + self.false_negative_cost * (hits[-1] - hits)
        best = int(np.argmin(costs))
        return float(thresholds[best]), float(costs[best] / weight) if weight > 0 else float("nan")
