"""Plain recomputations, for certificates: extended precision and whole columns, and no code of the fits.

Each batch is summed up where it lies, by ``engine.map``; only the sums come back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine


def block(batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A batch as a dense float64 matrix and its weights; rows without weight are left out."""
    X: Any = batch.X
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    weight = np.ones(len(dense)) if batch.weight is None else batch.weight
    return dense[weight > 0], weight[weight > 0]


def total_weight(source: Source, engine: Engine) -> float:
    """The sum of all weights."""
    return float(np.sum(np.array(list(engine.map(_weight, source)), dtype=np.longdouble)))


def _weight(batch: Batch) -> float:
    return float(len(batch)) if batch.weight is None else float(np.sum(batch.weight))


@dataclass(frozen=True, slots=True)
class PlainMoments:
    """The weight of all rows, and of each column's missing cells; the moments and range of the others."""

    rows: float
    missing: NDArray[np.float64]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]

    @property
    def largest(self) -> NDArray[np.float64]:
        """The largest absolute value of each column, 0 without a cell."""
        return np.where(self.weight > 0, np.maximum(np.abs(self.minimum), np.abs(self.maximum)), 0.0)


def plain_moments(source: Source, engine: Engine) -> PlainMoments:
    """Two passes over the source: means, then squared distances from them."""
    rows, missing, weight, total, low, high = zip(*engine.map(_sums, source), strict=True)
    cells: Any = sum(weight)
    counted = np.where(cells > 0, cells, 1)
    mean = sum(total) / counted
    scatter: Any = sum(engine.map(partial(_squares, mean=mean), source))
    found = [cells, mean, scatter / counted, np.min(low, axis=0), np.max(high, axis=0)]
    return PlainMoments(
        float(sum(rows)), np.sum(missing, axis=0), *(np.asarray(value, dtype=np.float64) for value in found)
    )


def _sums(batch: Batch) -> tuple[Any, ...]:
    """Weights of rows, of missing cells and of the others, their weighted sum, and their range."""
    X, s = block(batch)
    cells = _weights_of_cells(X, s)
    low = np.where(cells > 0, X, np.inf).min(axis=0, initial=np.inf)
    high = np.where(cells > 0, X, -np.inf).max(axis=0, initial=-np.inf)
    missing = np.where(np.isnan(X), s[:, None], 0).sum(axis=0)
    return s.sum(), missing, cells.sum(axis=0), (cells * np.nan_to_num(X)).sum(axis=0), low, high


def _squares(batch: Batch, mean: Any) -> Any:
    X, s = block(batch)
    return (_weights_of_cells(X, s) * np.where(np.isnan(X), 0, X - mean) ** 2).sum(axis=0)


def _weights_of_cells(X: NDArray[Any], s: NDArray[Any]) -> NDArray[np.longdouble]:
    return np.where(np.isnan(X), 0, s[:, None]).astype(np.longdouble)


def change(one: Any, two: Any, unit: Any = 1.0) -> float:
    """The largest difference of two arrays in some unit: 0 where both are equal or both missing, inf where
    their shapes differ.
    """
    a, b = np.asarray(one, dtype=np.float64), np.asarray(two, dtype=np.float64)
    if a.shape != b.shape:
        return np.inf
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(same, 0.0, np.abs(a - b) / unit)
    return float(np.max(np.where(np.isnan(steps), np.inf, steps), initial=0.0))


def seen(weight: Any) -> Any:
    """Weights as scikit-learn shows how many samples were seen: whole numbers as integers."""
    values = np.asarray(weight, dtype=np.float64)
    whole = np.array_equal(values, np.round(values))
    return values.astype(np.int64)[()] if whole else values[()]


def relative_change(one: Any, two: Any) -> float:
    """The largest difference relative to the second."""
    return change(one, two, np.abs(np.asarray(two, dtype=np.float64)))
