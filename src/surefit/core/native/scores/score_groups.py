"""Scores grouped by value, with the weight of the positive and negative rows of each; areas over them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled


class ScoreGroups(NamedTuple):
    """The distinct scores in increasing order, and the weight of the negative and positive rows of each."""

    score: NDArray[Any]
    weight: Vector  # (2, m)

    @property
    def negative(self) -> Vector:
        """The weight of the negative rows."""
        return np.asarray(self.weight[0])

    @property
    def positive(self) -> Vector:
        """The weight of the positive rows."""
        return np.asarray(self.weight[1])


class Areas(NamedTuple):
    """The weight of pairs (positive, negative) in the right order, ties by half; the sum of precisions."""

    pairs: float
    precision: float


def score_groups(
    score: NDArray[Any], positive: NDArray[np.bool_], weight: Vector | None, *, _threads: int | None = None
) -> ScoreGroups:
    """Group finite scores by value; weights are positive.

    >>> score_groups(np.array([2.0, 1.0, 2.0]), np.array([True, True, False]), None)
    ScoreGroups(score=array([1., 2.]), weight=array([[0., 1.],
           [1., 1.]]))
    """
    native = compiled()
    if native is None:
        return score_groups_twin(score, positive, weight)
    rows = len(score)
    found = ScoreGroups(np.empty(rows, dtype=score.dtype), np.empty((2, rows)))
    given = [np.ascontiguousarray(score), np.ascontiguousarray(positive).view(np.uint8)]
    weight = None if weight is None else np.ascontiguousarray(weight)
    room = found.score, found.positive, found.negative
    count = native.score_groups(*given, weight, *room, threads() if _threads is None else _threads)
    if count == rows:
        return found
    return ScoreGroups(found.score[:count].copy(), found.weight[:, :count].copy())  # gives back the rest


def score_groups_twin(score: NDArray[Any], positive: NDArray[np.bool_], weight: Vector | None) -> ScoreGroups:
    """Do the same with a sort of all scores."""
    distinct, place = np.unique(score + score.dtype.type(0), return_inverse=True)
    amount = np.ones(len(score)) if weight is None else weight
    sums = [np.bincount(place, amount * chosen, len(distinct)) for chosen in (~positive, positive)]
    return ScoreGroups(distinct, np.array(sums, dtype=np.float64).reshape(2, len(distinct)))


def score_areas(positive: Vector, negative: Vector, *, _threads: int | None = None) -> Areas:
    r"""Return :math:`\sum_g n_g (P_{>g} + p_g / 2)` and :math:`\sum_g p_g P_{\ge g} / (P + N)_{\ge g}`.

    >>> score_areas(np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0])).pairs
    3.0
    """
    native = compiled()
    if native is None:
        return score_areas_twin(positive, negative)
    return Areas(*native.score_areas(positive, negative, threads() if _threads is None else _threads))


def score_areas_twin(positive: Vector, negative: Vector) -> Areas:
    """Do the same with cumulative sums."""
    hits, alarms = (np.cumsum(column[::-1])[::-1] for column in (positive, negative))
    pairs = negative @ (hits - positive / 2)
    some = positive > 0
    return Areas(float(pairs), float(positive[some] @ (hits[some] / (hits[some] + alarms[some]))))
