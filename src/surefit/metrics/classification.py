"""Right or wrong: accuracy, over all rows or class by class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.metrics.base import Metric, Purpose
from surefit.metrics.cases import Case
from surefit.metrics.labels import Labels, encode, unite
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class Hits(Statistic):
    """The weight of all rows, and of those whose label was predicted."""

    weight: float
    right: float

    @classmethod
    def of(
        cls, batch: Batch, *, prediction: Any = None, classes: Labels | None = None, **context: Any
    ) -> Hits:
        """Compare the labels of a batch with what was predicted."""
        right = _decoded(batch, classes) == np.asarray(prediction)
        if batch.weight is None:
            return cls(float(len(batch)), float(np.count_nonzero(right)))
        return cls(float(batch.weight.sum()), float(batch.weight[right].sum()))

    def __add__(self, other: Hits) -> Hits:
        return Hits(self.weight + other.weight, self.right + other.right)


class Accuracy(Metric):
    """The share of rows whose label was predicted; ``normalize=False`` gives their weight instead.

    >>> from surefit import metrics
    >>> metrics.accuracy_score(["spam", "ham", "ham", "spam"], ["spam", "ham", "spam", "spam"])
    0.75
    """

    name = "accuracy_score"
    task = "classification"
    better = "higher"
    bounded = (0.0, 1.0)
    zero_or_one = True
    compared_by = "mcnemar"
    told: ClassVar[Mapping[Purpose, int]] = {"evaluation": 1, "study": 1, "fitted": 1}
    statistic = Hits

    def __init__(self, *, normalize: bool = True) -> None:
        self.normalize = normalize

    @property
    def value_range(self) -> tuple[float, float]:
        """A weight of rows has no range of its own."""
        return self.bounded if self.normalize else (-inf, inf)

    def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return np.asarray(truth == prediction) if self.normalize else None

    def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
        return np.asarray(truth != prediction) if self.normalize else None

    def finish(self, statistic: Hits) -> float:
        """Return the share or the weight; the share of no rows is NaN."""
        if not self.normalize:
            return statistic.right
        return statistic.right / statistic.weight if statistic.weight > 0 else float("nan")

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add counting."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(normalize=False)


@dataclass(frozen=True, slots=True)
class ClassHits(Statistic):
    """For each true label: the weight of its rows, and of those that were predicted right."""

    labels: Labels
    weight: NDArray[np.float64]
    right: NDArray[np.float64]

    @classmethod
    def of(
        cls, batch: Batch, *, prediction: Any = None, classes: Labels | None = None, **context: Any
    ) -> ClassHits:
        """Compare the labels of a batch with what was predicted."""
        truth = _decoded(batch, classes)
        labels, codes = encode(truth) if classes is None else (classes, np.asarray(batch.y))
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        right = weight * (truth == np.asarray(prediction))
        return cls(labels, _sums(codes, weight, len(labels)), _sums(codes, right, len(labels)))

    def __add__(self, other: ClassHits) -> ClassHits:
        labels, mine, others = unite(self.labels, other.labels)
        weight, right = np.zeros(len(labels)), np.zeros(len(labels))
        weight[mine] += self.weight
        weight[others] += other.weight
        right[mine] += self.right
        right[others] += other.right
        return ClassHits(labels, weight, right)


class BalancedAccuracy(Metric):
    r"""The mean over the true classes of the share that was predicted right,
    :math:`\frac{1}{K} \sum_k \mathrm{recall}_k`.

    It equals accuracy when all classes have the same weight. Classes without a true row have no recall and
    are left out. ``adjusted=True`` moves guessing to 0 and keeps 1: :math:`(b - 1/K) / (1 - 1/K)`; with one
    class guessing is perfect, and the adjusted score is NaN.

    >>> from surefit import metrics
    >>> metrics.balanced_accuracy_score([1, 1, 1, 0], [1, 1, 1, 1])
    0.5
    """

    name = "balanced_accuracy_score"
    task = "classification"
    better = "higher"
    bounded = (0.0, 1.0)
    told: ClassVar[Mapping[Purpose, int]] = {"study": 2, "fitted": 2}
    statistic = ClassHits

    def __init__(self, *, adjusted: bool = False) -> None:
        self.adjusted = adjusted

    @property
    def value_range(self) -> tuple[float, float]:
        """Worse than guessing is below 0 when adjusted, with two classes as far as -1."""
        return (-1.0, 1.0) if self.adjusted else self.bounded

    def finish(self, statistic: ClassHits) -> float:
        """Return the mean recall; NaN for no rows."""
        present = statistic.weight > 0
        count = int(np.count_nonzero(present))
        if count == 0 or (self.adjusted and count == 1):
            return float("nan")
        score = float(np.mean(statistic.right[present] / statistic.weight[present]))
        return (score - 1 / count) / (1 - 1 / count) if self.adjusted else score

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add the adjusted score."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(adjusted=True)


def _sums(codes: NDArray[np.int64], weight: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.bincount(codes, weight, size).astype(np.float64, copy=False)


def _decoded(batch: Batch, classes: Labels | None) -> Labels:
    return np.asarray(batch.y) if classes is None else classes[batch.y]
