"""Weight, mean and scatter of each column within each class."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import RefusalError
from surefit.core.native.sums.grouped_moments import GroupedMoments, grouped_moments
from surefit.core.native.sums.moments import ColumnMoments
from surefit.data.batches.batch import Batch
from surefit.stats import rounding
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial
from surefit.stats.double_double import UNIT

LIMIT = 1e-8
_TILE = 1024  # rows that the kernel sums about one of them, at the most


@dataclass(frozen=True, slots=True)
class GroupedSpread(Statistic):
    r"""For each class: W, and by column :math:`m = \sum s_i x_i / W` and :math:`M = \sum s_i (x_i - m)^2`.

    counts holds the rows of positive weight in each class; a class without any has zeros. doubt and drift
    bound the rounding errors of scatter and mean, so that rows can be subtracted again; when what is left
    would be known to less than eight digits, subtracting refuses.

    >>> batch = Batch(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]))
    >>> GroupedSpread.of(batch, classes=2).mean
    array([[2.],
           [7.]])
    """

    name = "grouped-spread"
    subtractable = True

    counts: NDArray[np.int64]
    weight: Vector
    mean: Matrix
    scatter: Matrix
    doubt: Matrix
    drift: Matrix

    @classmethod
    def of(cls, batch: Batch, *, classes: int = 0, **context: Any) -> GroupedSpread:
        """Compute it over the columns of X, grouped by the class codes, of which there are ``classes``."""
        if batch.y is None:
            raise ValueError("the batch has no target.")
        counted = batch.y if batch.weight is None else batch.y[batch.weight > 0]
        counts = np.bincount(counted, minlength=classes)
        found = grouped_moments(batch.X, batch.y, classes, batch.weight)
        relative = _of_rows(int(counts.max(initial=0)), isinstance(batch.X, np.ndarray), batch.weight)
        deviation = np.sqrt(_ratio(found.scatter, found.weight[:, None]))
        drift = np.where(deviation > 0, relative * deviation + UNIT * np.abs(found.mean), 0.0)
        return cls(counts, found.weight, found.mean, found.scatter, relative * found.scatter, drift)

    def __add__(self, other: GroupedSpread) -> GroupedSpread:
        weight = self.weight + other.weight
        share = _ratio(other.weight, weight)[:, None]
        coupling = self.weight[:, None] * share
        gap = other.mean - self.mean
        # Chan's update: the means move towards each other, and their distance joins the scatter.
        scatter = self.scatter + other.scatter + coupling * gap**2
        both = (coupling > 0) & (gap != 0)
        moved = np.where(both, 2 * UNIT * (np.abs(self.mean) + np.abs(other.mean)), 0.0)
        doubt = self.doubt + other.doubt + _blur(coupling, gap, self.drift + other.drift, scatter)
        drift = (1 - share) * self.drift + share * other.drift + moved
        counts = self.counts + other.counts
        return GroupedSpread(counts, weight, self.mean + gap * share, scatter, doubt, drift)

    def __sub__(self, other: GroupedSpread) -> GroupedSpread:
        counts = self.counts - other.counts
        weight = np.where(counts == 0, 0.0, self.weight - other.weight)
        if (counts < 0).any() or (weight < 0).any() or ((weight == 0) & (counts > 0)).any():
            raise RefusalError(
                f"{other.rows} rows cannot be taken from {self.rows}, since a class would be left with a "
                "negative weight: subtract only rows that were added before, with the same weights."
            )
        taken = _ratio(other.weight, weight)[:, None]  # relative to what is left
        some = (counts > 0)[:, None]
        away = np.where(some & (taken > 0), self.mean - other.mean, 0.0)
        gap, coupling = away * (1 + taken), other.weight[:, None] / (1 + taken)
        varies = some & (counts > 1)[:, None]
        scatter = np.where(varies, np.maximum(self.scatter - other.scatter - coupling * gap**2, 0.0), 0.0)
        moved = np.where(away != 0, 2 * UNIT * (1 + taken) * (np.abs(self.mean) + np.abs(other.mean)), 0.0)
        blur = _blur(coupling, gap, (1 + taken) * (self.drift + other.drift), self.scatter)
        left = GroupedSpread(
            counts,
            weight,
            np.where(some, self.mean + away * taken, 0.0),
            scatter,
            np.where(varies, self.doubt + other.doubt + blur, 0.0),
            np.where(some, (1 + taken) * self.drift + taken * other.drift + moved, 0.0),
        )
        if left.error > LIMIT:
            raise RefusalError(
                f"without these {other.rows} rows the moments of the other {left.rows} would be known only "
                f"to a relative error of {left.error:.1g}, beyond {LIMIT:g}, because of cancellation: "
                "compute them again over the rows that remain."
            )
        return left

    @property
    def rows(self) -> int:
        """How many rows have positive weight."""
        return int(self.counts.sum())

    @property
    def error(self) -> float:
        """A bound on the errors of scatters, relative, and of means, relative to deviation or size."""
        size = np.maximum(np.sqrt(self.variance()), np.abs(self.mean))
        return max(rounding.share(self.doubt, self.scatter), rounding.share(self.drift, size))

    def distance(self, other: GroupedSpread) -> float:
        """The greatest difference on the scales of ``error``, or of weights."""
        if self.mean.shape != other.mean.shape:
            return np.inf
        size = np.maximum(np.sqrt(self.variance()), np.abs(self.mean))
        return max(
            rounding.share(np.abs(self.weight - other.weight), self.weight),
            rounding.share(np.abs(self.scatter - other.scatter), self.scatter),
            rounding.share(np.abs(self.mean - other.mean), size),
        )

    def variance(self, ddof: float = 0.0) -> Matrix:
        """Scatter over W - ddof; 0 for a class with no more weight than that."""
        return _ratio(self.scatter, self.weight[:, None] - ddof)

    @property
    def moments(self) -> GroupedMoments:
        """The same numbers as the kernel returns them."""
        return GroupedMoments(self.weight, self.mean, self.scatter)

    @property
    def overall(self) -> ColumnMoments:
        """The moments of each column over all classes; of the range only whether it is empty is known."""
        total = float(self.weight.sum())
        share = (self.weight / total if total > 0 else self.weight)[:, None]
        # About the mean of the heaviest class, so that an offset does not cancel.
        pivot = self.mean[np.argmax(self.weight)]
        mean = pivot + (share * (self.mean - pivot)).sum(axis=0)
        between = (self.weight[:, None] * (self.mean - mean) ** 2).sum(axis=0)
        scatter = self.scatter.sum(axis=0) + between
        deviation = np.sqrt(scatter / max(total, 1.0))
        return ColumnMoments(total, mean, scatter, mean - deviation, mean + deviation)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Three classes, and a fourth that never comes."""
        return Trial("classes", {"classes": 3}), Trial("classes", {"classes": 4})


def _ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    """A quotient that is 0 where the lower number is not positive."""
    bottom = np.broadcast_to(bottom, top.shape)
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def _of_rows(rows: int, dense: bool, weight: Vector | None) -> float:
    """What the kernel may leave as relative error, with the rows of a class in tiles (see rounding.py)."""
    counted = np.ones(1) if weight is None else weight[weight > 0]
    ratio = float(counted.max() / counted.min()) if len(counted) else 1.0
    tile = min(rows, _TILE) if dense else 1
    tiles = math.ceil(rows / max(tile, 1))
    centring = 2 * tile * (1 + math.sqrt(tile * ratio)) + 7 * tiles**1.5 * math.sqrt(ratio)
    return float(UNIT * (tile + tiles + centring))


def _blur(coupling: Matrix, gap: Matrix, drift: Matrix, scatter: Matrix) -> Matrix:
    """What joining adds to the doubt: the distance of two means is off by ``drift``, and sums are rounded."""
    between = coupling * (2 * np.abs(gap) * drift + drift**2 + 8 * UNIT * gap**2)
    return np.where(coupling > 0, between + 4 * UNIT * scatter, 0.0)
