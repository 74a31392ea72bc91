"""Weight, mean, scatter, minimum and maximum of each column, of the cells that are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.columns.column_facts import column_facts
from surefit.core.native.sums.moments import ColumnMoments, column_moments
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic

_CANCELS = 1e-6  # share of a column's square at which its scatter has lost too many digits


@dataclass(frozen=True, slots=True)
class Spread(Statistic):
    r"""Column-wise moments, centred: W, :math:`m = \sum s_i x_i / W`, :math:`\sum s_i (x_i - m)^2`, range.

    A missing cell (NaN) counts for nothing in its column; ``weight`` and ``missing`` are therefore one number
    a column. ``rows`` counts the rows with positive weight. The range of no cells is (inf, -inf), so that
    joining is a minimum and a maximum.
    """

    name = "spread"

    rows: int
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]
    missing: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch, *, part: Literal["X", "y"] = "X", **context: Any) -> Spread:
        """Compute it over the columns of X, or over the targets."""
        block: Any = batch.X if part == "X" else batch.y
        if block is None:
            raise ValueError("the batch has no target.")
        if block.ndim == 1:
            block = block[:, None]
        rows = len(batch) if batch.weight is None else int(np.count_nonzero(batch.weight))
        found = _moments(block, batch.weight, whole=rows == len(batch))
        columns = len(found.mean)
        if np.isfinite(found.mean).all():
            weight = np.full(columns, found.weight)
            return cls(
                rows, weight, found.mean, found.scatter, found.minimum, found.maximum, np.zeros(columns)
            )
        return cls._of_present(block, batch.weight, rows)

    @classmethod
    def _of_present(cls, block: Any, weight: NDArray[np.float64] | None, rows: int) -> Spread:
        """Leave missing cells out, by giving them no weight in their own column."""
        dense = np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)
        there = ~np.isnan(dense)
        counted = np.ones(len(dense)) if weight is None else weight
        s = there * counted[:, None]
        total = s.sum(axis=0)
        gone = (counted[:, None] * ~there).sum(axis=0)
        share = np.where(total > 0, total, 1.0)
        # Shifted by a value of the column's own size, so that a large offset does not cancel.
        first = np.argmax(s > 0, axis=0)
        shift = np.where(total > 0, np.nan_to_num(dense[first, np.arange(dense.shape[1])]), 0.0)
        filled = np.where(there, dense, shift)
        mean = np.where(total > 0, shift + (s * (filled - shift)).sum(axis=0) / share, 0.0)
        scatter = (s * (np.where(there, dense, mean) - mean) ** 2).sum(axis=0)
        minimum = np.where(s > 0, dense, np.inf).min(axis=0, initial=np.inf)
        maximum = np.where(s > 0, dense, -np.inf).max(axis=0, initial=-np.inf)
        return cls(rows, total, mean, scatter, minimum, maximum, gone)

    def __add__(self, other: Spread) -> Spread:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        shift = other.mean - self.mean
        # Chan's update: the means move towards each other, and their distance joins the scatter.
        return Spread(
            self.rows + other.rows,
            weight,
            self.mean + shift * share,
            self.scatter + other.scatter + shift * shift * (self.weight * share),
            np.minimum(self.minimum, other.minimum),
            np.maximum(self.maximum, other.maximum),
            self.missing + other.missing,
        )

    @property
    def variance(self) -> NDArray[np.float64]:
        """Scatter over weight: the biased variance; 0 for a column without a cell."""
        return np.divide(self.scatter, self.weight, out=np.zeros_like(self.scatter), where=self.weight > 0)

    @property
    def moments(self) -> ColumnMoments:
        """The same numbers as the kernel returns them."""
        weight = float(self.weight.max(initial=0.0))
        return ColumnMoments(weight, self.mean, self.scatter, self.minimum, self.maximum)


def _moments(block: Any, weight: NDArray[np.float64] | None, whole: bool) -> ColumnMoments:
    """Take sparse columns as they stand, unless some of their rows have no weight."""
    if getattr(block, "format", None) != "csc":
        return column_moments(block, weight)
    count = block.shape[0]
    plain = block.has_canonical_format and block.dtype in (np.float32, np.float64)
    if not (whole and plain and count):
        return column_moments(block.tocsr(), weight)
    facts = column_facts(block, np.zeros(count), weight)
    stored = np.diff(block.indptr)
    some = stored > 0
    first = block.indptr[:-1][some]
    low, high = np.zeros(len(stored)), np.zeros(len(stored))
    if len(first):
        low[some] = np.fmin.reduceat(block.data, first)
        high[some] = np.fmax.reduceat(block.data, first)
    sparse = stored < count  # of entries that are not stored, and zero
    low[sparse] = np.fmin(low[sparse], 0.0)
    high[sparse] = np.fmax(high[sparse], 0.0)
    total = float(count) if weight is None else float(weight.sum())
    far = np.flatnonzero(facts.scatter <= _CANCELS * total * facts.mean**2)  # full columns, far from zero
    if len(far):
        facts.scatter[far] = column_moments(block[:, far].tocsr(), weight).scatter
    return ColumnMoments(total, facts.mean, facts.scatter, low, high)
