"""Checks of cells, with errors that name the column, count the cells and offer the fixes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.diagnosis import listed
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.batches.column_batch import ColumnBatch
from surefit.data.batches.table import Table
from surefit.data.checks.float_range import LARGEST, refuse_extreme_target
from surefit.data.checks.schemas import is_number
from surefit.data.schema import Column


@dataclass(frozen=True, slots=True)
class Checked:
    """Check each batch of a source for a model: kinds, missing and infinite cells, target and weights.

    A table of numbers becomes a matrix, unless the model wants tables.
    """

    who: str
    missing: bool = False
    tables: bool = False
    sparse: bool = True
    infinite: bool = False

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch, checked."""
        X: Any = batch.X
        later = None
        if isinstance(X, Table):
            named = [column for column in X.columns if column.kind not in ("category", "text")]
            if self.tables:
                self._finite(X.numbers, named, batch.start)
            else:
                self._only_numbers(X)
                X, later = X.apart, partial(self._finite, columns=named, start=batch.start)
        elif isinstance(X, np.ndarray):
            self._finite(X, None, batch.start)
        elif hasattr(X, "toarray"):
            if not self.sparse:
                raise DataError(f"{self.who} works on dense rows, but these are sparse: pass X.toarray().")
            self._finite_entries(X, batch.start)
        self._target(batch)
        weight = (
            None
            if batch.weight is None
            else check_weights(batch.weight, len(batch), batch.start, whole=False)
        )
        if later is not None:
            return ColumnBatch.of(replace(batch, weight=weight), X, later)
        return replace(batch, X=X, weight=weight)

    def _only_numbers(self, table: Table) -> None:
        other = [column for column in table.columns if column.kind not in ("number", "boolean")]
        if other:
            raise DataError(other_kinds(self.who, other, table.shape[0]))

    def _finite(self, block: NDArray[Any], columns: list[Column] | None, start: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if block.size == 0 or np.isfinite(block.sum()):
                return
        gone, endless = np.isnan(block), np.isinf(block) & (not self.infinite)
        names = [f"x{j}" for j in range(block.shape[1])] if columns is None else [c.name for c in columns]
        if endless.any():
            row, column = np.argwhere(endless)[0]
            raise DataError(
                f"column {names[column]!r} holds an infinite value in row {start + row}: "
                "replace it by a number, or leave the row out."
            )
        if gone.any() and not self.missing:
            counts = dict(zip(names, gone.sum(axis=0).tolist(), strict=True))
            raise DataError(missing_cells(self.who, counts, f" in rows {start} to {start + len(block) - 1}"))

    def _finite_entries(self, X: Any, start: int) -> None:
        bad = np.isinf(X.data) & (not self.infinite)
        if not self.missing:
            bad |= np.isnan(X.data)
        if bad.any():
            entry = int(np.flatnonzero(bad)[0])
            row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
            raise DataError(
                f"column 'x{X.indices[entry]}' holds {X.data[entry]:g} in row {start + row}: "
                "replace it by a number, or leave the row out."
            )

    def _target(self, batch: Batch) -> None:
        y = batch.y
        if y is None:
            return
        refuse_extreme_target(y)
        bad = ~np.isfinite(y) if y.dtype.kind == "f" else y < 0
        if bad.any():
            row = int(np.flatnonzero(bad.reshape(len(y), -1).any(axis=1))[0])
            wrong = "missing or not one of the classes"
            if y.dtype.kind == "f":
                wrong = "missing" if np.isnan(y[row]).any() else "infinite"
            raise DataError(
                f"the target of row {batch.start + row} is {wrong}: fill it in, or leave the row out."
            )


def other_kinds(who: str, columns: list[Column], rows: int) -> str:
    """The sentence for columns that are no numbers."""
    names = listed([f"{column.name!r} ({column.kind})" for column in columns])
    return (
        f"{who} works on numbers, but {len(columns)} of the columns are not: {names}, "
        f"{rows * len(columns)} cells in this batch. {_strays(columns)}"
        "Leave them out with surefit.read(..., columns=[...]), or turn them into numbers "
        "first with OneHotEncoder or TablePreparer."
    )


def _strays(columns: list[Column]) -> str:
    """The sentence for columns that would be numbers but for a few values; nothing where there is none."""
    found = []
    for column in columns:
        levels = [str(level) for level in ([] if column.levels is None else column.levels)]
        strays = [repr(level) for level in levels if not is_number(level)]
        if 0 < len(strays) <= len(levels) / 2:
            found.append(
                f"{column.name!r} would be numbers but for {listed(strays, 3)}: correct or empty them. "
            )
    return "".join(found)


def missing_cells(who: str, counts: dict[str, int], rows: str = "") -> str:
    """The sentence for missing cells."""
    found = {name: count for name, count in counts.items() if count}
    where = listed([f"{name!r} ({count})" for name, count in found.items()])
    return (
        f"{who} cannot use missing values, and {sum(found.values())} cells are missing{rows}: {where}. "
        "Fill them with SimpleImputer, or leave those rows or columns out."
    )


def check_weights(
    weight: Any, rows: int, start: int = 0, *, whole: bool = True
) -> NDArray[np.float64] | None:
    """Check sample weights: one finite, non-negative number a row; ``whole`` also asks for one that is not
    zero.
    """
    if weight is None:
        return None
    if isinstance(weight, int | float) and not isinstance(weight, bool):
        weight = np.full(rows, float(weight))
    try:
        array = np.ascontiguousarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight holds something else than numbers: give one number a row.") from None
    if array.ndim != 1:
        raise DataError(
            f"sample_weight has {array.ndim} dimensions; Sample weights must be 1D array or scalar: "
            "give one a row."
        )
    if len(array) != rows:
        raise DataError(
            f"sample_weight.shape == {array.shape}, expected {(rows,)}: give one weight for each row of X."
        )
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        below = "Negative values in data passed to `sample_weight`: " if array[row] < 0 else ""
        raise DataError(
            f"{below}sample_weight of row {start + row} is {array[row]:g}; "
            "weights must be finite and not negative."
        )
    largest = float(array.max(initial=0.0))
    if largest > LARGEST:
        raise DataError(
            f"sample_weight goes up to {largest:g}, and beyond {LARGEST:g} sums of weighted squares leave "
            "the range of floats: divide the weights by a power of ten."
        )
    if whole and not array.any():
        raise DataError(
            "every sample_weight is zero, so no row counts; give at least one row a positive weight."
        )
    return array
