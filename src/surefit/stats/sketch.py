"""Quantiles of each column in one pass, with a bound on how far their ranks can be off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.data.batches.batch import Batch
from surefit.data.batches.table import Table
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial

Buffer = tuple[Vector, Vector]  # distinct values in increasing order, and the weight of each


@dataclass(frozen=True, slots=True)
class Sketch(Statistic):
    r"""A summary from which any quantile of any column can be read, with ``error`` bounding its rank.

    Each column keeps buffers on levels. Level 0 holds the distinct values as they came, up to twice ``size``
    of them. When a level overflows, its buffers are collapsed into one of ``size`` values on the level above:
    those at the ranks :math:`(j + 1/2)\, W / k`, each with the weight W/k. That moves no rank by more than
    W/(2k), and a row goes up each level once, so after L levels the error is at most L/(2k) of the weight,
    whatever the data, the order and the tree of merges. Few distinct values are kept exactly, and so are the
    least and the greatest. Nothing is random. Missing values are left out.

    error: for each column the bound that the collapses made so far add up to, as a share of the weight.

    >>> sketch = Sketch.of(Batch(np.arange(101.0)[:, None]))
    >>> sketch.quantile([0.25, 0.5]), sketch.cdf([10.0])
    (array([[25.],
           [50.]]), array([0.10891089]))
    """

    name = "sketch"

    size: int
    weight: Vector
    minimum: Vector
    maximum: Vector
    doubt: Vector
    lengths: NDArray[np.int64]
    values: Vector
    weights: Vector

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(cls, batch: Batch, *, size: int = 2048, **context: Any) -> Sketch:
        """Summarise the columns of a matrix, or the numbers of a table."""
        return cls.beside_quantiles(batch, [], size)[0]

    @classmethod
    def beside_quantiles(cls, batch: Batch, q: Any, size: int = 2048) -> tuple[Sketch, Vector]:
        """Return the sketch and the exact q-quantiles, (quantiles, columns), holding few columns at a time.

        >>> Sketch.beside_quantiles(Batch(np.arange(9.0)[:, None]), [0.5], size=2)[1]
        array([[4.]])
        """
        ranks = np.asarray(q, dtype=np.float64)
        weight, ends, found, settled = [], [], [], []
        for values, weights in _columns(batch):
            known = len(values) > 0
            weight.append(weights.sum())
            ends.append((values[0], values[-1]) if known else (np.inf, -np.inf))
            found.append(repeated_quantiles(values, weights, ranks) if known else np.full(len(ranks), np.nan))
            settled.append(_settle([(values, weights)], size))
        low, high = np.array(ends).reshape(-1, 2).T
        sketch = cls(size, np.array(weight), low.copy(), high.copy(), *_packed(np.zeros(len(ends)), settled))
        return sketch, np.array(found).reshape(len(ends), len(ranks)).T

    def _levels(self, column: int) -> list[Buffer]:
        """The buffers of a column."""
        start = int(self.lengths[:column].sum())
        found = []
        for length in self.lengths[column]:
            found.append((self.values[start : start + length], self.weights[start : start + length]))
            start += int(length)
        return found

    def __add__(self, other: Sketch) -> Sketch:
        if not self.weight.any() or not other.weight.any():
            return other if not self.weight.any() else self
        columns = []
        for j in range(len(self.weight)):
            one, two = self._levels(j), other._levels(j)
            depth = max(len(one), len(two))
            levels = [_union(*one[i : i + 1], *two[i : i + 1]) for i in range(depth)]
            columns.append(_settle(levels, self.size))
        return Sketch(
            self.size,
            self.weight + other.weight,
            np.minimum(self.minimum, other.minimum),
            np.maximum(self.maximum, other.maximum),
            *_packed(self.doubt + other.doubt, columns),
        )

    @property
    def error(self) -> Vector:
        """For each column: how far the rank of a quantile can be off, as a share of the weight."""
        return self.doubt / np.where(self.weight > 0, self.weight, 1.0)

    def shrunk(self, size: int = 2048) -> Sketch:
        """The same in buffers of another size, at an error of its own."""
        settled = [_settle(self._levels(column), size) for column in range(len(self.weight))]
        return Sketch(size, self.weight, self.minimum, self.maximum, *_packed(self.doubt, settled))

    def quantile(self, q: Any) -> Vector:
        """The q-quantiles, (columns,) or (quantiles, columns); NaN for a column without values.

        Between two values they are interpolated as numpy does by default, with weights as repetitions.
        """
        ranks = np.atleast_1d(np.asarray(q, dtype=np.float64))
        found = np.full((len(ranks), len(self.weight)), np.nan)
        for j in range(len(self.weight)):
            values, weights = _union(*self._levels(j))
            if len(values):
                found[:, j] = repeated_quantiles(values, weights, ranks)
                found[ranks <= 0, j], found[ranks >= 1, j] = self.minimum[j], self.maximum[j]
        return found if np.ndim(q) else found[0]

    def cdf(self, x: Any) -> Vector:
        """For each column the share of the weight at or below its entry of x; NaN without values."""
        points = np.broadcast_to(np.asarray(x, dtype=np.float64), self.weight.shape)
        below = [
            weights[values <= point].sum()
            for point, (values, weights) in zip(points, map(self.points, range(len(points))), strict=True)
        ]
        with np.errstate(invalid="ignore"):
            share = np.array(below) / self.weight
        return np.where(points >= self.maximum, 1.0, np.where(points < self.minimum, 0.0, share)) + 0 * share

    def points(self, column: int) -> Buffer:
        """Return the values kept of a column, in order, and the weight that each stands for."""
        return _union(*self._levels(column))

    def distance(self, other: Sketch) -> float:
        """How much further apart the two distributions are than the two errors allow, or the exact parts."""
        gap = max(
            float(np.max(np.abs(self.weight - other.weight) / np.maximum(self.weight, 1.0), initial=0.0)),
            float(not np.array_equal(self.minimum, other.minimum)),
            float(not np.array_equal(self.maximum, other.maximum)),
        )
        for j, allowed in enumerate(self.error + other.error):
            one, two = self.points(j), other.points(j)
            points = np.union1d(one[0], two[0])
            apart = np.abs(_steps(one, points) - _steps(two, points)).max(initial=0.0)
            gap = max(gap, float(apart) - float(allowed))
        return gap

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Exact and overflowing sketches, gaps, sparse rows and a table."""
        small = {"size": 8}
        return Trial("numbers"), Trial("gaps", small), Trial("sparse", small), Trial("table", small)


