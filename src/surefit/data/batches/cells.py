"""Columns of any type in memory, each as it came: what encoders work on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.batches.distinct import Codes, counted, distinct, places
from surefit.data.batches.table import Table
from surefit.data.schema import Kind


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Columns side by side, of different types perhaps."""

    columns: tuple[NDArray[Any], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.columns[0]) if self.columns else 0, len(self.columns)


def cells_of(X: Any, missing: bool = True) -> Cells:
    """Check an array or frame in memory and take it apart into columns; only ``missing`` lets NaN pass."""
    from sklearn.utils import check_array

    how: dict[str, Any] = {"dtype": None, "ensure_all_finite": "allow-nan" if missing else True}
    if hasattr(X, "columns") and getattr(X, "ndim", 2) == 2 and not hasattr(X, "toarray"):
        parts = _frame_columns(X)
        if parts is not None:
            return Cells(tuple(check_array(part, ensure_2d=False, **how) for part in parts))
    array = check_array(X, **how)
    if not hasattr(X, "dtype") and array.dtype.kind == "U":
        array = check_array(X, **{**how, "dtype": object})  # a list of strings and numbers stays that
    return Cells(tuple(array[:, j] for j in range(array.shape[1])))


def _frame_columns(X: Any) -> list[Any] | None:
    if hasattr(X, "iloc"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        return None
    return [frame[name].to_numpy() for name in frame.columns]


def declared_levels(X: Any) -> dict[str, NDArray[Any]]:
    """The levels of the columns of a frame that declares their order, by name."""
    if not hasattr(X, "columns") or not hasattr(X, "shape"):
        return {}
    import narwhals as nw

    try:
        schema = nw.from_native(X, eager_only=True).schema
    except (TypeError, ValueError):
        return {}
    return {
        name: np.array(list(kind.categories), dtype=object)
        for name, kind in schema.items()
        if isinstance(kind, nw.Enum)
    }


def kind_of_cells(values: NDArray[Any]) -> Kind:
    """The kind of a column in memory, by its type; of objects, by the first that is there."""
    if values.dtype.kind in "iuf":
        return "number"
    if values.dtype.kind in "bM":
        return "boolean" if values.dtype.kind == "b" else "date"
    first = next((cell for cell in values if cell is not None and cell == cell), None)
    if isinstance(first, bool | np.bool_):
        return "boolean"
    if isinstance(first, Real):
        return "number"
    return "date" if isinstance(first, date | np.datetime64) else "category"


def column_numbers(X: Any, index: int, name: str) -> NDArray[np.float64]:
    """A column of numbers, booleans or dates (as days since 1970) as float64, NaN where missing."""
    if isinstance(X, Table):
        column = X.columns[index]
        stored = X.column(index)
        if column.kind in ("category", "text"):
            if not X.missing(index).all():
                raise DataError(_not_numbers(name, column.kind))
            return np.full(len(stored), np.nan)
        return np.asarray(stored, dtype=np.float64)
    values = X.columns[index] if isinstance(X, Cells) else _matrix_column(X, index)
    if values.dtype.kind == "O" and kind_of_cells(values) == "date":
        values = np.array(values, dtype="datetime64[us]")
    if values.dtype.kind == "M":
        days = values.astype("datetime64[us]").astype(np.int64) / 86_400_000_000
        return np.where(np.isnat(values), np.nan, days)
    try:
        return values.astype(np.float64)
    except OverflowError:
        raise DataError(
            f"column {name!r} holds a whole number beyond the range of floats: divide it by a power of ten, "
            "or leave its row out."
        ) from None
    except (TypeError, ValueError):
        raise DataError(_not_numbers(name, "category")) from None


def _not_numbers(name: str, kind: str) -> str:
    return f"column {name!r} held numbers when it was fitted, but is a {kind} here: give it the same type."


def column_levels(X: Any, index: int) -> tuple[NDArray[Any], Codes]:
    """The levels of a column of cells, a table or a matrix, and the code of each of its cells.

    A missing cell of a table is the level NaN; one whose value the table could not tell has the code -1.
    """
    if isinstance(X, Cells):
        return distinct(X.columns[index])
    if isinstance(X, Table):
        return _table_levels(X, index)
    return distinct(_matrix_column(X, index))


def column_counts(
    X: Any, index: int, weight: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The levels of a column, in order, and the weight of each; one without weight is none."""
    if not isinstance(X, Table):
        return counted(X.columns[index] if isinstance(X, Cells) else _matrix_column(X, index), weight)
    levels, codes = _table_levels(X, index)
    known = codes >= 0
    sums = np.bincount(codes[known], None if weight is None else weight[known], len(levels))
    ordered, place = distinct(levels[sums > 0])  # a table's own order of levels is not kept
    counts = np.zeros(len(ordered))
    counts[place] = sums[sums > 0]
    return ordered, counts


def column_places(X: Any, index: int, levels: NDArray[Any]) -> Codes:
    """The code of each cell of a column among given levels, -1 where it is none of them."""
    if isinstance(X, Cells):
        return places(X.columns[index], levels)
    if isinstance(X, Table):
        own, codes = _table_levels(X, index)
        known = np.append(places(own, levels), np.int32(-1)).astype(np.int32)
        return known[codes]
    return places(_matrix_column(X, index), levels)


def _table_levels(table: Table, index: int) -> tuple[NDArray[Any], Codes]:
    column, stored = table.columns[index], table.column(index)
    if column.kind != "category":
        if column.kind == "text":
            stored = np.where(table.missing(index), np.nan, stored)
        elif len(stored) and np.array_equal(stored, np.rint(stored)) and np.abs(stored).max() < 2**53:
            # A table stores whole numbers as floats; as levels they are whole again.
            stored = stored.astype(bool if column.kind == "boolean" else np.int64)
        return distinct(stored)
    assert column.levels is not None
    if not (stored == -1).any():
        return column.levels, np.maximum(stored, -1)
    dtype = float if column.levels.dtype.kind in "iuf" else object
    levels = np.append(column.levels.astype(dtype), np.array([np.nan], dtype=dtype))
    return levels, np.where(stored == -1, len(levels) - 1, np.maximum(stored, -1)).astype(np.int32)


def _matrix_column(X: Any, index: int) -> NDArray[Any]:
    if not isinstance(X, np.ndarray):
        raise DataError("categories are read from dense rows, but these are sparse: pass X.toarray().")
    column: NDArray[Any] = X[:, index]
    return column
