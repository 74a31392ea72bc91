"""The value that a column's gaps are filled with: how each strategy finds it, and how it is found again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells
from surefit.data.source import MappedSource, Source
from surefit.engine.base import Engine
from surefit.models.prepare.encoders.encoder import NAN, recounted
from surefit.models.prepare.imputers.missing_cells import gaps, is_missing_marker
from surefit.models.prepare.quantiles import ExactQuantiles, quantile_change
from surefit.models.prepare.recompute import block, plain_moments
from surefit.stats.base import Statistic
from surefit.stats.category_counts import CategoryCounts
from surefit.stats.sketch import Sketch
from surefit.stats.spread import Spread

Strategy = str | Callable[..., Any]


@dataclass(frozen=True, slots=True)
class FillStrategy:
    """A strategy, its constant, and whether columns without a single value are kept."""

    strategy: Strategy
    fill_value: Any
    keep_empty: bool

    def of(self, batch: Batch) -> Statistic:
        """The statistic of some rows, whose gaps are NaN."""
        if self.strategy == "mean":
            return Spread.of(batch)
        if self.strategy == "median":
            return Sketch.of(batch)
        return CategoryCounts.of(_dense(batch))

    def of_memory(self, batch: Batch) -> Any:
        """The same of all rows, exact."""
        return ExactQuantiles.of(batch, [0.5]) if self.strategy == "median" else self.of(batch)

    def finish(self, statistic: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The fill value of each column, NaN for a column to drop; and how far its rank can be off."""
        if isinstance(statistic, Spread):
            found = np.where(statistic.weight > 0, statistic.mean, np.nan)
            return self._kept(found), np.zeros(len(found))
        if isinstance(statistic, Sketch | ExactQuantiles):
            return self._kept(statistic.quantile(0.5)), statistic.error
        columns = [_known(*column) for column in zip(statistic.levels, statistic.counts, strict=True)]
        return self._counted(columns), np.zeros(len(columns))

    def _counted(self, columns: list[tuple[NDArray[Any], NDArray[np.float64]]]) -> NDArray[Any]:
        kinds = [levels.dtype for levels, _ in columns if len(levels)]
        words = any(kind.kind in "OUS" for kind in kinds)
        if self.strategy == "constant":
            fill = self.constant(np.dtype(object if words else float))
            values = [fill if len(levels) or self.keep_empty else np.nan for levels, _ in columns]
            return _objects(values)
        if self.strategy == "most_frequent":
            values = [levels[np.argmax(counts)] if len(levels) else np.nan for levels, counts in columns]
        else:
            assert callable(self.strategy)
            values = [self.strategy(_repeated(*column)) if len(column[0]) else np.nan for column in columns]
        return self._kept(_objects(values) if words else np.array(values, dtype=np.float64))

    def _kept(self, values: NDArray[Any]) -> NDArray[Any]:
        if not self.keep_empty:
            return values
        empty = [is_missing_marker(value) for value in values]
        return np.where(empty, 0, values)

    def constant(self, kind: np.dtype[Any]) -> Any:
        """The constant; by default 0 for numbers and "missing_value" for everything else."""
        if self.fill_value is not None:
            return self.fill_value
        return 0 if kind.kind in "iufb" else "missing_value"


def present(batch: Batch, marker: Any) -> Batch:
    """The batch with NaN for the marker, so that statistics leave gaps out."""
    X: Any = batch.X
    if is_missing_marker(marker) and not isinstance(X, Cells):
        return batch
    found = gaps(X, marker)
    if isinstance(X, Cells):
        columns = [_marked(column, gone) for column, gone in zip(X.columns, found.T, strict=True)]
        return replace(batch, X=Cells(tuple(columns)))
    if sparse.issparse(X):
        data = np.where(gaps(X.data, marker), np.nan, X.data)
        return replace(batch, X=type(X)((data, X.indices, X.indptr), shape=X.shape))
    return replace(batch, X=np.where(found, np.nan, X))


def _marked(column: NDArray[Any], gone: NDArray[np.bool_]) -> NDArray[Any]:
    if not gone.any():
        return column
    out = column.astype(np.float64 if column.dtype.kind in "iufb" else object)
    out[gone] = np.nan
    return out


def _dense(batch: Batch) -> Batch:
    X: Any = batch.X
    return replace(batch, X=X.toarray()) if sparse.issparse(X) else batch


def _known(levels: NDArray[Any], counts: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Without the level NaN, which is last."""
    gone = len(levels) > 0 and is_missing_marker(levels[-1])
    return (levels[:-1], counts[:-1]) if gone else (levels, counts)


def _repeated(levels: NDArray[Any], counts: NDArray[np.float64]) -> NDArray[Any]:
    times = counts.astype(np.int64)
    if not np.array_equal(times, counts):
        raise DataError("a function as strategy repeats each row by its weight: pass whole-number weights.")
    return np.repeat(levels, times)


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def filling_change(
    filling: FillStrategy, values: NDArray[Any], error: NDArray[np.float64], rows: Source, engine: Engine
) -> float:
    """How far fill values are from those found again in plain passes, in ranges of their columns.

    The gaps of the rows are NaN. Another word is infinitely far; a median from a sketch is held to the ranks
    that its error allows.
    """
    if filling.strategy == "median":
        filled = sum(engine.map(_cells_there, rows))
        medians = np.where(filled == 0, np.nan, values.astype(np.float64))
        return quantile_change(rows, engine, [0.5], medians[None, :], error)
    worst = 0.0
    plains = _plain_values(filling, rows, engine, len(values))
    for value, (plain, span) in zip(values.tolist(), plains, strict=True):
        if value == plain or (is_missing_marker(value) and is_missing_marker(plain)):
            continue
        numbers = isinstance(value, int | float) and isinstance(plain, int | float)
        worst = max(worst, abs(value - plain) / span if numbers and span > 0 else np.inf)
    return worst


def _cells_there(batch: Batch) -> Any:
    return (~np.isnan(block(batch)[0])).sum(axis=0)


def _plain_values(
    filling: FillStrategy, rows: Source, engine: Engine, columns: int
) -> list[tuple[Any, float]]:
    """For each column the fill value and the range of what it was found from."""
    if filling.strategy == "mean":
        plain = plain_moments(rows, engine)
        means = filling._kept(np.where(plain.weight > 0, plain.mean, np.nan))
        spans = plain.maximum - plain.minimum + 1e-6 * plain.largest
        return list(zip(means.tolist(), spans.tolist(), strict=True))
    dense = MappedSource(rows, rows.schema, _dense)
    return [
        _plain_value(filling, {level: count for level, count in tally.items() if level != NAN})
        for tally in recounted(dense, engine, range(columns))
    ]


def _plain_value(filling: FillStrategy, tally: dict[Any, float]) -> tuple[Any, float]:
    numbers = all(isinstance(level, int | float) for level in tally)
    span = max(tally) - min(tally) + 1e-6 * max(map(abs, tally)) if tally and numbers else 0.0
    if filling.strategy == "constant":
        constant = filling.constant(np.dtype(float if numbers else object))
        return (constant if tally or filling.keep_empty else np.nan), span
    if not tally:
        return (0 if filling.keep_empty else np.nan), 0.0
    if filling.strategy == "most_frequent":
        most = max(tally.values())
        return min(level for level, count in tally.items() if count == most), span
    levels = np.array(sorted(tally))
    counts = np.array([tally[level] for level in levels.tolist()])
    assert callable(filling.strategy)
    return filling.strategy(_repeated(levels, counts)), span
