"""A density that is constant on the cells of a grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError, RefusalError
from surefit.core.parameters import Count
from surefit.core.public import public
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.updating import OneStatistic
from surefit.resample.streams import seed_of, stream
from surefit.stats.row_set import RowSet

Rule = Literal["auto", "fd", "scott", "rice", "sturges", "doane", "sqrt"]
_MOST = 2**16  # bins of a column


@dataclass(frozen=True, slots=True)
class HistogramParameters:
    """The edges of each column; the cells that hold rows, by their bins, and the weight in each."""

    bin_edges: list[Vector]
    cells: NDArray[np.int64]
    counts: Vector


class HistogramDensity(OneStatistic):
    r"""Histogram: :math:`p(x) = N_b / (N \, |b|)` for the cell b of the grid that x lies in, 0 outside.

    bins: the rule for the number of bins of each column (see ``bin_number``), or the number. Bins are of
    equal width, closed on the left, the last one on both sides; a column without spread has one bin of width
    1 around its value.

    >>> from surefit import HistogramDensity
    >>> model = HistogramDensity(bins=2).fit([[0.0], [1.0], [1.5], [2.0]])
    >>> np.exp(model.score_samples([[0.5], [2.0], [3.0]])).tolist()
    [0.25, 0.75, 0.0]
    """

    accepts = Accepts(sparse=False)
    learns = HistogramParameters
    bin_edges_: list[Vector]
    cells_: NDArray[np.int64]
    counts_: Vector

    def __init__(self, *, bins: Rule | Count = "auto") -> None:
        self.bins = bins

    def check_loaded(self) -> None:
        """Refuse cells that do not fit the grid."""
        sizes = np.array([len(edges) - 1 for edges in self.bin_edges_])
        fits = len(sizes) == self.n_features_in_ and self.cells_.shape == (len(self.counts_), len(sizes))
        if not fits or (sizes < 1).any() or (self.cells_ < 0).any() or (self.cells_ >= sizes).any():
            raise FormatError("the file's cells do not fit its edges.")

    def _of(self, schema: Schema) -> Callable[[Batch], RowSet]:
        return RowSet.of

    def _finish(self, statistic: RowSet, schema: Schema) -> Learned:
        if len(statistic) == 0:
            raise RefusalError("no row would be left: keep at least one.")
        X, weight = statistic.X, statistic.weight
        edges = [_edges(column, weight, self.bins) for column in X.T]
        cells, codes = np.unique(_places(X, edges)[0], axis=0, return_inverse=True)
        counts = np.bincount(codes.ravel(), weight, len(cells)).astype(np.float64)
        return Learned(HistogramParameters(edges, cells, counts), _certificate(0.0, 0.0), {"rows": len(X)})

    def score_samples(self, X: Any, *, to: str | Path | None = None) -> Vector:
        """Return the log-density of each row, -inf outside the grid and in empty cells."""
        return self._answer(self._log_density, X, to, ["log_density"], infinite=True)

    def _log_density(self, X: Any) -> Vector:
        places, inside = _places(np.asarray(X, dtype=np.float64), self.bin_edges_)
        known = {cell.tobytes(): k for k, cell in enumerate(np.ascontiguousarray(self.cells_))}
        which = np.array(
            [known.get(cell.tobytes(), -1) for cell in np.ascontiguousarray(places)], dtype=np.intp
        )
        volume = sum(np.log(edges[1] - edges[0]) for edges in self.bin_edges_)
        found = np.full(len(places), -np.inf)
        there = inside & (which >= 0)
        found[there] = np.log(self.counts_[which[there]] / self.counts_.sum()) - volume
        return found

    def score(self, X: Any, y: Any = None) -> float:
        """Return the total log-likelihood of the rows."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Matrix:
        """Draw rows: a cell by its weight, and a point in it."""
        rng = stream(seed_of(random_state), 0)
        cumulative = np.cumsum(self.counts_)
        which = np.searchsorted(cumulative / cumulative[-1], rng.random(n_samples), side="right")
        low = np.column_stack([edges[self.cells_[which, j]] for j, edges in enumerate(self.bin_edges_)])
        width = np.array([edges[1] - edges[0] for edges in self.bin_edges_])
        return np.asarray(low + width * rng.random(low.shape))

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count each cell again, and what lies outside all; compare the ends of the grid with the rows."""
        held, total = np.zeros(len(self.counts_)), 0.0
        low, high = np.full(self.n_features_in_, np.inf), np.full(self.n_features_in_, -np.inf)
        for found in engine.map(partial(_counted, self.bin_edges_, self.cells_), source):
            held, total = held + found[0], total + found[1]
            low, high = np.minimum(low, found[2]), np.maximum(high, found[3])
        missed = max(float(np.abs(held - self.counts_).max(initial=0.0)), abs(total - held.sum())) / total
        ends = 0.0
        for edges, a, b in zip(self.bin_edges_, low, high, strict=True):
            wanted = np.linspace(*_ends(a, b), len(edges))
            width = wanted[1] - wanted[0]
            ends = max(ends, float(np.max(np.abs(edges - wanted)) / width))
        return _certificate(missed, ends)


@public
def bin_number(x: Any, rule: Rule = "auto", sample_weight: Any = None) -> int:
    r"""Return how many bins a histogram of a column should have; the range over the width, rounded up.

    With n values, deviation s and inter-quartile range q the width is range / (log2 n + 1) for "sturges",
    range / sqrt(n) for "sqrt", range / (2 n^(1/3)) for "rice", (24 sqrt(pi) / n)^(1/3) s for "scott",
    2 q n^(-1/3) for "fd" (Freedman and Diaconis); "doane" corrects Sturges' rule for skewness; "auto" takes
    the smaller of "fd" and "sturges".

    >>> bin_number(np.arange(100.0), "sturges"), bin_number(np.arange(100.0), "sqrt")
    (8, 10)
    """
    values = np.asarray(x, dtype=np.float64)
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    values, weight = values[weight > 0], weight[weight > 0]
    span, n = float(np.ptp(values)), float(weight.sum())
    if span == 0:
        return 1
    width = _width(values, weight, rule, span, n)
    return int(min(max(np.ceil(span / width), 1), _MOST)) if width > 0 else 1


def _width(x: Vector, weight: Vector, rule: Rule, span: float, n: float) -> float:
    if rule == "sqrt":
        return span / np.sqrt(n)
    if rule == "rice":
        return span / (2 * n ** (1 / 3))
    if rule == "sturges":
        return span / (np.log2(n) + 1)
    if rule == "auto":
        fd = _width(x, weight, "fd", span, n)
        sturges = _width(x, weight, "sturges", span, n)
        return min(fd, sturges) if fd > 0 else sturges
    if rule == "fd":
        return 2 * (_quantile(x, weight, 0.75) - _quantile(x, weight, 0.25)) * n ** (-1 / 3)
    mean = weight @ x / n
    deviation = float(np.sqrt(weight @ (x - mean) ** 2 / n))
    if rule == "scott":
        return float((24 * np.sqrt(np.pi) / n) ** (1 / 3) * deviation)
    if n <= 2:
        return span
    skew = abs(float(weight @ ((x - mean) / deviation) ** 3 / n))
    sg = np.sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))
    return float(span / (1 + np.log2(n) + np.log2(1 + skew / sg)))


def _quantile(x: Vector, weight: Vector, level: float) -> float:
    """The linear quantile of the values, each repeated by its weight."""
    order = np.argsort(x, kind="stable")
    ends = np.cumsum(weight[order])
    at = level * (ends[-1] - 1)
    below = min(int(np.searchsorted(ends, np.floor(at), side="right")), len(x) - 1)
    above = min(int(np.searchsorted(ends, np.floor(at) + 1, side="right")), len(x) - 1)
    low, high = x[order[below]], x[order[above]]
    return float(low + (at - np.floor(at)) * (high - low))


def _ends(low: float, high: float) -> tuple[float, float]:
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _edges(column: Vector, weight: Vector, bins: Any) -> Vector:
    number = bins if isinstance(bins, int | np.integer) else bin_number(column, bins, weight)
    return np.linspace(*_ends(float(column.min()), float(column.max())), int(number) + 1)


def _places(X: Matrix, edges: list[Vector]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The bin of each cell, and whether the row lies in the grid."""
    places, inside = np.empty(X.shape, dtype=np.int64), np.ones(len(X), dtype=bool)
    for j, edge in enumerate(edges):
        place = np.searchsorted(edge, X[:, j], side="right") - 1
        place[X[:, j] == edge[-1]] = len(edge) - 2
        inside &= (place >= 0) & (place < len(edge) - 1)
        places[:, j] = np.clip(place, 0, len(edge) - 2)
    return places, inside


def _counted(
    edges: list[Vector], cells: NDArray[np.int64], batch: Batch
) -> tuple[Any, float, Vector, Vector]:
    kept = RowSet.of(batch)
    held = np.zeros(len(cells))
    for k, cell in enumerate(cells):
        mine = np.ones(len(kept), dtype=bool)
        for j, edge in enumerate(edges):
            last = cell[j] == len(edge) - 2
            x = kept.X[:, j]
            mine &= (x >= edge[cell[j]]) & ((x <= edge[-1]) if last else (x < edge[cell[j] + 1]))
        held[k] = kept.weight[mine].sum()
    low, high = kept.X.min(axis=0, initial=np.inf), kept.X.max(axis=0, initial=-np.inf)
    return held, float(kept.weight.sum()), low, high


def _certificate(counts: float, ends: float) -> Certificate:
    parts = {"share of a cell": counts, "edge, in widths": ends}
    return Certificate("exact", "largest change of a share or an edge", float(max(counts, ends)), 1e-9, parts)
