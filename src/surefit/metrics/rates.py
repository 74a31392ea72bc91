"""Rates of right and wrong for each label: precision, recall, specificity, F, Jaccard, and their averages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError, SurefitWarning, warn
from surefit.core.parameters import Has, Interval
from surefit.metrics.base import Better, Metric, Share
from surefit.metrics.cases import Case
from surefit.metrics.confusion import Confusion, LabelList
from surefit.metrics.labels import Labels, as_labels
from surefit.stats.base import Statistic

Label = int | float | str | bool | Annotated[object, Has("dtype")] | None
Average = Literal["binary", "micro", "macro", "weighted"] | None
ZeroDivision = Literal["warn"] | int | float
Beta = Annotated[float, Interval(0, None)]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """For each label against the rest: true and false positives, false and true negatives."""

    tp: Vector
    fp: Vector
    fn: Vector
    tn: Vector

    def pooled(self) -> Outcomes:
        """The sums over labels, as one label."""
        return Outcomes(*(np.atleast_1d(part.sum()) for part in (self.tp, self.fp, self.fn, self.tn)))


def outcomes(confusion: Confusion, wanted: Labels | None) -> Outcomes:
    """The outcomes of each label, or of those wanted, in their order."""
    table = confusion.table
    hits, true, predicted = np.diagonal(table), table.sum(axis=1), table.sum(axis=0)
    counts = Outcomes(hits, predicted - hits, true - hits, table.sum() - true - predicted + hits)
    if wanted is None:
        return counts
    found = np.isin(wanted, confusion.labels)
    places = np.searchsorted(confusion.labels, wanted[found])
    none = np.zeros(len(wanted))
    absent = Outcomes(none.copy(), none.copy(), none.copy(), none + table.sum())
    for name in ("tp", "fp", "fn", "tn"):
        getattr(absent, name)[found] = getattr(counts, name)[places]
    return absent


class OfLabels(Metric):
    """What the metrics of each label's counts share, and how labels are averaged.

    average: "binary" is the rate of ``pos_label``; "micro" adds up the counts of all labels first; "macro" is
    the mean over labels, "weighted" that by the weight of their true rows; None gives each label's. labels:
    which ones, in which order; all by default. zero_division: the value of 0/0, 0 with a warning by default;
    NaN leaves the label out of the average.
    """

    task = "classification"
    better: ClassVar[Better | None] = "higher"
    statistic: ClassVar[type[Statistic]] = Confusion

    def __init__(
        self,
        *,
        labels: LabelList = None,
        pos_label: Label = 1,
        average: Average = "binary",
        zero_division: ZeroDivision = "warn",
    ) -> None:
        self.labels = labels
        self.pos_label = pos_label
        self.average = average
        self.zero_division = zero_division

    def _counts(self, confusion: Confusion) -> Outcomes:
        wanted = None if self.labels is None else as_labels(self.labels, "labels")
        if self.average == "binary":
            wanted = self._positive(confusion.labels)
        return outcomes(confusion, wanted)

    def _positive(self, present: Labels) -> Labels:
        names = ", ".join(map(str, present[:10]))
        if len(present) > 2:
            raise DataError(
                f"{self.name}: there are {len(present)} labels ({names}), so average='binary' is not "
                "defined; choose 'micro', 'macro', 'weighted' or None."
            )
        if len(present) == 2 and self.pos_label not in present.tolist():
            raise DataError(
                f"{self.name}: pos_label={self.pos_label!r} is neither of the labels {names}; pass one."
            )
        return np.array([self.pos_label])

    def _divided(self, numerator: Vector, denominator: Vector) -> Vector:
        empty = denominator == 0
        if self.zero_division not in ("warn", 0, 1) and not np.isnan(self.zero_division):
            raise ParameterError(
                f"{self.name}: zero_division={self.zero_division!r} must be 'warn', 0, 1 or NaN."
            )
        value = 0.0 if self.zero_division == "warn" else float(self.zero_division)
        if empty.any() and self.zero_division == "warn":
            warn(
                f"{self.name} is 0/0 for {int(empty.sum())} of {len(empty)} labels and set to 0; "
                "choose the value with zero_division=.",
                SurefitWarning,
            )
        return np.divide(numerator, denominator, out=np.full(len(empty), value), where=~empty)

    def _averaged(self, rates: Vector, support: Vector) -> float | NDArray[np.float64]:
        if self.average is None:
            return rates
        weights = support if self.average == "weighted" else np.ones(len(rates))
        kept = ~np.isnan(rates)
        if not kept.any():
            return float("nan")
        weights = weights[kept] if weights[kept].any() else np.ones(int(kept.sum()))
        return float(np.average(rates[kept], weights=weights))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add the averages."""
        for case in super().cases(rng):
            names = np.unique(case.truth)
            if len(names) == 2:
                yield case
                yield case.with_options(pos_label=names[0])
            for average in ("micro", "macro", "weighted", None):
                yield case.with_options(average=average)
            yield case.with_options(average="macro", labels=names[::-1][:2])


class Counted(NamedTuple):
    """A rate as a share of rows: of those whose truth or prediction is the label or not, the ones predicted
    right or wrong.
    """

    chosen_by: Literal["truth", "prediction"]
    positive: bool
    right: bool


