"""Weight, mean, scatter and range of each column within each class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.grouped_moments import GroupedMoments, grouped_moments
from surefit.core.native.moments import ColumnMoments
from surefit.data.batch import Batch
from surefit.stats.base import Statistic
from surefit.stats.trials import Trial


@dataclass(frozen=True, slots=True)
class GroupedSpread(Statistic):
    r"""For each class c: W, and by column :math:`m = \sum s_i x_i / W`, :math:`\sum s_i (x_i - m)^2`, range.

    ``rows`` counts the rows with positive weight. A class without any has zeros, and the range (inf, -inf).

    >>> batch = Batch(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]))
    >>> GroupedSpread.of(batch, classes=2).mean
    array([[2.],
           [7.]])
    """

    name = "grouped-spread"

    rows: int
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch, *, classes: int = 0, **context: Any) -> GroupedSpread:
        """Compute it over the columns of X, grouped by the class codes, of which there are ``classes``."""
        if batch.y is None:
            raise ValueError("the batch has no target.")
        rows = len(batch) if batch.weight is None else int(np.count_nonzero(batch.weight))
        found = grouped_moments(batch.X, batch.y, classes, batch.weight)
        return cls(rows, found.weight, found.mean, found.scatter, found.minimum, found.maximum)

    def __add__(self, other: GroupedSpread) -> GroupedSpread:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)[:, None]
        gap = other.mean - self.mean
        # Chan's update: the means move towards each other, and their distance joins the scatter.
        return GroupedSpread(
            self.rows + other.rows,
            weight,
            self.mean + gap * share,
            self.scatter + other.scatter + gap * gap * (self.weight[:, None] * share),
            np.minimum(self.minimum, other.minimum),
            np.maximum(self.maximum, other.maximum),
        )

    def variance(self, ddof: float = 0.0) -> NDArray[np.float64]:
        """Scatter over W - ddof; 0 for a class with no more weight than that."""
        free = np.broadcast_to(self.weight[:, None] - ddof, self.scatter.shape)
        return np.divide(self.scatter, free, out=np.zeros_like(self.scatter), where=free > 0)

    @property
    def moments(self) -> GroupedMoments:
        """The same numbers as the kernel returns them."""
        return GroupedMoments(self.weight, self.mean, self.scatter, self.minimum, self.maximum)

    @property
    def overall(self) -> ColumnMoments:
        """The moments of each column over all classes."""
        total = float(self.weight.sum())
        share = (self.weight / total if total > 0 else self.weight)[:, None]
        # About the mean of the heaviest class, so that an offset does not cancel.
        pivot = self.mean[np.argmax(self.weight)]
        mean = pivot + (share * (self.mean - pivot)).sum(axis=0)
        between = (self.weight[:, None] * (self.mean - mean) ** 2).sum(axis=0)
        low, high = self.minimum.min(axis=0), self.maximum.max(axis=0)
        return ColumnMoments(total, mean, self.scatter.sum(axis=0) + between, low, high)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Three classes, and a fourth that never comes."""
        return Trial("classes", {"classes": 3}), Trial("classes", {"classes": 4})
