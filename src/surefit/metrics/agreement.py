"""Agreement of two columns of labels: Matthews, Cohen, error rates, costs, and what all rates are made of."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError, SurefitWarning, warn
from surefit.core.parameters import Has
from surefit.metrics.base import Better, ComparedBy, Metric
from surefit.metrics.cases import Case
from surefit.metrics.classification import Hits
from surefit.metrics.confusion import Confusion, LabelList
from surefit.metrics.labels import as_labels
from surefit.metrics.rates import (
    F1,
    Average,
    Beta,
    Label,
    OfLabels,
    Precision,
    Recall,
    ZeroDivision,
    outcomes,
)
from surefit.stats.base import Statistic

CostTable = Annotated[object, Has("__array__")] | list[Any] | tuple[Any, ...] | None


class _OfConfusion(Metric):
    task = "classification"
    better: ClassVar[Better | None] = "higher"
    statistic: ClassVar[type[Statistic]] = Confusion


class MatthewsCorrelation(_OfConfusion):
    r"""The correlation of truth and prediction,
    :math:`(TP\,TN - FP\,FN) / \sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}`.

    For several labels it is the correlation of their indicators. It is 0 when either column is constant.

    >>> from surefit import metrics
    >>> metrics.matthews_corrcoef([1, 1, 0, 0], [1, 0, 0, 0])
    0.5773502691896258
    """

    name = "matthews_corrcoef"
    words = "Matthews correlation coefficient"
    bounded = (-inf, 1.0)

    def finish(self, statistic: Confusion) -> float:
        """Return the correlation; NaN for no rows."""
        weight = statistic.table.sum()
        if weight == 0:
            return float("nan")
        share = statistic.table / weight
        true, guess = share.sum(axis=1), share.sum(axis=0)
        spread = (1 - true @ true) * (1 - guess @ guess)
        constant = max(np.count_nonzero(true > 0) == 1, np.count_nonzero(guess > 0) == 1)
        return 0.0 if constant else float((np.trace(share) - true @ guess) / np.sqrt(spread))


class CohenKappa(_OfConfusion):
    r"""Agreement beyond chance of two raters, :math:`(p_o - p_e) / (1 - p_e)`.

    weights: how much a disagreement counts: all alike (None), by the distance of the labels in their order
    ("linear") or its square. One label only makes it 0/0: ``replace_undefined_by``, with a warning.

    >>> from surefit import metrics
    >>> metrics.cohen_kappa_score(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.5
    """

    name = "cohen_kappa_score"
    words = "Cohen's kappa"
    arguments = ("y1", "y2")

    def __init__(
        self,
        *,
        labels: LabelList = None,
        weights: Literal["linear", "quadratic"] | None = None,
        replace_undefined_by: float = np.nan,
    ) -> None:
        self.labels = labels
        self.weights = weights
        self.replace_undefined_by = replace_undefined_by

    def finish(self, statistic: Confusion) -> float:
        """Return the agreement."""
        table = statistic.table
        if self.labels is not None:
            table = statistic.among(as_labels(self.labels, "labels"))
        places = np.arange(len(table))
        apart = np.abs(places[:, None] - places)
        costs = {None: (apart > 0) * 1.0, "linear": apart * 1.0, "quadratic": apart**2.0}[self.weights]
        chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), np.finfo(np.float64).tiny)
        expected = (costs * chance).sum()
        if expected == 0:
            warn(
                f"{self.name} is 0/0, because there is a single label; "
                f"it is set to {self.replace_undefined_by}.",
                SurefitWarning,
            )
            return self.replace_undefined_by
        return float(1 - (costs * table).sum() / expected)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add the weights."""
        for case in super().cases(rng):
            for weights in (None, "linear", "quadratic"):
                yield case.with_options(weights=weights)


class ZeroOneLoss(Metric):
    """The share of rows whose label was not predicted, 1 - accuracy; ``normalize=False`` gives their weight.

    >>> from surefit import metrics
    >>> metrics.zero_one_loss(["spam", "ham", "ham", "spam"], ["spam", "ham", "spam", "spam"])
    0.25
    """

    name = "zero_one_loss"
    words = "zero-one loss"
    task = "classification"
    better = "lower"
    bounded = (0.0, 1.0)
    zero_or_one = True
    compared_by: ClassVar[ComparedBy] = "mcnemar"
    statistic = Hits

    def __init__(self, *, normalize: bool = True) -> None:
        self.normalize = normalize

    @property
    def value_range(self) -> tuple[float, float]:
        """A weight of rows has no range of its own."""
        return self.bounded if self.normalize else (-inf, inf)

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return np.asarray(truth != prediction) if self.normalize else None

    def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return self._row_values(truth, prediction)

    def finish(self, statistic: Hits) -> float:
        """Return the share or the weight; the share of no rows is NaN."""
        wrong = statistic.weight - statistic.right
        if not self.normalize:
            return wrong
        return wrong / statistic.weight if statistic.weight > 0 else float("nan")

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add counting."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(normalize=False)


class HammingLoss(ZeroOneLoss):
    """The share of wrong labels, which for one label a row is the zero-one loss.

    >>> from surefit import metrics
    >>> metrics.hamming_loss([1, 2, 3, 4], [2, 2, 3, 4])
    0.25
    """

    name = "hamming_loss"
    words = "Hamming loss"
    normalize = True
    compared_by = "paired_t"

    def __init__(self) -> None:
        pass

    def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return None

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Without options."""
        return Metric.cases.__func__(cls, rng)  # type: ignore[attr-defined]


class MisclassificationCost(_OfConfusion):
    r"""The cost-weighted risk, :math:`\frac{1}{W} \sum_i s_i C(y_i, \hat y_i)`.

    costs: what predicting the label of a column costs when that of the row is true, in the order of
    ``labels``; without it every error costs 1, which makes it the 0-1 risk, 1 - accuracy.

    >>> from surefit import metrics
    >>> metrics.misclassification_cost([0, 0, 1, 1], [0, 1, 1, 0], costs=[[0, 1], [5, 0]])
    1.5
    """

    name = "misclassification_cost"
    better: ClassVar[Better | None] = "lower"
    bounded = (0.0, inf)

    def __init__(self, *, costs: CostTable = None, labels: LabelList = None) -> None:
        self.costs = costs
        self.labels = labels

    def finish(self, statistic: Confusion) -> float:
        """Return the mean cost; NaN for no rows."""
        weight = statistic.table.sum()
        if weight == 0:
            return float("nan")
        if self.costs is None:
            return float(1 - np.trace(statistic.table) / weight)
        wanted = statistic.labels if self.labels is None else as_labels(self.labels, "labels")
        costs = np.asarray(self.costs, dtype=np.float64)
        if costs.shape != (len(wanted), len(wanted)) or not np.isfinite(costs).all():
            raise ParameterError(
                f"{self.name}: costs has shape {costs.shape}; it must hold a finite number for each pair of "
                f"the {len(wanted)} labels; name all labels as labels=."
            )
        strange = statistic.labels[~np.isin(statistic.labels, wanted)]
        if len(strange):
            raise DataError(
                f"{self.name}: the label {strange[0]} is not among labels=; add it, with its costs."
            )
        return float((costs * statistic.among(wanted)).sum() / weight)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add costs."""
        for case in super().cases(rng):
            names = np.unique(case.truth)
            costs = rng.uniform(1, 3, size=(len(names), len(names))) * (1 - np.eye(len(names)))
            yield case
            yield case.with_options(costs=costs, labels=names)


class PrecisionRecallFScore(OfLabels):
    """Precision, recall, F and the weight of the true rows of each label, or their averages and None.

    >>> from surefit import metrics
    >>> metrics.precision_recall_fscore_support([1, 1, 0, 0], [1, 0, 1, 1], average="binary")
    (0.3333333333333333, 0.5, 0.4, None)
    """

    name = "precision_recall_fscore_support"
    better: ClassVar[Better | None] = None

    def __init__(
        self,
        *,
        beta: Beta = 1.0,
        labels: LabelList = None,
        pos_label: Label = 1,
        average: Average = None,
        zero_division: ZeroDivision = "warn",
    ) -> None:
        super().__init__(labels=labels, pos_label=pos_label, average=average, zero_division=zero_division)
        self.beta = beta

    def finish(self, statistic: Confusion) -> Any:
        """Return the three rates and the support."""
        rates = []
        for kind in (Precision, Recall, F1):
            rate = kind(**{name: value for name, value in self.options.items() if name != "beta"})
            rate.beta = self.beta
            rates.append(rate.finish(statistic))
        counts = self._counts(statistic)
        support = counts.tp + counts.fn
        whole = support.astype(np.int64) if statistic.counted else support
        return (*rates, whole if self.average is None else None)


class MultilabelConfusion(_OfConfusion):
    """For each label against the rest [[TN, FP], [FN, TP]], stacked.

    >>> from surefit import metrics
    >>> metrics.multilabel_confusion_matrix(["a", "b", "b"], ["a", "b", "a"])[0]
    array([[1, 1],
           [0, 1]])
    """

    name = "multilabel_confusion_matrix"
    better: ClassVar[Better | None] = None

    def __init__(self, *, labels: LabelList = None) -> None:
        self.labels = labels

    def finish(self, statistic: Confusion) -> NDArray[Any]:
        """Return one table a label."""
        counts = outcomes(statistic, None if self.labels is None else as_labels(self.labels, "labels"))
        tables = np.array([[counts.tn, counts.fp], [counts.fn, counts.tp]]).transpose(2, 0, 1)
        return tables.astype(np.int64) if statistic.counted else tables


class LikelihoodRatios(_OfConfusion):
    """How a positive and a negative prediction change the odds: LR+ = TPR / FPR and LR- = FNR / TNR.

    The greater of two labels is the positive one. A ratio of something to 0 is NaN.

    >>> from surefit import metrics
    >>> metrics.class_likelihood_ratios([0, 1, 0, 1, 0], [1, 1, 0, 0, 0])
    (1.5, 0.75)
    """

    name = "class_likelihood_ratios"
    better: ClassVar[Better | None] = None

    def finish(self, statistic: Confusion) -> tuple[float, float]:
        """Return the two ratios."""
        if len(statistic.labels) > 2:
            raise DataError(
                f"{self.name}: there are {len(statistic.labels)} labels; the ratios exist for two."
            )
        counts = outcomes(statistic, statistic.labels[-1:])
        (tp,), (fp,), (fn,), (tn,) = counts.tp, counts.fp, counts.fn, counts.tn
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.array([tp * (tn + fp), fn * (tn + fp)]) / np.array([fp * (tp + fn), tn * (tp + fn)])
        ratios[~np.isfinite(ratios)] = np.nan
        return float(ratios[0]), float(ratios[1])

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Two labels."""
        return (case for case in super().cases(rng) if len(np.unique(case.truth)) == 2)
