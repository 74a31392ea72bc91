"""Scores of two classes, kept by value: what every curve over thresholds adds up from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.core.native.scores.score_groups import ScoreGroups, score_groups
from surefit.data.batches.batch import Batch
from surefit.metrics.labels import Labels, two_labels, unite
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class ScoreTable(Statistic):
    """The distinct scores in increasing order, and for each label the weight of its rows at each of them.

    Exact, and as long as there are distinct scores, while ``limit`` is None or not reached. Beyond it the
    lowest ``dropped`` bits of every score are cut off, as few as bring the table below the limit: which
    ones is a matter of all scores alone, so the result is the same for any split of the rows. A cut score is
    a threshold of the exact table, and so the points of a curve stay exact, only fewer.
    """

    labels: Labels
    score: Vector
    weight: Vector
    limit: int | None
    dropped: int

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        prediction: Any = None,
        classes: Labels | None = None,
        max_points: int | None = None,
        **context: Any,
    ) -> ScoreTable:
        """Group the scores of a batch; its labels are one or two."""
        truth = np.asarray(batch.y) if classes is None else classes[batch.y]
        given, weight = np.asarray(prediction), batch.weight
        if weight is not None and not weight.all():
            truth, given, weight = truth[weight > 0], given[weight > 0], weight[weight > 0]
        found = two_labels(truth)
        if found is None:
            raise DataError(
                f"y_true holds {len(np.unique(truth))} labels; one column of scores is for two classes: "
                "give one column of scores for each class."
            )
        labels, upper = found
        return cls.grouped(labels, score_groups(given, upper, weight), max_points)

    @classmethod
    def grouped(cls, labels: Labels, groups: ScoreGroups, limit: int | None) -> ScoreTable:
        """Make it of groups whose positive rows have the last label."""
        return _cut(labels, groups.score, groups.weight[2 - len(labels) :], limit, 0)

    def __add__(self, other: ScoreTable) -> ScoreTable:
        labels, mine, others = unite(self.labels, other.labels)
        if len(labels) > 2:
            raise DataError(
                f"y_true holds the labels {', '.join(map(str, labels))}; "
                "one column of scores is for two classes."
            )
        own = len(self.score)
        score = np.concatenate([self.score, other.score])
        weight = np.zeros((len(labels), len(score)))
        weight[mine, :own] = self.weight
        weight[others, own:] = other.weight
        order = np.argsort(score, kind="stable")  # two sorted runs: merged in one pass
        limit = self.limit if other.limit is None else other.limit
        return _cut(
            labels,
            *_summed(score[order], weight[:, order]),
            limit,
            max(self.dropped, other.dropped),
        )

    def sides(self, name: str, positive: Any = None) -> tuple[Vector, Vector]:
        """The weight of the positive and the negative rows at each score; the greater label is positive
        unless one is named.
        """
        empty = np.zeros(len(self.score))
        names = self.labels.tolist()
        if positive is None:
            positive = names[-1] if len(names) == 2 else _usual(names)
        if positive not in names and len(names) == 2:
            shown = " and ".join(map(str, names))
            raise DataError(f"{name}: pos_label={positive!r} is neither of the labels {shown}; pass one.")
        at = names.index(positive) if positive in names else None
        other = [k for k in range(len(names)) if k != at]
        return (
            empty if at is None else self.weight[at],
            self.weight[other[0]] if other else empty,
        )


def _usual(names: list[Any]) -> Any:
    """What a label alone is: 1 is positive, anything else negative, so that 0 and -1 are."""
    return names[0] if names and names[0] == 1 else 1


def _summed(score: Vector, weight: Vector) -> tuple[Vector, Vector]:
    """Put equal neighbours together."""
    if len(score) == 0:
        return score, weight
    first = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    return score[first], np.add.reduceat(weight, first, axis=1)


_SIGN = np.uint64(1 << 63)


def _keys(score: Vector) -> NDArray[np.uint64]:
    """Whole numbers in the order of the scores."""
    bits = (score + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _scores(keys: NDArray[np.uint64]) -> Vector:
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)


def _cut(labels: Labels, score: NDArray[Any], weight: Vector, limit: int | None, dropped: int) -> ScoreTable:
    """Cut off bits until the table is short enough."""
    if limit is None or (len(score) <= limit and dropped == 0):
        return ScoreTable(labels, score, weight, limit, 0)
    keys = _keys(score.astype(np.float64))
    while np.count_nonzero(np.diff(keys >> np.uint64(dropped))) >= limit:
        dropped += 1
    least = _keys(np.array([-np.finfo(np.float64).max]))[0]
    cut = np.maximum((keys >> np.uint64(dropped)) << np.uint64(dropped), least)
    return ScoreTable(labels, *_summed(_scores(cut), weight), limit, dropped)
