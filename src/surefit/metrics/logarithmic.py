"""Logarithmic scores of predicted probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.scores.log_score import log_score
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Metric, Purpose
from surefit.metrics.cases import Case
from surefit.metrics.confusion import LabelList
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class LogLossSum(Statistic):
    r"""W and :math:`-\sum_i s_i \log p_i`, where :math:`p_i` is the probability that was given to the true
    class.
    """

    weight: float
    loss: float

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, **context: Any) -> LogLossSum:
        """Compute it over the class codes of a batch; ``prediction`` is (n, k), or (n,) for the second of two
        classes.
        """
        chances = np.asarray(prediction)
        table = chances[:, None] if chances.ndim == 1 else chances
        # A certain error would cost infinitely much; the smallest step away from certainty bounds it.
        found = log_score(table, np.asarray(batch.y), batch.weight, float(np.finfo(table.dtype).eps))
        return cls(float(len(batch) if batch.weight is None else batch.weight.sum()), found.loss)

    def __add__(self, other: LogLossSum) -> LogLossSum:
        return LogLossSum(self.weight + other.weight, self.loss + other.loss)


class LogLoss(Metric):
    r"""The mean negative logarithm of the probability given to the true class (cross-entropy),
    :math:`-\frac{1}{W} \sum_i s_i \log p_i`; ``normalize=False`` gives the sum.

    Probabilities are (n, k) with columns in the sorted order of the labels, or (n,) for the second of two.
    They are clipped to [ε, 1 - ε], ε being the machine epsilon of their type, so that one certain error does
    not make the score infinite. ``labels`` names all classes, for rows that do not hold each of them.

    >>> from surefit import metrics
    >>> round(metrics.log_loss(["ham", "spam"], [[0.9, 0.1], [0.2, 0.8]]), 6)
    0.164252
    """

    name = "log_loss"
    words = "logarithmic loss"
    task = "probability"
    better = "lower"
    bounded = (0.0, inf)
    told: ClassVar[Mapping[Purpose, int]] = {"evaluation": 2, "study": 3, "fitted": 3}
    statistic = LogLossSum
    arguments = ("y_true", "y_proba")

    def __init__(self, *, normalize: bool = True, labels: LabelList = None) -> None:
        self.normalize = normalize
        self.labels = labels

    @property
    def value_range(self) -> tuple[float, float]:
        """The sum has no range of its own."""
        return self.bounded if self.normalize else (-inf, inf)

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        if not self.normalize:
            return None
        tiny = float(np.finfo(prediction.dtype).eps)
        if prediction.ndim == 1:
            given = np.where(truth == 1, prediction, 1 - prediction)
        else:
            given = prediction[np.arange(len(truth)), truth]
        return np.asarray(-np.log(np.clip(given, tiny, 1 - tiny)))

    def finish(self, statistic: LogLossSum) -> float:
        """Return the mean or the sum; the mean of no rows is NaN."""
        if not self.normalize:
            return statistic.loss
        return statistic.loss / statistic.weight if statistic.weight > 0 else float("nan")

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add the sum, and certain predictions that are wrong."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(normalize=False)
        truth, names = rng.integers(3, size=30), np.arange(3)
        yield Case(truth, np.eye(3)[rng.integers(3, size=30)], np.eye(3)[truth], {"labels": names})
