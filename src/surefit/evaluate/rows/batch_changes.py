"""What is done to each batch as it passes: other targets or values, or fewer columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells
from surefit.data.batches.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class BesideRows:
    """Targets of all rows, by row number, in place of those of a batch."""

    y: NDArray[Any]

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with what stands beside its rows."""
        return replace(batch, y=self.y[batch.start : batch.start + len(batch)])


@dataclass(frozen=True, slots=True)
class ColumnsTaken:
    """Some of the columns of each batch."""

    columns: tuple[int, ...]

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with fewer columns."""
        X: Any = batch.X
        if isinstance(X, Table):
            X = X.select(self.columns)
        elif isinstance(X, Cells):
            X = Cells(tuple(X.columns[j] for j in self.columns))
        else:
            X = X[:, list(self.columns)]
            X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
        return replace(batch, X=X)


@dataclass(frozen=True, slots=True)
class NoColumns:
    """A constant in place of all columns, so that a model with an intercept learns a constant."""

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with one column of zeros."""
        return replace(batch, X=np.zeros((len(batch), 1)))


@dataclass(frozen=True, slots=True, eq=False)
class OneColumn:
    """Other values for one column, by row number."""

    place: int
    values: NDArray[Any]

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with the column replaced."""
        new = self.values[batch.start : batch.start + len(batch)]
        return replace(batch, X=_with_column(batch.X, self.place, new))


@dataclass(frozen=True, slots=True)
class SameValue:
    """One value for a column of all rows, as it is stored."""

    place: int
    value: Any

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with the column set."""
        stored = column_values(batch.X, self.place).dtype if isinstance(batch.X, Table) else None
        return replace(batch, X=_with_column(batch.X, self.place, np.full(len(batch), self.value, stored)))


def _with_column(X: Any, place: int, values: NDArray[Any]) -> Any:
    if isinstance(X, Table):
        stored = [values if j == place else X.column(j) for j in range(len(X.columns))]
        return Table.build(X.columns, stored, len(values))
    if isinstance(X, Cells):
        return Cells(tuple(values if j == place else column for j, column in enumerate(X.columns)))
    if isinstance(X, np.ndarray):
        X = X.copy()
        X[:, place] = values
        return X
    X = X.tolil()
    X[:, [place]] = values[:, None]
    return X.tocsr()


def column_values(X: Any, place: int) -> NDArray[Any]:
    """One column of a batch's rows, as it is stored."""
    if isinstance(X, Table):
        return np.array(X.column(place))
    if isinstance(X, Cells):
        return np.asarray(X.columns[place])
    return X[:, place].copy() if isinstance(X, np.ndarray) else X[:, [place]].toarray()[:, 0]
