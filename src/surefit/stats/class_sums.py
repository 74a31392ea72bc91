"""The weighted sum of each column within each class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import RefusalError
from surefit.core.native.sums.class_sums import class_sums
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial
from surefit.stats.double_double import UNIT

LIMIT = 1e-8


@dataclass(frozen=True, slots=True)
class ClassSums(Statistic):
    r"""For each class its weight, and for each column :math:`\sum_{y_i = c} s_i x_{ij}`.

    least is the least cell of positive weight, 0 where sparse rows leave cells out; doubt bounds the rounding
    errors of the sums, and is 0 where all of them are whole numbers.

    >>> ClassSums.of(Batch(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1])), classes=2).sums.tolist()
    [[4.0], [7.0]]
    """

    name = "class-sums"
    subtractable = True

    rows: int
    weight: Vector
    sums: Matrix
    doubt: Matrix
    least: float

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(
        cls, batch: Batch, *, classes: int = 0, threshold: float | None = None, **context: Any
    ) -> ClassSums:
        """Add up the columns of X by class code; with a threshold, cells above it count as 1, others as 0."""
        if batch.y is None:
            raise ValueError("the batch has no target.")
        sums, least = class_sums(batch.X, batch.y, classes, batch.weight, threshold)
        weight = np.bincount(batch.y, batch.weight, minlength=classes).astype(np.float64)
        rows = len(batch) if batch.weight is None else int(np.count_nonzero(batch.weight))
        doubt = _doubt(sums, rows)
        return cls(rows, weight, sums, doubt, least)

    def __add__(self, other: ClassSums) -> ClassSums:
        if self.rows == 0 or other.rows == 0:
            return other if self.rows == 0 else self
        sums = self.sums + other.sums
        doubt = np.where(_whole(sums), 0.0, self.doubt + other.doubt + UNIT * np.abs(sums))
        least = min(self.least, other.least)
        return ClassSums(self.rows + other.rows, self.weight + other.weight, sums, doubt, least)

    def __sub__(self, other: ClassSums) -> ClassSums:
        if other.rows == 0:
            return self
        weight, rows = self.weight - other.weight, self.rows - other.rows
        weight[np.abs(weight) <= 1e-12 * self.weight] = 0.0  # of which only rounding is left
        if rows < 0 or (weight < 0).any():
            raise RefusalError(
                f"{other.rows} rows cannot be taken from {self.rows}, since a class would be left with a "
                "negative weight: subtract only rows that were added before, with the same weights."
            )
        sums = np.where(weight[:, None] > 0, self.sums - other.sums, 0.0)
        doubt = np.where(_whole(sums), 0.0, self.doubt + other.doubt + UNIT * np.abs(self.sums))
        size = np.abs(sums).max(axis=1, initial=0.0, keepdims=True)
        if (doubt > LIMIT * size).any():
            raise RefusalError(
                f"without these {other.rows} rows the sums of the other {rows} would be known to less than "
                "eight digits, because of cancellation: compute them again over the rows that remain."
            )
        sums[(sums < 0) & (sums >= -doubt)] = 0.0
        return ClassSums(rows, weight, sums, np.where(weight[:, None] > 0, doubt, 0.0), self.least)

    def distance(self, other: ClassSums) -> float:
        """The greatest difference of weights and sums, relative to the largest; what bounds is left out."""
        pairs = ((self.weight, other.weight), (self.sums, other.sums))
        size = [max(float(np.abs(one).max(initial=0.0)), 1e-300) for one, _ in pairs]
        gaps = [np.abs(one - two).max(initial=0.0) for one, two in pairs]
        return float(max(gap / scale for gap, scale in zip(gaps, size, strict=True)))

    @property
    def error(self) -> float:
        """A bound on the rounding errors of the sums, relative to the largest of each class."""
        size = np.abs(self.sums).max(axis=1, initial=0.0, keepdims=True)
        return float(
            np.divide(self.doubt, size, out=np.zeros_like(self.doubt), where=size > 0).max(initial=0)
        )

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Three classes, a fourth that never comes, and cells that are cut at a threshold."""
        yield from (Trial("classes", {"classes": 3}), Trial("classes", {"classes": 4}))
        yield Trial("classes", {"classes": 3, "threshold": 3.0})


def _whole(sums: Matrix) -> Any:
    """Sums of whole numbers are exact; that a sum of others is whole happens by a chance of rounding."""
    return (sums == np.rint(sums)).all() & (np.abs(sums) < 2.0**53)


def _doubt(sums: Matrix, rows: int) -> Matrix:
    return np.where(_whole(sums), 0.0, rows * UNIT * np.abs(sums))
