"""Plain recomputations, for certificates: extended precision and whole columns, and no code of the fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.source import Source


def blocks(source: Source) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield each batch as a dense float64 matrix and its weights; rows without weight are left out."""
    for batch in source:
        X: Any = batch.X
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        weight = np.ones(len(dense)) if batch.weight is None else batch.weight
        yield dense[weight > 0], weight[weight > 0]


def total_weight(source: Source) -> float:
    """The sum of all weights."""
    sums = [len(batch) if batch.weight is None else float(np.sum(batch.weight)) for batch in source]
    return float(np.sum(np.array(sums, dtype=np.longdouble)))


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


def plain_moments(source: Source) -> PlainMoments:
    """Two passes over the source: means, then squared distances from them."""
    rows, weight, total, low, high = 0.0, 0.0, 0.0, np.inf, -np.inf
    missing: Any = 0.0
    for X, s in blocks(source):
        cells = _weights_of_cells(X, s)
        rows += float(s.sum())
        missing = missing + np.where(np.isnan(X), s[:, None], 0).sum(axis=0)
        weight = weight + cells.sum(axis=0)
        total = total + (cells * np.nan_to_num(X)).sum(axis=0)
        low = np.minimum(low, np.where(cells > 0, X, np.inf).min(axis=0, initial=np.inf))
        high = np.maximum(high, np.where(cells > 0, X, -np.inf).max(axis=0, initial=-np.inf))
    counted = np.where(np.asarray(weight) > 0, weight, 1)
    mean = total / counted
    scatter: Any = 0.0
    for X, s in blocks(source):
        cells = _weights_of_cells(X, s)
        scatter = scatter + (cells * np.where(np.isnan(X), 0, X - mean) ** 2).sum(axis=0)
    found = [np.asarray(value, dtype=np.float64) for value in (weight, mean, scatter / counted, low, high)]
    return PlainMoments(rows, missing, *found)


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
