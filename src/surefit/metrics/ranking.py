"""How well the labels of a row are ordered: gains by rank, first hits, coverage, pairs in the wrong order."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError
from surefit.core.parameters import Count, Interval
from surefit.metrics.base import Better
from surefit.metrics.cases import Case
from surefit.metrics.sums import RowMeanMetric

Base = Annotated[float, Interval(1, None, open_low=True)]


def _discounts(size: int, k: int | None, base: float = 2.0) -> NDArray[np.float64]:
    discounts = np.log(base) / np.log(np.arange(size) + 2)
    discounts[k if k is not None else size :] = 0
    return np.asarray(discounts)


def _gains(relevance: Matrix, score: Matrix, discounts: NDArray[np.float64], ignore_ties: bool) -> Matrix:
    """The sum of relevance times discount in the order of the scores; tied labels share their discounts."""
    order = np.argsort(-score, axis=1, kind="stable")
    if ignore_ties:
        order = np.argsort(score, axis=1)[:, ::-1]
        return np.asarray(np.take_along_axis(relevance, order, axis=1) @ discounts)
    ranked, sorted_relevance = (np.take_along_axis(table, order, axis=1) for table in (score, relevance))
    starts = np.ones(ranked.shape, dtype=bool)
    starts[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    first = np.flatnonzero(starts)  # a row always starts a group, so groups stay within rows
    counts = np.diff(np.r_[first, ranked.size])
    spread = np.tile(discounts, (len(ranked), 1)).ravel()
    gains = np.add.reduceat(sorted_relevance.ravel(), first) * np.add.reduceat(spread, first) / counts
    return np.bincount(first // ranked.shape[1], gains, len(ranked)).astype(np.float64)


class _Ranking(RowMeanMetric):
    task = "ranking"
    better: ClassVar[Better | None] = "higher"
    arguments = ("y_true", "y_score")


class DCG(_Ranking):
    r"""The discounted cumulative gain, :math:`\sum_r \mathrm{rel}_{(r)} / \log_2 (1 + r)`.

    Ranks r go up to k; the score is the mean over rows. Labels with the same score share their discounts,
    unless ``ignore_ties``.

    >>> from surefit import metrics
    >>> round(metrics.dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
    9.4995
    """

    name = "dcg_score"
    words = "discounted cumulative gain"

    def __init__(self, *, k: Count | None = None, log_base: Base = 2.0, ignore_ties: bool = False) -> None:
        self.k = k
        self.log_base = log_base
        self.ignore_ties = ignore_ties

    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        if len(truth) == 0:
            return np.zeros(0)
        return _gains(truth, prediction, _discounts(truth.shape[1], self.k, self.log_base), self.ignore_ties)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add a depth, and ties."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(k=2)
            yield case.with_options(ignore_ties=True)


class NDCG(_Ranking):
    """The discounted cumulative gain over that of the best order, 0 for a row without relevance.

    >>> from surefit import metrics
    >>> round(metrics.ndcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
    0.6957
    """

    name = "ndcg_score"
    words = "normalized discounted cumulative gain"

    def __init__(self, *, k: Count | None = None, ignore_ties: bool = False) -> None:
        self.k = k
        self.ignore_ties = ignore_ties

    def _admit(self, y_true: Any, y_pred: Any) -> Any:
        pair = super()._admit(y_true, y_pred)
        if pair.truth.shape[1] < 2:
            raise DataError("y_true has 1 column; a ranking needs at least two labels.")
        negative = (pair.truth < 0).any(axis=1)
        if negative.any():
            raise DataError(f"y_true of row {int(np.argmax(negative))} is negative; relevance is 0 or more.")
        return pair

    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        if len(truth) == 0:
            return np.zeros(0)
        discounts = _discounts(truth.shape[1], self.k)
        best = _gains(truth, truth, discounts, True)
        gains = _gains(truth, prediction, discounts, self.ignore_ties)
        return np.divide(gains, best, out=np.zeros_like(best), where=best > 0)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add a depth, and ties."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(k=2)
            yield case.with_options(ignore_ties=True)


class _Labels(_Ranking):
    """Labels are relevant (1) or not (0)."""

    def _admit(self, y_true: Any, y_pred: Any) -> Any:
        pair = super()._admit(y_true, y_pred)
        strange = ((pair.truth != 0) & (pair.truth != 1)).any(axis=1)
        if strange.any():
            row = int(np.argmax(strange))
            raise DataError(f"y_true of row {row} is {pair.truth[row]}; labels are relevant (1) or not (0).")
        return pair


class ReciprocalRank(_Labels):
    """One over the rank of the first relevant label, ties to its disadvantage; 0 for a row without one.

    >>> from surefit import metrics
    >>> metrics.mean_reciprocal_rank([[0, 1, 0], [1, 0, 0]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]])
    0.75
    """

    name = "mean_reciprocal_rank"

    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        best = np.where(truth == 1, prediction, -np.inf).max(axis=1, initial=-np.inf)[:, None]
        ahead = ((prediction >= best) & (truth == 0)).sum(axis=1)
        return np.where((truth == 1).any(axis=1), 1 / (ahead + 1), 0.0)


class CoverageError(_Labels):
    """How many of the best labels one must take to have all relevant ones; 0 for a row without any.

    >>> from surefit import metrics
    >>> metrics.coverage_error([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1.0], [1.0, 0.2, 0.1]])
    2.5
    """

    name = "coverage_error"
    better: ClassVar[Better | None] = "lower"
    bounded = (0.0, inf)

    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        least = np.where(truth == 1, prediction, np.inf).min(axis=1, initial=np.inf)
        return (prediction >= least[:, None]).sum(axis=1)


class LabelRankingLoss(_Labels):
    """The share of pairs of a relevant and another label that are in the wrong order; ties are wrong.

    Rows whose labels are all relevant, or none, count as 0.

    >>> from surefit import metrics
    >>> metrics.label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1.0], [1.0, 0.2, 0.1]])
    0.75
    """

    name = "label_ranking_loss"
    better: ClassVar[Better | None] = "lower"
    bounded = (0.0, inf)

    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        relevant = truth == 1
        wrong = np.zeros(len(truth))
        for j in range(truth.shape[1]):
            wrong += relevant[:, j] * ((prediction >= prediction[:, [j]]) & ~relevant).sum(axis=1)
        pairs = relevant.sum(axis=1) * (~relevant).sum(axis=1)
        return np.divide(wrong, pairs, out=np.zeros(len(truth)), where=pairs > 0)


class LabelRankingPrecision(_Labels):
    """For each relevant label the share of relevant ones among those ranked no lower, in the mean.

    Tied labels rank low. Rows whose labels are all relevant, or none, count as 1.

    >>> from surefit import metrics
    >>> truth, scores = [[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1.0], [1.0, 0.2, 0.1]]
    >>> round(metrics.label_ranking_average_precision_score(truth, scores), 6)
    0.416667
    """

    name = "label_ranking_average_precision_score"

    def _value(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        relevant = truth == 1
        total = np.zeros(len(truth))
        for j in range(truth.shape[1]):
            ahead = prediction >= prediction[:, [j]]
            total += relevant[:, j] * (ahead & relevant).sum(axis=1) / ahead.sum(axis=1)
        count = relevant.sum(axis=1)
        plain = (count == 0) | (count == truth.shape[1])
        return np.where(plain, 1.0, total / np.maximum(count, 1))