class Rate(OfLabels):
    """A ratio for each label, and its average over labels."""

    beta: float = 1.0
    bounded = (0.0, 1.0)
    counted: ClassVar[Counted | None] = None

    @abstractmethod
    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        """Numerator and denominator of the rate."""

    def share(self, y_true: Any, y_pred: Any) -> Share | None:
        """Return the rows that the rate of one label is a share of, and its hits; None for averages."""
        if self.counted is None or self.average != "binary":
            return None
        truth, guess = (
            as_labels(*column) == self.pos_label for column in ((y_true, "y_true"), (y_pred, "y_pred"))
        )
        among = truth if self.counted.chosen_by == "truth" else guess
        return Share(among == self.counted.positive, (truth == guess) == self.counted.right)

    def finish(self, statistic: Confusion) -> float | NDArray[np.float64]:
        """Return the rate; that of no rows is 0/0."""
        counts = self._counts(statistic)
        rates = self._divided(*self._ratio(counts.pooled() if self.average == "micro" else counts))
        return self._averaged(rates, counts.tp + counts.fn)


class Precision(Rate):
    r"""The share of the rows predicted as a label that have it, :math:`TP / (TP + FP)`.

    >>> from surefit import metrics
    >>> metrics.precision_score([1, 1, 0, 0], [1, 0, 1, 1])
    0.3333333333333333
    """

    name = "precision_score"
    counted = Counted("prediction", positive=True, right=True)

    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        return counts.tp, counts.tp + counts.fp


class Recall(Rate):
    r"""The share of the rows with a label that are predicted so, :math:`TP / (TP + FN)`: sensitivity, TPR.

    >>> from surefit import metrics
    >>> metrics.recall_score([1, 1, 0, 0], [1, 0, 1, 1])
    0.5
    """

    name = "recall_score"
    counted = Counted("truth", positive=True, right=True)

    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        return counts.tp, counts.tp + counts.fn


class Specificity(Rate):
    r"""The share of the rows without a label that are predicted so, :math:`TN / (TN + FP)`: TNR.

    >>> from surefit import metrics
    >>> metrics.specificity_score([1, 0, 0, 0], [1, 0, 0, 1])
    0.6666666666666666
    """

    name = "specificity_score"
    counted = Counted("truth", positive=False, right=True)

    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        return counts.tn, counts.tn + counts.fp


class NegativePredictiveValue(Rate):
    r"""The share of the rows not predicted as a label that lack it, :math:`TN / (TN + FN)`.

    >>> from surefit import metrics
    >>> metrics.negative_predictive_value([1, 1, 0, 0], [1, 0, 0, 0])
    0.6666666666666666
    """

    name = "negative_predictive_value"
    counted = Counted("prediction", positive=False, right=True)

    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        return counts.tn, counts.tn + counts.fn


class FalsePositiveRate(Rate):
    r"""The share of the rows without a label that are predicted to have it, :math:`FP / (FP + TN)`: fall-out.

    >>> from surefit import metrics
    >>> metrics.false_positive_rate([1, 0, 0, 0, 0], [1, 0, 0, 0, 1])
    0.25
    """

    name = "false_positive_rate"
    counted = Counted("truth", positive=False, right=False)
    better: ClassVar[Better | None] = "lower"

    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        return counts.fp, counts.fp + counts.tn


class FalseNegativeRate(Rate):
    r"""The share of the rows with a label that are predicted to lack it, :math:`FN / (FN + TP)`: misses.

    >>> from surefit import metrics
    >>> metrics.false_negative_rate([1, 1, 0, 0], [1, 0, 1, 1])
    0.5
    """

    name = "false_negative_rate"
    counted = Counted("truth", positive=True, right=False)
    better: ClassVar[Better | None] = "lower"

    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        return counts.fn, counts.fn + counts.tp


class FalseDiscoveryRate(Rate):
    r"""The share of the rows predicted as a label that lack it, :math:`FP / (FP + TP)`.

    >>> from surefit import metrics
    >>> metrics.false_discovery_rate([1, 1, 0, 0], [1, 1, 1, 1])
    0.5
    """

    name = "false_discovery_rate"
    counted = Counted("prediction", positive=True, right=False)
    better: ClassVar[Better | None] = "lower"

    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        return counts.fp, counts.fp + counts.tp


class Jaccard(Rate):
    r"""Rows with a label and predicted so, among those with either, :math:`TP / (TP + FP + FN)`.

    >>> from surefit import metrics
    >>> metrics.jaccard_score([1, 1, 0, 0], [1, 0, 1, 0])
    0.3333333333333333
    """

    name = "jaccard_score"
    words = "Jaccard index"

    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        return counts.tp, counts.tp + counts.fp + counts.fn


class F1(Rate):
    r"""The harmonic mean of precision and recall, :math:`2 TP / (2 TP + FP + FN)`.

    >>> from surefit import metrics
    >>> metrics.f1_score([1, 1, 0, 0], [1, 0, 1, 1])
    0.4
    """

    name = "f1_score"
    words = "F1 score"

    def _ratio(self, counts: Outcomes) -> tuple[Vector, Vector]:
        square = self.beta**2
        if np.isinf(square):
            return counts.tp, counts.tp + counts.fn
        return (1 + square) * counts.tp, (1 + square) * counts.tp + counts.fp + square * counts.fn


class FBeta(F1):
    r"""The weighted harmonic mean of precision and recall, recall counting :math:`\beta^2` times as much.

    >>> from surefit import metrics
    >>> round(metrics.fbeta_score([1, 1, 0, 0], [1, 0, 1, 1], beta=2.0), 6)
    0.454545
    """

    name = "fbeta_score"
    words = "F-beta score"

    def __init__(
        self,
        *,
        beta: Beta = 1.0,
        labels: LabelList = None,
        pos_label: Label = 1,
        average: Average = "binary",
        zero_division: ZeroDivision = "warn",
    ) -> None:
        super().__init__(labels=labels, pos_label=pos_label, average=average, zero_division=zero_division)
        self.beta = beta

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add another beta."""
        for case in super().cases(rng):
            yield case.with_options(beta=2.0)
