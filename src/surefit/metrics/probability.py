"""Scores of class probabilities and decisions: Brier, hinge, top-k, and the shares that a model explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.parameters import Count
from surefit.data.batches.batch import Batch
from surefit.metrics import door
from surefit.metrics.absolute import saved
from surefit.metrics.base import Better, Metric, Purpose
from surefit.metrics.cases import Case
from surefit.metrics.confusion import LabelList
from surefit.metrics.labels import Labels
from surefit.metrics.logarithmic import LogLossSum
from surefit.metrics.rates import Label
from surefit.metrics.sums import RowMean, RowMeanMetric
from surefit.stats.base import Statistic


def _squares(codes: NDArray[Any], chances: NDArray[Any]) -> NDArray[np.float64]:
    """The squared distance of each row's probabilities from its class, as if all columns were given."""
    if chances.ndim == 1:
        return np.asarray(2 * np.square(np.where(codes == 1, 1 - chances, chances), dtype=np.float64))
    given = chances[np.arange(len(codes)), codes].astype(np.float64)
    squares = np.einsum("ij,ij->i", chances, chances, dtype=np.float64)
    return np.asarray(squares - given * given + np.square(1 - given))


class BrierScore(RowMeanMetric):
    r"""The mean squared distance of the probabilities from the truth,
    :math:`\frac{1}{W} \sum_i s_i \sum_k (1[y_i = k] - p_{ik})^2`.

    For two classes the half of it, the squared error of one probability, unless ``scale_by_half`` says
    otherwise. One column holds the probability of ``pos_label``, by default the greater label.

    >>> from surefit import metrics
    >>> metrics.brier_score_loss([0, 1, 1, 0], [0.0, 1.0, 0.5, 0.0])
    0.0625
    """

    name = "brier_score_loss"
    words = "Brier score"
    task = "probability"
    better: ClassVar[Better | None] = "lower"
    bounded = (0.0, inf)
    told: ClassVar[Mapping[Purpose, int]] = {"study": 4}
    arguments = ("y_true", "y_proba")

    def __init__(
        self,
        *,
        pos_label: Label = None,
        labels: LabelList = None,
        scale_by_half: Literal["auto"] | bool = "auto",
    ) -> None:
        self.pos_label = pos_label
        self.labels = labels
        self.scale_by_half = scale_by_half

    def _admit(self, y_true: Any, y_pred: Any) -> door.Pair:
        return positive_first(super()._admit(y_true, y_pred), self.pos_label)

    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        few = prediction.ndim == 1 or prediction.shape[1] < 3
        half = few if self.scale_by_half == "auto" else self.scale_by_half
        return _squares(truth, prediction) / (2 if half else 1)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add the other scale."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(scale_by_half=case.prediction.ndim == 2)


def positive_first(pair: door.Pair, positive: Any) -> door.Pair:
    """Turn one column around where it is the probability of the first class."""
    if positive is None or pair.classes is None or pair.prediction.ndim != 1 or positive != pair.classes[0]:
        return pair
    return pair._replace(prediction=1 - pair.prediction)


