"""Where cells are missing, whatever stands for that."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.errors import DataError
from surefit.data.batches.cells import Cells
from surefit.data.batches.table import Table
from surefit.models.prepare.encoders.encoder import is_nan


def is_missing_marker(marker: Any) -> bool:
    """Whether the marker is NaN, or pandas' NA, which stands for the same."""
    return is_nan(marker) or type(marker).__name__ == "NAType"


def gaps(X: Any, marker: Any) -> Any:
    """A boolean matrix, CSR where X is, that is True where a cell is the marker for missing."""
    if sparse.issparse(X):
        if marker == 0:
            raise DataError("missing_values=0 would make a sparse matrix dense: pass X.toarray().")
        found = type(X)((_column_gaps(X.data, marker), X.indices.copy(), X.indptr.copy()), shape=X.shape)
        found.eliminate_zeros()
        return found
    if isinstance(X, Cells):
        return _stacked([_column_gaps(column, marker) for column in X.columns], X.shape[0])
    if isinstance(X, Table):
        return _stacked([_table_gaps(X, j, marker) for j in range(X.shape[1])], X.shape[0])
    return _column_gaps(X, marker)


def _stacked(columns: list[NDArray[np.bool_]], rows: int) -> NDArray[np.bool_]:
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0), dtype=bool)


def _column_gaps(values: NDArray[Any], marker: Any) -> NDArray[np.bool_]:
    nan = is_missing_marker(marker)
    if values.dtype.kind in "iuf" and not nan and not isinstance(marker, Real):
        raise DataError(
            "'X' and 'missing_values' types are expected to be both numerical, "
            f"but X.dtype={values.dtype} and missing_values={marker!r}."
        )
    if nan:
        if values.dtype.kind == "f":
            return np.isnan(values)
        if values.dtype.kind != "O":
            return np.zeros(values.shape, dtype=bool)
        return np.array([is_missing_marker(cell) for cell in values.ravel()], dtype=bool).reshape(
            values.shape
        )
    if marker is None:
        return np.array([cell is None for cell in values.ravel()], dtype=bool).reshape(values.shape)
    equal: NDArray[np.bool_] = np.asarray(values == marker, dtype=bool)
    return equal if equal.shape == values.shape else np.zeros(values.shape, dtype=bool)


def _table_gaps(table: Table, index: int, marker: Any) -> NDArray[np.bool_]:
    if marker is None or is_missing_marker(marker):
        return table.missing(index)
    column = table.columns[index]
    if column.levels is None:
        return _column_gaps(table.column(index), marker)
    codes = np.flatnonzero(column.levels == marker)
    return np.isin(table.column(index), codes)