def _columns(batch: Batch) -> Iterator[Buffer]:
    X: Any = batch.X.numbers if isinstance(batch.X, Table) else batch.X
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    sparse = None if isinstance(X, np.ndarray) else X.tocsc()
    side_by_side = max(1, min(8, X.shape[1] // 8))  # a line of the cache, while that is little memory
    for j in range(X.shape[1]):
        if sparse is None:
            if j % side_by_side == 0:
                some = np.asarray(X[:, j : j + side_by_side].T, dtype=np.float64, order="C")
            yield distinct_values(some[j % side_by_side], weight)
        else:
            place = slice(sparse.indptr[j], sparse.indptr[j + 1])
            rows = sparse.indices[place]
            implicit = np.ones(len(weight), dtype=bool)
            implicit[rows] = False
            stored = np.asarray(sparse.data[place], dtype=np.float64)
            yield distinct_values(np.append(stored, 0.0), np.append(weight[rows], weight[implicit].sum()))


def distinct_values(values: Vector, weights: Vector) -> Buffer:
    """The values that have weight, in order, with the weights of equal ones added up."""
    known = ~np.isnan(values) & (weights > 0)
    if not known.all():
        values, weights = values[known], weights[known]
    if (weights == 1.0).all():
        values = np.sort(values)  # far quicker than sorting places
        first = _first_of_equals(values)
        if len(first) == len(values):
            return values, np.ones(len(values))
        return values[first], np.diff(first, append=len(values)).astype(np.float64)
    order = np.argsort(values, kind="stable")
    values = values[order]
    first = _first_of_equals(values)
    return values[first], np.add.reduceat(weights[order], first)


def _first_of_equals(ordered: Vector) -> NDArray[np.int64]:
    return np.flatnonzero(np.concatenate([[True] * min(1, len(ordered)), ordered[1:] != ordered[:-1]]))


def _union(*buffers: Buffer) -> Buffer:
    if len(buffers) == 1:
        return buffers[0]
    values = np.concatenate([np.zeros(0), *[values for values, _ in buffers]])
    weights = np.concatenate([np.zeros(0), *[weights for _, weights in buffers]])
    return distinct_values(values, weights)


def _packed(
    doubt: Vector, settled: Sequence[tuple[list[Buffer], float]]
) -> tuple[Vector, NDArray[np.int64], Vector, Vector]:
    """Lay the buffers out in one array, column after column."""
    depth = max((len(levels) for levels, _ in settled), default=0)
    lengths = np.zeros((len(settled), depth), dtype=np.int64)
    for j, (levels, _) in enumerate(settled):
        lengths[j, : len(levels)] = [len(values) for values, _ in levels]
    buffers = [buffer for levels, _ in settled for buffer in levels]
    values = np.concatenate([np.zeros(0), *[values for values, _ in buffers]])
    weights = np.concatenate([np.zeros(0), *[weights for _, weights in buffers]])
    return doubt + np.array([added for _, added in settled]), lengths, values, weights


def _settle(levels: list[Buffer], size: int) -> tuple[list[Buffer], float]:
    """Collapse every level that holds too much into the one above; return the error that this adds."""
    kept, added, level = list(levels), 0.0, 0
    nothing: Buffer = (np.zeros(0), np.zeros(0))
    while level < len(kept):
        values, weights = kept[level]
        if len(values) > (2 * size if level == 0 else size):
            ends = np.cumsum(weights)
            total = ends[-1]
            picked = values[np.searchsorted(ends, (np.arange(size) + 0.5) * (total / size))]
            kept[level] = nothing
            kept[level + 1 :] = kept[level + 1 :] or [nothing]
            kept[level + 1] = _union(kept[level + 1], distinct_values(picked, np.full(size, total / size)))
            added += total / (2 * size)
        level += 1
    return kept, added


def repeated_quantiles(values: Vector, weights: Vector, ranks: Vector) -> Vector:
    """Read quantiles off a polygon: a value of weight w takes the places of its w repetitions."""
    if len(ranks) == 0:
        return np.zeros(0)
    ends = np.cumsum(weights)
    first, last = (
        ends[i] - (weights[i] + 1) / 2 + side * _half(weights[i]) for i, side in ((0, -1), (-1, 1))
    )
    found = np.empty(len(ranks))
    for k, place in enumerate(first + ranks * (last - first)):
        # A value's places end at most 1 before its weight does.
        start, stop = np.searchsorted(ends, (place, place + 1))
        near = slice(max(start - 1, 0), stop + 2)
        middle, half = ends[near] - (weights[near] + 1) / 2, _half(weights[near])
        places = np.stack([middle - half, middle + half], axis=1).ravel()
        found[k] = np.interp(place, places, np.repeat(values[near], 2))
    return found


def _half(weight: Any) -> Any:
    return np.maximum(weight - 1, 0) / 2


def _steps(buffer: Buffer, points: Vector) -> Vector:
    """The distribution function at some points."""
    values, weights = buffer
    if len(values) == 0:
        return np.zeros(len(points))
    ends = np.concatenate([[0.0], np.cumsum(weights)])
    return np.asarray(ends[np.searchsorted(values, points, side="right")] / ends[-1])