@dataclass(frozen=True, slots=True)
class AgainstShares(Statistic):
    """The loss of the probabilities, and the weight of each class, whose shares are the guess to beat."""

    rows: int
    loss: float
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        prediction: Any = None,
        classes: Labels | None = None,
        loss: Any = None,
        **context: Any,
    ) -> AgainstShares:
        """Compute it over the class codes of a batch."""
        size = 2 if classes is None else len(classes)
        weight = np.bincount(np.asarray(batch.y), batch.weight, size).astype(np.float64)
        return cls(len(batch), loss(batch, prediction), weight)

    def __add__(self, other: AgainstShares) -> AgainstShares:
        return AgainstShares(self.rows + other.rows, self.loss + other.loss, self.weight + other.weight)

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each class."""
        return self.weight / self.weight.sum()


def _log_sum(batch: Batch, prediction: Any) -> float:
    return LogLossSum.of(batch, prediction=prediction).loss


def _square_sum(batch: Batch, prediction: Any) -> float:
    return RowMean.of(batch, prediction=prediction, value=_squares).sum


class D2LogLoss(Metric):
    """The share of the log loss of the classes' shares that the probabilities save.

    Fewer than two rows give NaN. One class only gives 1 if the loss is 0 and 0 otherwise.

    >>> from surefit import metrics
    >>> round(metrics.d2_log_loss_score([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]), 4)
    0.763
    """

    name = "d2_log_loss_score"
    words = "D² by the logarithmic loss"
    task = "probability"
    better = "higher"
    statistic = AgainstShares
    arguments = ("y_true", "y_proba")

    def __init__(self, *, labels: LabelList = None) -> None:
        self.labels = labels

    @property
    def context(self) -> dict[str, Any]:
        """Which loss."""
        return {"loss": _log_sum}

    def finish(self, statistic: AgainstShares) -> float:
        """Return the share saved."""
        if statistic.rows < 2:
            return float("nan")
        seen = statistic.weight > 0
        step = np.finfo(np.float64).eps
        chances = np.clip(statistic.shares[seen], step, 1 - step)
        base = -float(statistic.weight[seen] @ np.log(chances))
        return float(saved(np.array([statistic.loss]), np.array([base]))[0])


class D2Brier(D2LogLoss):
    """The share of the Brier score of the classes' shares that the probabilities save; NaN below two rows.

    One class only gives 1 if the score is 0 and 0 otherwise.

    >>> from surefit import metrics
    >>> round(metrics.d2_brier_score([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]), 4)
    0.9
    """

    name = "d2_brier_score"
    words = "D² by the Brier score"

    def __init__(self, *, pos_label: Label = None, labels: LabelList = None) -> None:
        self.pos_label = pos_label
        self.labels = labels

    @property
    def context(self) -> dict[str, Any]:
        """Which loss."""
        return {"loss": _square_sum}

    def _admit(self, y_true: Any, y_pred: Any) -> door.Pair:
        return positive_first(super()._admit(y_true, y_pred), self.pos_label)

    def finish(self, statistic: AgainstShares) -> float:
        """Return the share saved."""
        if statistic.rows < 2:
            return float("nan")
        base = float(statistic.weight @ (1 - statistic.shares))
        return float(saved(np.array([statistic.loss]), np.array([base]))[0])


class _OfClassScores(RowMeanMetric):
    task = "score"
    labels: Any

    def _admit(self, y_true: Any, y_pred: Any) -> door.Pair:
        return door.class_scores(y_true, y_pred, self.labels)


class HingeLoss(_OfClassScores):
    r"""The mean hinge loss, :math:`\max(0, 1 - y f)` with y = ±1, or for several classes
    :math:`\max(0, 1 - f_y + \max_{k \ne y} f_k)`.

    >>> from surefit import metrics
    >>> metrics.hinge_loss([-1, 1, 1], [-2.0, 0.5, 3.0], labels=[-1, 1])
    0.16666666666666666
    """

    name = "hinge_loss"
    better: ClassVar[Better | None] = "lower"
    bounded = (0.0, inf)
    arguments = ("y_true", "pred_decision")

    def __init__(self, *, labels: LabelList = None) -> None:
        self.labels = labels

    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        if prediction.ndim == 1:
            return np.maximum(1 - np.where(truth == 1, prediction, -prediction), 0)
        rows = np.arange(len(truth))
        others = prediction.copy()
        others[rows, truth] = -np.inf
        return np.maximum(1 - prediction[rows, truth] + others.max(axis=1, initial=-np.inf), 0)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Name the classes, and keep perfect decisions a margin apart."""
        for case in super().cases(rng):
            names = np.unique(case.options.get("labels", case.truth))
            perfect = 9 * (2 * case.perfect - 1 if case.truth.ndim == 2 else case.perfect)
            if case.prediction.ndim == 1:
                perfect = np.where(case.truth == names[1], 9.0, -9.0)
            yield Case(case.truth, case.prediction, perfect, {"labels": names})


class TopKAccuracy(_OfClassScores):
    """The share of rows whose label is among the k with the highest scores; ``normalize=False`` their weight.

    Of equal scores, that of the greater label goes first.

    >>> from surefit import metrics
    >>> scores = [[0.5, 0.2, 0.3], [0.3, 0.4, 0.3], [0.2, 0.4, 0.4]]
    >>> metrics.top_k_accuracy_score(["a", "b", "c"], scores, k=1)
    1.0
    """

    name = "top_k_accuracy_score"
    words = "top-k accuracy"
    better: ClassVar[Better | None] = "higher"
    bounded = (0.0, 1.0)
    zero_or_one = True
    arguments = ("y_true", "y_score")

    def __init__(self, *, k: Count = 2, normalize: bool = True, labels: LabelList = None) -> None:
        self.k = k
        self.normalize = normalize
        self.labels = labels

    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        table = np.column_stack([-prediction, prediction]) if prediction.ndim == 1 else prediction
        own = table[np.arange(len(truth)), truth][:, None]
        before = (table > own) | ((table == own) & (np.arange(table.shape[1]) > truth[:, None]))
        return before.sum(axis=1) < self.k

    @property
    def value_range(self) -> tuple[float, float]:
        """A weight of rows has no range of its own."""
        return self.bounded if self.normalize else (-inf, inf)

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return self._value(truth, prediction) if self.normalize else None

    def finish(self, statistic: RowMean) -> float:
        """Return the share or the weight; the share of no rows is NaN."""
        return statistic.mean if self.normalize else statistic.sum

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Several classes."""
        for case in super().cases(rng):
            if case.prediction.ndim == 2:
                for k in (1, 2):
                    yield case.with_options(k=k)
                yield case.with_options(normalize=False)
