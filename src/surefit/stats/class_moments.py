"""Weight, means and scatter of all columns within each class, and of their squares where asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.data.batches.batch import Batch
from surefit.stats import double_double as pair
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial
from surefit.stats.moments import Moments


@dataclass(frozen=True, slots=True)
class ClassMoments(Statistic):
    r"""For each class the moments of its rows x; with ``squares`` those of [x - p, (x - p)²].

    p, ``pivots``, is a point near the mean of the class, so that squares cancel nothing; joining moves one
    point to the other exactly, since it maps these columns linearly.

    >>> batch = Batch(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]))
    >>> ClassMoments.of(batch, classes=2).means.tolist()
    [[2.0], [7.0]]
    """

    name = "class-moments"
    subtractable = True

    squares: bool
    pivots: Matrix
    members: tuple[Moments, ...]

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(cls, batch: Batch, *, classes: int = 0, squares: bool = False, **context: Any) -> ClassMoments:
        """Compute it over the columns of X, grouped by the class codes, of which there are ``classes``."""
        if batch.y is None:
            raise ValueError("the batch has no target.")
        X: Any = batch.X
        order = np.argsort(batch.y, kind="stable")
        edges = np.searchsorted(batch.y[order], np.arange(classes + 1))
        sorted_already = bool((order[1:] > order[:-1]).all())
        X = X if sorted_already else X[order]
        weight = None if batch.weight is None else batch.weight[order]
        members, pivots = [], np.zeros((classes, X.shape[1]))
        for c in range(classes):
            rows = slice(int(edges[c]), int(edges[c + 1]))
            part, s = X[rows], None if weight is None else weight[rows]
            if squares:
                part = np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), dtype=np.float64)
                kept = part if s is None else part[s > 0]
                pivots[c] = kept[0] if len(kept) else 0.0
                part = np.hstack([part - pivots[c], (part - pivots[c]) ** 2])
            if isinstance(part, np.ndarray):
                part = np.ascontiguousarray(part)
            members.append(Moments.of(Batch(part, None, s), target=False))
        return cls(squares, pivots, tuple(members))

    def __add__(self, other: ClassMoments) -> ClassMoments:
        members, pivots = [], self.pivots.copy()
        for c, (one, two) in enumerate(zip(self.members, other.members, strict=True)):
            if one.rows == 0:
                pivots[c] = other.pivots[c]
                members.append(two)
            else:
                members.append(one + self._moved(two, other.pivots[c] - pivots[c]))
        return ClassMoments(self.squares, pivots, tuple(members))

    def __sub__(self, other: ClassMoments) -> ClassMoments:
        members = [
            one - self._moved(two, theirs - mine)
            for one, two, mine, theirs in zip(
                self.members, other.members, self.pivots, other.pivots, strict=True
            )
        ]
        return ClassMoments(self.squares, self.pivots, tuple(members))

    def _moved(self, moments: Moments, step: Vector) -> Moments:
        """The moments of [u, u²] as those of [u + step, (u + step)²]."""
        if not self.squares or moments.rows == 0 or not step.any():
            return moments
        d = len(step)
        change = np.eye(2 * d)
        change[np.arange(d, 2 * d), np.arange(d)] = 2 * step
        mean = change @ moments.mean_x + np.concatenate([step, step**2])
        scatter = change @ moments.gram @ change.T
        size = np.abs(change)
        return Moments(
            moments.rows,
            0,
            moments.total,
            pair.pair(mean, np.zeros_like(mean)),
            np.array((scatter, np.zeros_like(scatter))),
            (size @ np.sqrt(moments.doubt)) ** 2 + 8 * pair.UNIT * np.diagonal(scatter),
            size @ moments.drift,
        )

    @property
    def rows(self) -> int:
        """How many rows have positive weight."""
        return sum(member.rows for member in self.members)

    @property
    def weight(self) -> Vector:
        """The weight of each class."""
        return np.array([member.weight if member.rows else 0.0 for member in self.members])

    @property
    def means(self) -> Matrix:
        """The means of the classes, zeros for one without rows."""
        d = self.pivots.shape[1]
        return np.array(
            [
                member.mean_x[:d] + pivot if member.rows else np.zeros(d)
                for member, pivot in zip(self.members, self.pivots, strict=True)
            ]
        ).reshape(len(self.members), d)

    def scatter(self, c: int) -> Matrix:
        """The sum of (x - m)(x - m)' over the rows of a class."""
        d = self.pivots.shape[1]
        return self.members[c].gram[:d, :d] if self.members[c].rows else np.zeros((d, d))

    def fourth(self, c: int, centre: Vector, scale: Vector) -> float:
        r"""The sum over the rows of a class of :math:`\big(\sum_j (x_j - c_j)^2 / s_j^2\big)^2`."""
        member = self.members[c]
        if not member.rows:
            return 0.0
        gap = centre - self.pivots[c]
        form = np.concatenate([-2 * gap, np.ones_like(gap)]) / np.tile(scale**2, 2)
        mean = form @ member.mean_x + ((gap / scale) ** 2).sum()
        return float(form @ member.gram @ form + member.weight * mean**2)

    @property
    def error(self) -> float:
        """A bound on the relative error of scatters."""
        return max((member.error for member in self.members), default=0.0)

    def distance(self, other: ClassMoments) -> float:
        """The greatest difference of moments, about one point."""
        gaps = [
            one.distance(self._moved(two, theirs - mine))
            if one.rows and two.rows
            else abs(one.rows - two.rows)
            for one, two, mine, theirs in zip(
                self.members, other.members, self.pivots, other.pivots, strict=True
            )
        ]
        return float(max(gaps, default=0.0))

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Three classes, a fourth that never comes, and squares."""
        yield from (Trial("classes", {"classes": 3}), Trial("classes", {"classes": 4}))
        yield Trial("classes", {"classes": 3, "squares": True})
