"""How alike two partitions of the same rows are, whatever their parts are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.parameters import NonNegative
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Better, Metric
from surefit.metrics.cases import Case
from surefit.metrics.labels import Labels, encode, unite
from surefit.stats.base import Statistic

Mean = Literal["min", "geometric", "arithmetic", "max"]


@dataclass(frozen=True, slots=True)
class Contingency(Statistic):
    """The weight of the rows in each part of the one (row) and the other (column) partition."""

    rows: Labels
    columns: Labels
    table: Vector

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, **context: Any) -> Contingency:
        """Count the rows of a batch; those without weight are in no part."""
        truth, guess, weight = np.asarray(batch.y), np.asarray(prediction), batch.weight
        if weight is not None and not weight.all():
            truth, guess, weight = truth[weight > 0], guess[weight > 0], weight[weight > 0]
        (rows, a), (columns, b) = encode(truth), encode(guess)
        counts = np.bincount(a * len(columns) + b, weight, len(rows) * len(columns))
        return cls(rows, columns, counts.astype(np.float64).reshape(len(rows), len(columns)))

    def __add__(self, other: Contingency) -> Contingency:
        rows, own_rows, other_rows = unite(self.rows, other.rows)
        columns, own_columns, other_columns = unite(self.columns, other.columns)
        table = np.zeros((len(rows), len(columns)))
        table[np.ix_(own_rows, own_columns)] += self.table
        table[np.ix_(other_rows, other_columns)] += other.table
        return Contingency(rows, columns, table)

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.table.sum())

    def sums(self) -> tuple[Vector, Vector]:
        """The weight of the parts of either partition."""
        return self.table.sum(axis=1), self.table.sum(axis=0)

    def pairs(self) -> Vector:
        """Ordered pairs of rows: [[apart in both, together in the second only], [first only, in both]]."""
        one, two = self.sums()
        both = (self.table**2).sum() - self.weight
        first, second = (one**2).sum() - self.weight - both, (two**2).sum() - self.weight - both
        rest = self.weight**2 - self.weight - both - first - second
        return np.array([[rest, second], [first, both]])

    def information(self) -> float:
        """The mutual information of the two partitions, in nats."""
        one, two = self.sums()
        filled = self.table > 0
        ratio = (self.table * self.weight)[filled] / np.outer(one, two)[filled]
        return max(float(self.table[filled] @ np.log(ratio)) / self.weight, 0.0) if self.weight else 0.0

    def entropies(self) -> tuple[float, float]:
        """The entropy of either partition, in nats."""
        one, two = (-float(shares @ np.log(shares)) for shares in (s / self.weight for s in self.sums()))
        return one, two

    @property
    def trivial(self) -> bool:
        """Whether both have one part, or no rows: nothing to be unlike in."""
        return len(self.rows) == len(self.columns) and len(self.rows) <= 1


class _Partition(Metric):
    task = "partition"
    better: ClassVar[Better | None] = "higher"
    statistic: ClassVar[type[Statistic]] = Contingency
    arguments = ("labels_true", "labels_pred")


class Rand(_Partition):
    """The share of pairs of rows that both partitions treat alike, together or apart.

    >>> from surefit import metrics
    >>> round(metrics.rand_score([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 6)
    0.666667
    """

    name = "rand_score"
    words = "Rand index"

    def finish(self, statistic: Contingency) -> float:
        """Return the share; 1 where there is no pair."""
        pairs = statistic.pairs()
        return float(np.trace(pairs) / pairs.sum()) if pairs.sum() > 0 else 1.0


class PairConfusion(_Partition):
    """Ordered pairs of rows: apart or together in the one (row) and in the other (column) partition.

    >>> from surefit import metrics
    >>> metrics.pair_confusion_matrix([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2])
    array([[16.,  2.],
           [ 8.,  4.]])
    """

    name = "pair_confusion_matrix"
    better: ClassVar[Better | None] = None

    def finish(self, statistic: Contingency) -> Vector:
        """Return the table."""
        return statistic.pairs()


class AdjustedRand(_Partition):
    """The Rand index, moved so that partitions drawn at random have 0: 1 for equal ones, at least -1/2.

    >>> from surefit import metrics
    >>> round(metrics.adjusted_rand_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """

    name = "adjusted_rand_score"
    words = "adjusted Rand index"

    def finish(self, statistic: Contingency) -> float:
        """Return the index."""
        (apart, second), (first, both) = statistic.pairs()
        if first == 0 and second == 0:
            return 1.0
        across = (both + first) * (first + apart) + (both + second) * (second + apart)
        return float(2 * (both * apart - first * second) / across)


class MutualInformation(_Partition):
    r"""What one partition tells of the other, :math:`\sum_{ij} p_{ij} \log (p_{ij} / (p_i p_j))`, in nats.

    >>> from surefit import metrics
    >>> round(metrics.mutual_info_score([0, 0, 1, 1], ["b", "b", "a", "a"]), 6)
    0.693147
    """

    name = "mutual_info_score"
    words = "mutual information"

    def finish(self, statistic: Contingency) -> float:
        """Return the information."""
        return statistic.information()


def _mean(one: float, two: float, method: str) -> float:
    means = {"min": min(one, two), "max": max(one, two), "geometric": np.sqrt(one * two)}
    return float(means.get(method, (one + two) / 2))


class NormalizedMutualInformation(_Partition):
    """The mutual information over a mean of the two entropies: 0 if independent, 1 if equal.

    >>> from surefit import metrics
    >>> metrics.normalized_mutual_info_score([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """

    name = "normalized_mutual_info_score"
    words = "normalized mutual information"

    def __init__(self, *, average_method: Mean = "arithmetic") -> None:
        self.average_method = average_method

    def finish(self, statistic: Contingency) -> float:
        """Return the ratio; 1 for two trivial partitions, 0 where one tells nothing."""
        if statistic.trivial:
            return 1.0
        information = statistic.information()
        if information <= np.finfo(np.float64).eps:
            return 0.0
        return float(information / _mean(*statistic.entropies(), self.average_method))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add the means."""
        for case in super().cases(rng):
            for method in ("min", "geometric", "arithmetic", "max"):
                yield case.with_options(average_method=method)


def expected_information(one: Vector, two: Vector) -> float:
    """The mean of the mutual information over all partitions with parts of these sizes, drawn at random."""
    from scipy.special import gammaln

    n = one.sum()
    total = 0.0
    for a in one:
        # The overlap of two parts is hypergeometric: from what cannot be avoided to what fits.
        for b in two:
            overlap = np.arange(max(1.0, a + b - n), min(a, b) + 1)
            logarithm = (
                gammaln(a + 1)
                + gammaln(b + 1)
                + gammaln(n - a + 1)
                + gammaln(n - b + 1)
                - gammaln(n + 1)
                - gammaln(overlap + 1)
                - gammaln(a - overlap + 1)
                - gammaln(b - overlap + 1)
                - gammaln(n - a - b + overlap + 1)
            )
            total += float((overlap / n * np.log(n * overlap / (a * b))) @ np.exp(logarithm))
    return total


class AdjustedMutualInformation(NormalizedMutualInformation):
    """The mutual information beyond what partitions drawn at random share, over the most there can be.

    Weights must be whole numbers, because draws are counted.

    >>> from surefit import metrics
    >>> round(metrics.adjusted_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """

    name = "adjusted_mutual_info_score"
    words = "adjusted mutual information"

    def finish(self, statistic: Contingency) -> float:
        """Return the ratio; 1 for two trivial partitions."""
        if statistic.trivial or (statistic.table.shape[0] == statistic.table.shape[1] == statistic.weight):
            return 1.0
        expected = expected_information(*statistic.sums())
        most = _mean(*statistic.entropies(), self.average_method)
        spread = most - expected
        # Both are equal when nothing is left to chance; then any sign would be rounding.
        tiny = np.finfo(np.float64).eps
        spread = min(spread, -tiny) if spread < 0 else max(spread, tiny)
        return float((statistic.information() - expected) / spread)


class Homogeneity(_Partition):
    """How far each predicted part holds rows of one true part: 1 - H(true | predicted) / H(true).

    >>> from surefit import metrics
    >>> metrics.homogeneity_score([0, 0, 1, 1], [0, 1, 2, 3])
    1.0
    """

    name = "homogeneity_score"
    side = 0

    def finish(self, statistic: Contingency) -> float:
        """Return the share; 1 where there is nothing to know."""
        if statistic.weight == 0:
            return 1.0
        entropy = statistic.entropies()[self.side]
        return statistic.information() / entropy if entropy > 0 else 1.0


class Completeness(Homogeneity):
    """How far the rows of each part of the first partition are in one part of the second.

    >>> from surefit import metrics
    >>> metrics.completeness_score([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    """

    name = "completeness_score"
    side = 1


class VMeasure(_Partition):
    r"""The weighted harmonic mean of homogeneity and completeness, :math:`(1 + \beta) h c / (\beta h + c)`.

    >>> from surefit import metrics
    >>> round(metrics.v_measure_score([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.8
    """

    name = "v_measure_score"
    words = "V-measure"

    def __init__(self, *, beta: NonNegative = 1.0) -> None:
        self.beta = beta

    def finish(self, statistic: Contingency) -> float:
        """Return the mean; 0 where both are 0."""
        one, two = Homogeneity().finish(statistic), Completeness().finish(statistic)
        return (1 + self.beta) * one * two / (self.beta * one + two) if one + two > 0 else 0.0

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add another beta."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(beta=0.5)


class FowlkesMallows(_Partition):
    r"""The geometric mean of precision and recall over pairs of rows, :math:`TP / \sqrt{(TP + FP)(TP + FN)}`.

    >>> from surefit import metrics
    >>> round(metrics.fowlkes_mallows_score([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.707107
    """

    name = "fowlkes_mallows_score"
    words = "Fowlkes-Mallows index"

    def finish(self, statistic: Contingency) -> float:
        """Return the mean; 0 without a pair that is together in both."""
        (_, second), (first, both) = statistic.pairs()
        return float(np.sqrt(both / (both + first)) * np.sqrt(both / (both + second))) if both > 0 else 0.0


class Purity(_Partition):
    """The share of rows that belong to the most frequent true part of their predicted part.

    >>> from surefit import metrics
    >>> metrics.purity_score([0, 0, 1, 1], [5, 5, 5, 6])
    0.75
    """

    name = "purity_score"

    def finish(self, statistic: Contingency) -> float:
        """Return the share; NaN for no rows."""
        if statistic.weight == 0:
            return float("nan")
        return float(statistic.table.max(axis=0).sum() / statistic.weight)
