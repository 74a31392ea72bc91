"""How compact and how far apart clusters of points are, without a truth to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.core.public import public
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Better, Metric
from surefit.metrics.centred import Centred
from surefit.metrics.labels import Labels, encode, unite
from surefit.stats.base import Statistic

BLOCK = 2_000_000  # distances held at a time


@dataclass(frozen=True, slots=True)
class Spreads(Statistic):
    """Mean and scatter of the points of each cluster."""

    labels: Labels
    members: tuple[Centred, ...]

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, **context: Any) -> Spreads:
        """Compute it over the points, ``batch.y``, and their clusters."""
        points, clusters, weight = _counted(batch, prediction)
        labels, codes = encode(clusters)
        members = []
        for k in range(len(labels)):
            rows = codes == k
            part = Batch(np.empty((int(rows.sum()), 0)), None, None if weight is None else weight[rows])
            members.append(Centred.of(part, values=points[rows]))
        return cls(labels, tuple(members))

    def __add__(self, other: Spreads) -> Spreads:
        labels, mine, others = unite(self.labels, other.labels)
        joined: list[Any] = [None] * len(labels)
        for places, spreads in ((mine, self), (others, other)):
            for place, member in zip(places, spreads.members, strict=True):
                joined[place] = member if joined[place] is None else joined[place] + member
        return Spreads(labels, tuple(joined))


def _counted(batch: Batch, clusters: Any) -> tuple[Vector, Labels, Vector | None]:
    points, labels, weight = np.asarray(batch.y), np.asarray(clusters), batch.weight
    if weight is None or weight.all():
        return points, labels, weight
    return points[weight > 0], labels[weight > 0], weight[weight > 0]


class CalinskiHarabasz(Metric):
    r"""The scatter between clusters over that within, each by its degrees of freedom:
    :math:`\frac{B / (k - 1)}{S / (n - k)}`. Its statistic adds up, so it takes any number of rows.

    Clusters without any scatter have 1.

    >>> from surefit import metrics
    >>> metrics.calinski_harabasz_score([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1])
    16.2
    """

    name = "calinski_harabasz_score"
    words = "Calinski-Harabasz index"
    task = "clusters"
    better = "higher"
    statistic = Spreads
    arguments = ("X", "labels")

    def finish(self, statistic: Spreads) -> float:
        """Return the ratio."""
        members = statistic.members
        weight = sum(member.weight for member in members)
        _check(self.name, len(members), weight)
        whole = members[0]
        for member in members[1:]:
            whole = whole + member
        within = float(sum(member.scatter.sum() for member in members))
        between = float(
            sum(
                member.weight * np.square((member.mean - whole.mean) + (member.low - whole.low)).sum()
                for member in members
            )
        )
        if within == 0:
            return 1.0
        return between * (weight - len(members)) / (within * (len(members) - 1))


def _check(name: str, clusters: int, weight: float) -> None:
    if not 2 <= clusters < weight:
        raise DataError(
            f"{name}: there are {clusters} clusters of {weight:g} points; it takes two or more clusters, and "
            "more points than clusters."
        )


@dataclass(frozen=True, slots=True)
class Points(Statistic):
    """The points and their clusters as they are, for what takes all of them at once."""

    points: Vector
    labels: Labels
    weight: Vector

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, **context: Any) -> Points:
        """Keep the rows that count."""
        points, labels, weight = _counted(batch, prediction)
        return cls(points, labels, np.ones(len(points)) if weight is None else weight)

    def __add__(self, other: Points) -> Points:
        if len(self.points) == 0 or len(other.points) == 0:
            return other if len(self.points) == 0 else self
        return Points(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.weight, other.weight]),
        )


class _OfPoints(Metric):
    task = "clusters"
    better: ClassVar[Better | None] = "higher"
    statistic: ClassVar[type[Statistic]] = Points
    arguments = ("X", "labels")


def silhouettes(statistic: Points) -> tuple[Vector, Vector]:
    """The silhouette of each point, and its weight."""
    from scipy.spatial.distance import (
        cdist,
    )  # of differences: expanded squares lose the digits of near points

    labels, codes = encode(statistic.labels)
    weight, points = statistic.weight, statistic.points
    _check("silhouette_score", len(labels), float(weight.sum()))
    sizes = np.bincount(codes, weight, len(labels))
    shares = np.zeros((len(codes), len(labels)))
    shares[np.arange(len(codes)), codes] = weight
    found = np.empty(len(codes))
    step = max(1, BLOCK // len(codes))
    for start in range(0, len(codes), step):
        own = codes[start : start + step]
        rows = np.arange(len(own))
        sums = cdist(points[start : start + step], points) @ shares
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = sums[rows, own] / (sizes[own] - 1)
            means = sums / sizes
            means[rows, own] = np.inf
            outside = means.min(axis=1)
            found[start : start + step] = (outside - inside) / np.maximum(inside, outside)
    found[(sizes[codes] <= 1) | np.isnan(found)] = 0.0
    return found, weight


class Silhouette(_OfPoints):
    """The mean over points of (b - a) / max(a, b): a the mean distance to its own cluster, b to the next.

    A point alone in its cluster has 0. All distances are needed, so the statistic keeps the points; they are
    taken in blocks, and never all pairs at once.

    >>> from surefit import metrics
    >>> round(metrics.silhouette_score([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1]), 10)
    0.6537337662
    """

    name = "silhouette_score"

    def finish(self, statistic: Points) -> float:
        """Return the mean."""
        found, weight = silhouettes(statistic)
        return float(np.average(found, weights=weight))


class DaviesBouldin(_OfPoints):
    """The mean over clusters of the worst likeness to another: the sum of the two mean distances to their
    centres over the distance of the centres.

    It takes the centres first, so the statistic keeps the points.

    >>> from surefit import metrics
    >>> metrics.davies_bouldin_score([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1])
    0.3333333333333333
    """

    name = "davies_bouldin_score"
    words = "Davies-Bouldin index"
    better: ClassVar[Better | None] = "lower"
    bounded = (0.0, inf)

    def finish(self, statistic: Points) -> float:
        """Return the mean."""
        labels, codes = encode(statistic.labels)
        _check(self.name, len(labels), float(statistic.weight.sum()))
        points = statistic.points - np.average(statistic.points, axis=0, weights=statistic.weight)
        centres, spreads = np.empty((len(labels), points.shape[1])), np.empty(len(labels))
        for k in range(len(labels)):
            part, weight = points[codes == k], statistic.weight[codes == k]
            centres[k] = np.average(part, axis=0, weights=weight)
            spreads[k] = np.average(np.linalg.norm(part - centres[k], axis=1), weights=weight)
        apart = np.linalg.norm(centres[:, None] - centres, axis=2)
        if not spreads.any() or not apart.any():
            return 0.0
        apart[apart == 0] = np.inf
        return float(np.mean(((spreads[:, None] + spreads) / apart).max(axis=1)))


class Dunn(_OfPoints):
    """The least distance between points of different clusters over the largest within one.

    Above 1 the Good Clustering Principle holds. All distances are needed, and are taken in blocks; where all
    clusters are points, it is infinite.

    >>> from surefit import metrics
    >>> metrics.dunn_score([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1])
    1.5
    """

    name = "dunn_score"
    words = "Dunn index"
    bounded = (0.0, inf)

    def finish(self, statistic: Points) -> float:
        """Return the ratio."""
        from scipy.spatial.distance import cdist

        labels, codes = encode(statistic.labels)
        _check(self.name, len(labels), float(statistic.weight.sum()))
        points, inside, between = statistic.points, 0.0, inf
        step = max(1, BLOCK // len(codes))
        for start in range(0, len(codes), step):
            apart = cdist(points[start : start + step], points)
            same = codes[start : start + step, None] == codes
            inside = max(inside, float(apart[same].max(initial=0.0)))
            between = min(between, float(apart[~same].min(initial=inf)))
        return between / inside if inside > 0 else inf if between > 0 else 0.0


@public
def silhouette_samples(X: Any, labels: Any) -> Vector:
    """Return the silhouette (b - a) / max(a, b) of each row: a the mean distance to its own cluster, b to the
    next.

    >>> import surefit
    >>> surefit.silhouette_samples([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1]).round(10)
    array([0.8       , 0.75      , 0.42857143, 0.63636364])
    """
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or len(points) != len(labels):
        raise DataError("silhouette_samples: X must be a table with one label a row.")
    found, _ = silhouettes(Points(points, np.asarray(labels), np.ones(len(points))))
    return found
