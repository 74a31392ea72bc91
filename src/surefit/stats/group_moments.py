"""Weight, mean and scatter of the target within each level of each column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import column_levels
from surefit.data.batches.distinct import distinct
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial


@dataclass(frozen=True, slots=True)
class GroupMoments(Statistic):
    r"""For each level l: :math:`W_l`, :math:`m_l = \sum s_i y_i / W_l`, :math:`\sum s_i (y_i - m_l)^2`.

    The levels of a column are found as they come. weight, mean and scatter are the target's own, over all
    rows; ``groups`` holds for each column one matrix, a row a level: weight, then means, then scatters of the
    outputs.
    """

    name = "group-moments"

    rows: int
    weight: float
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]
    levels: tuple[NDArray[Any], ...]
    groups: tuple[Matrix, ...]

    @classmethod
    def of(cls, batch: Batch, *, classes: int = 0, **context: Any) -> GroupMoments:
        """Group the target by each column; ``classes`` makes one output of 0 and 1 of each class code."""
        if batch.y is None:
            raise ValueError("the batch has no target.")
        y = np.eye(classes)[batch.y] if classes else np.asarray(batch.y, dtype=np.float64)
        y = y[:, None] if y.ndim == 1 else y
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        counted = weight > 0
        whole = _moments(y[counted], weight[counted], np.zeros(int(counted.sum()), dtype=np.intp), 1)
        outputs = y.shape[1]
        levels, groups = [], []
        for j in range(batch.X.shape[1]):
            found, codes = column_levels(batch.X, j)
            known = counted & (codes >= 0)
            sums = _moments(y[known], weight[known], codes[known], len(found))
            there = sums[:, 0] > 0
            ordered, place = distinct(found[there])  # a table's own order of levels is not kept
            levels.append(ordered)
            groups.append(sums[there][np.argsort(place)])
        mean, scatter = whole[0, 1 : outputs + 1], whole[0, outputs + 1 :]
        return cls(len(batch), float(whole[0, 0]), mean, scatter, tuple(levels), tuple(groups))

    def __add__(self, other: GroupMoments) -> GroupMoments:
        if len(self.mean) != len(other.mean):  # no rows know no outputs
            return other if self.weight == 0 else self
        joined = [
            _join(a, b, g, h)
            for a, b, g, h in zip(self.levels, other.levels, self.groups, other.groups, strict=True)
        ]
        whole = _chan(self._whole(), other._whole())[0]
        outputs = len(self.mean)
        return GroupMoments(
            self.rows + other.rows,
            float(whole[0]),
            whole[1 : outputs + 1],
            whole[outputs + 1 :],
            tuple(levels for levels, _ in joined),
            tuple(groups for _, groups in joined),
        )

    def _whole(self) -> Matrix:
        return np.concatenate([[self.weight], self.mean, self.scatter])[None, :]

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """A target of numbers, several, and classes beside a typed table."""
        return Trial("numbers"), Trial("targets"), Trial("classes", {"classes": 3}), Trial("table")


def _moments(y: Matrix, weight: NDArray[np.float64], codes: NDArray[Any], groups: int) -> Matrix:
    """One row a group: weight, means, scatters; centred twice, so that no offset cancels."""
    outputs = y.shape[1]
    out = np.zeros((groups, 1 + 2 * outputs))
    out[:, 0] = np.bincount(codes, weight, groups)
    share = np.where(out[:, 0] > 0, out[:, 0], 1.0)
    for k in range(outputs):
        pivot = y[0, k] if len(y) else 0.0
        near = np.where(
            out[:, 0] > 0, pivot + np.bincount(codes, weight * (y[:, k] - pivot), groups) / share, 0
        )
        step = y[:, k] - near[codes]
        fix = np.bincount(codes, weight * step, groups) / share
        out[:, 1 + k] = near + fix
        out[:, 1 + outputs + k] = np.bincount(codes, weight * (step - fix[codes]) ** 2, groups)
    return out


def _chan(one: Matrix, two: Matrix) -> Matrix:
    """Join groups row by row: the means move towards each other, and their distance joins the scatter."""
    outputs = (one.shape[1] - 1) // 2
    weight = one[:, :1] + two[:, :1]
    share = np.divide(two[:, :1], weight, out=np.zeros_like(weight), where=weight > 0)
    shift = two[:, 1 : outputs + 1] - one[:, 1 : outputs + 1]
    mean = one[:, 1 : outputs + 1] + shift * share
    scatter = one[:, outputs + 1 :] + two[:, outputs + 1 :] + shift**2 * (one[:, :1] * share)
    return np.hstack([weight, mean, scatter])


def _join(a: NDArray[Any], b: NDArray[Any], g: Matrix, h: Matrix) -> tuple[NDArray[Any], Matrix]:
    if len(a) == 0 or len(b) == 0:
        return (b, h) if len(a) == 0 else (a, g)
    levels, codes = distinct(np.concatenate([a, b]))
    one, two = np.zeros((len(levels), g.shape[1])), np.zeros((len(levels), g.shape[1]))
    one[codes[: len(a)]], two[codes[len(a) :]] = g, h
    return levels, _chan(one, two)
