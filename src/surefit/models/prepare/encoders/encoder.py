"""What encoders share: the levels of each column, and the codes of new cells among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells, column_levels, column_places
from surefit.data.batches.distinct import distinct, places
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.prepare.recompute import relative_change, total_weight
from surefit.models.transformer import Transformer
from surefit.stats.category_counts import CategoryCounts

Levels = list[NDArray[Any]]
NAN = "(not a number)"


class Encoder(Transformer, abstract=True):
    """A transformer of categories: each column's levels are found in the fit, or given.

    Levels are in ascending order, missing ones (None, then NaN) last; a value that only rows without weight
    have is no level.
    """

    categories: Any
    categories_: Levels
    counts_: list[NDArray[np.float64]]
    n_samples_seen_: Any

    def _of(self, schema: Schema) -> Callable[[Batch], CategoryCounts]:
        return CategoryCounts.of

    def _known_levels(self, found: Levels, refuse_others: bool) -> Levels:
        """The levels of each column: those found, or those given, which must then hold those found."""
        if isinstance(self.categories, str):
            return found
        if len(self.categories) != len(found):
            raise ParameterError(
                "Shape mismatch: categories must be of shape (n_features,), one list a column: "
                f"it has {len(self.categories)} entries, and X has {len(found)} columns."
            )
        return [
            given_levels(given, values, column, refuse_others)
            for column, (given, values) in enumerate(zip(self.categories, found, strict=True))
        ]

    def _codes(self, X: Any, levels: Levels, refuse: bool) -> NDArray[np.int32]:
        """The code of each cell, -1 where it is no level of its column; ``refuse`` makes that an error."""
        codes = np.empty((X.shape[0], len(levels)), dtype=np.int32)
        for j, known in enumerate(levels):
            codes[:, j] = found = column_places(X, j, known)
            if refuse and len(found) and found.min() < 0:
                values, cells = column_levels(X, j)
                unknown = [values[code] for code in np.unique(cells[found < 0]) if code >= 0]
                raise DataError(unknown_levels(unknown, j, "transform"))
        return codes

    @staticmethod
    def _certificate(value: float) -> Certificate:
        return Certificate(
            "exact", "largest relative change of a count; inf for a changed level", value, 1e-8
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count every cell again, one by one, under the key that Python gives it."""
        tallies = recounted(source, engine, range(len(self.categories_)))
        change = relative_change(self.n_samples_seen_, total_weight(source, engine))
        for levels, counts, tally in zip(self.categories_, self.counts_, tallies, strict=True):
            expected = [tally.pop(key(level), 0.0) for level in levels.tolist()]
            if not isinstance(self.categories, str):
                tally = {}  # others may be there, and do not count
            change = max(change, np.inf if tally else relative_change(counts, expected))
        return self._certificate(change)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def recounted(source: Source, engine: Engine, columns: Sequence[int]) -> list[dict[Any, float]]:
    """The weight of every value of some columns, by plain dictionaries."""
    sums: list[dict[Any, list[float]]] = [{} for _ in columns]
    for tallies in engine.map(partial(_tallies, columns=columns), source):
        for known, tally in zip(sums, tallies, strict=True):
            for value, weight in tally.items():
                known.setdefault(value, []).append(weight)
    return [{value: fsum(weights) for value, weights in known.items()} for known in sums]


def _tallies(batch: Batch, columns: Sequence[int]) -> list[dict[Any, float]]:
    weight = [1.0] * len(batch) if batch.weight is None else batch.weight.tolist()
    found: list[dict[Any, float]] = []
    for j in columns:
        parts: dict[Any, list[float]] = {}
        for value, s in zip(plain_cells(batch.X, j), weight, strict=True):
            if s > 0:
                parts.setdefault(key(value), []).append(s)
        found.append({value: fsum(sums) for value, sums in parts.items()})
    return found


def plain_cells(X: Any, j: int) -> list[Any]:
    """The values of a column, one by one."""
    if isinstance(X, Cells):
        cells: list[Any] = X.columns[j].tolist()
        return cells
    if isinstance(X, np.ndarray):
        return list(X[:, j].tolist())
    levels, codes = column_levels(X, j)
    values = levels.tolist()
    return [values[code] if code >= 0 else None for code in codes.tolist()]


def key(value: Any) -> Any:
    """A value as a dictionary can find it: NaN does not equal itself."""
    return NAN if isinstance(value, float) and value != value else value


def is_nan(value: Any) -> bool:
    """Whether a level is NaN, of which there is one at the most, the last."""
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def given_levels(given: Any, found: NDArray[Any], column: int, refuse_others: bool) -> NDArray[Any]:
    """Check the levels given for a column against the values found in it."""
    kind = np.dtype(object) if found.dtype.kind == "U" else found.dtype
    levels = np.array(given, dtype=kind)
    if found.dtype.kind == "O" and len(levels) and isinstance(levels[0], bytes):
        raise ParameterError(
            f"In column {column}, the predefined categories have type 'bytes', "
            f"which is incompatible with its values: decode them."
        )
    if any(is_nan(level) for level in levels[:-1]):
        raise ParameterError(f"Nan should be the last element in user provided categories, column {column}.")
    if len(distinct(levels)[0]) != len(levels):
        raise ParameterError(f"In column {column}, the predefined categories contain duplicate elements.")
    if kind.kind not in "OS" and not np.array_equal(np.sort(levels), levels, equal_nan=True):
        raise ParameterError(
            f"Unsorted categories are not supported for numerical categories: sort those of column {column}."
        )
    if refuse_others:
        unknown = found[places(found, levels) < 0]
        if len(unknown):
            raise DataError(unknown_levels(unknown.tolist(), column, "fit"))
    return levels


def counted_as(levels: NDArray[Any], found: NDArray[Any], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The counts of given levels, from those of the values found."""
    where = places(found, levels)
    sums = np.zeros(len(levels))
    sums[where[where >= 0]] = counts[where >= 0]
    return sums


def unknown_levels(values: Sequence[Any], column: int, when: str) -> str:
    """The sentence for values that are no levels."""
    shown = [value.item() if isinstance(value, np.generic) else value for value in values[:5]]
    more = "" if len(values) <= 5 else f" and {len(values) - 5} more"
    return (
        f"Found unknown categories {shown}{more} in column {column} during {when}: "
        "fit on rows that have them, or let handle_unknown say what they become."
    )
