"""Bins: the few intervals of each column whose borders a histogram search may split at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.core.native.trees.bin_columns import MOST_BINS, Codes, bin_columns
from surefit.stats.sketch import Sketch, distinct_values

# Quantiles of so many rows are within a fifth of a percent of rank of those of all, and sorting stays cheap.
MOST_ROWS = 200_000
# As the greatest edge: a value of infinity still lies beyond it.
LARGEST = 1e300
BLOCK_CELLS = 2**22


@dataclass(frozen=True, slots=True)
class Bins:
    """Of each column its edges, or how many levels it has (0 for numbers): at most 255 bins.

    A code of at most b means a value of at most ``edges[b]``; levels keep their codes, and 255 is missing.

    >>> bins = find_bins(np.array([[1.0], [2.0], [4.0]]))
    >>> bins.edges, bins.counts.tolist(), bins.codes(np.array([[2.5], [9.0]])).ravel().tolist()
    ((array([1.5, 3. ]),), [3], [1, 2])
    """

    edges: tuple[Vector, ...]
    levels: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many bins each column has, without that of missing values."""
        return np.where(self.levels > 0, self.levels, [len(own) + 1 for own in self.edges])

    def codes(self, X: Any) -> Codes:
        """Return X, numbers and codes of levels, as codes of bins in Fortran order; never dense at once."""
        if not issparse(X):
            return bin_columns(X, self.edges, self.levels)
        found = np.empty(X.shape, dtype=np.uint8, order="F")
        step, rows = max(1, BLOCK_CELLS // max(1, X.shape[1])), X.tocsr()
        for i in range(0, X.shape[0], step):
            found[i : i + step] = bin_columns(rows[i : i + step].toarray(), self.edges, self.levels)
        return found


def find_bins(
    X: Any, weight: Vector | None = None, max_bins: int = MOST_BINS, levels: NDArray[np.int64] | None = None
) -> Bins:
    """Cut each column of numbers at its quantiles, or between all its values where these are few.

    levels: of each column, 0 for numbers; a column of levels keeps its codes. Rows of weight 0 do not count.
    Of many rows, some are drawn.
    """
    levels = np.zeros(X.shape[1], dtype=np.int64) if levels is None else levels
    refuse_levels(levels, max_bins)
    if X.shape[0] > MOST_ROWS:
        X, weight = X[_drawn(X.shape[0], weight)], None
    if issparse(X):
        X = X.tocsc()
    plain = np.ones(X.shape[0]) if weight is None else weight
    edges = []
    for j, count in enumerate(levels.tolist()):
        if count:
            edges.append(np.empty(0))
            continue
        column = X[:, [j]].toarray().ravel() if issparse(X) else X[:, j]
        edges.append(quantile_edges(*distinct_values(column.astype(np.float64), plain), max_bins))
    return Bins(tuple(edges), levels)


def edges_from_sketch(
    sketch: Sketch, max_bins: int = MOST_BINS, levels: NDArray[np.int64] | None = None
) -> Bins:
    """Find the same bins from a summary of each column, as one pass over a stream gives it.

    They are equal to those of the rows in memory as long as the sketch kept every value.
    """
    levels = np.zeros(len(sketch.weight), dtype=np.int64) if levels is None else levels
    refuse_levels(levels, max_bins)
    none = np.empty(0)
    edges = [none if count else quantile_edges(*sketch.points(j), max_bins) for j, count in enumerate(levels)]
    return Bins(tuple(edges), levels)


def quantile_edges(values: Vector, weights: Vector, max_bins: int) -> Vector:
    """Return the edges between distinct values in ascending order: at midpoints, or at quantiles of many.

    A quantile that falls between two values is their mean.
    """
    if len(values) <= max_bins:
        low, high = values[:-1], values[1:]
        with np.errstate(over="ignore", invalid="ignore"):
            middle = (low + high) / 2
        # The mean of two neighbours may round to the upper one.
        middle = np.where((middle < high) | np.isinf(high), middle, low)
        return np.clip(np.nan_to_num(middle, nan=0.0), -np.finfo(float).max, LARGEST)
    ends = np.cumsum(weights)
    wanted = ends[-1] * np.arange(1, max_bins) / max_bins
    slack = 1e-12 * ends[-1]  # ranks that differ by rounding alone are equal
    at = np.searchsorted(ends, wanted - slack)
    after = np.minimum(at + (ends[at] <= wanted + slack), len(values) - 1)
    return np.clip(np.unique((values[at] + values[after]) / 2), -np.finfo(float).max, LARGEST)


def _drawn(rows: int, weight: Vector | None) -> NDArray[np.int64]:
    """Rows drawn by their weights, always the same ones, so that bins depend on the data alone."""
    places = np.sort(np.random.default_rng(0).random(MOST_ROWS))
    if weight is None:
        return (places * rows).astype(np.int64)
    ends = np.cumsum(weight)
    return np.asarray(np.searchsorted(ends, places * ends[-1], side="right"))


def refuse_levels(levels: NDArray[np.int64], max_bins: int, names: Sequence[str] | None = None) -> None:
    """Refuse a column of more levels than a histogram has bins."""
    if levels.max(initial=0) > max_bins:
        j = int(levels.argmax())
        which = f"at index {j}" if names is None else repr(names[j])
        raise DataError(
            f"Categorical feature {which} is expected to have a cardinality <= {max_bins} but actually has a "
            f"cardinality of {levels[j]}: group its levels, or leave it out of categorical_features."
        )
