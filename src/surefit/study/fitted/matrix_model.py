"""A fitted model that takes typed rows as one matrix, so that columns of a table can be shuffled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.data.batches.table import Table
from surefit.data.source import ArraySource
from surefit.study.fitted.apply import Applied


@dataclass(frozen=True, slots=True, eq=False)
class MatrixModel:
    """Numbers stand for themselves, categories for their codes; text, which no model reads, is missing.

    like: rows that say what the columns are.
    """

    applied: Applied
    like: ArraySource

    @property
    def names(self) -> list[str]:
        """The columns."""
        if self.applied.columns is None:
            return [f"x{j}" for j in range(self.applied.width)]
        return [column.name for column in self.applied.columns]

    def matrix(self, rows: ArraySource) -> Matrix:
        """Rows as one matrix."""
        X: Any = rows.batch.X
        if not isinstance(X, Table):
            return np.asarray(X, dtype=np.float64)
        out = np.full(X.shape, np.nan)
        for j, column in enumerate(X.columns):
            if column.kind != "text":
                out[:, j] = X.column(j)
        return out

    def rows(self, matrix: Matrix) -> ArraySource:
        """A matrix as rows."""
        X: Any = self.like.batch.X
        if isinstance(X, Table):
            stored = [self._column(X, j, matrix[:, j]) for j in range(matrix.shape[1])]
            X = Table.build(X.columns, stored, len(matrix))
        else:
            X = matrix
        return ArraySource(replace(self.like.schema, rows=len(matrix)), replace(self.like.batch, X=X))

    @staticmethod
    def _column(X: Table, place: int, values: Matrix) -> NDArray[Any]:
        if X.columns[place].kind == "text":
            return np.full(len(values), None, dtype=object)
        return values.astype(X.column(place).dtype)

    def shown(self, place: int, value: float) -> Any:
        """A value of the matrix as people read it."""
        column = None if self.applied.columns is None else self.applied.columns[place]
        if column is None or column.kind == "number":
            return None if np.isnan(value) else float(value)
        if column.kind == "category":
            assert column.levels is not None
            return str(column.levels[int(value)]) if value >= 0 else None if value == -1 else "(unknown)"
        if np.isnan(value):
            return None
        if column.kind == "boolean":
            return bool(value)
        return str(np.datetime64(int(np.floor(value)), "D"))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        if self.applied.classes is None:
            raise AttributeError("a regressor has no classes.")
        return self.applied.classes

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Answer rows of the matrix."""
        return self.applied.ask(self.rows(X), "predict")

    def predict_proba(self, X: Matrix) -> Matrix:
        """The probabilities of the classes; of a model without any, one for its answer."""
        if hasattr(self.applied.last, "predict_proba"):
            return self.applied.ask(self.rows(X), "predict_proba")
        return np.asarray(self.predict(X)[:, None] == self.classes_, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        return self.applied.last.__sklearn_tags__()


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one cell does to the answer for its row, compared with the cells of other rows in its place."""

    column: str
    value: Any
    change: float


def contributions(coded: MatrixModel, row: Matrix, others: Matrix, label: int | None) -> list[Contribution]:
    r"""How far each cell moves the answer: :math:`f(x) - \frac1m \sum_b f(x \text{ with } x_j = b_j)`.

    others: rows whose cells take the place, one column at a time. label: the place of the class whose
    probability is the answer. Of a linear model it is the weight times the distance from the mean, and the
    parts add up to the difference of the answer from the mean one; of others they need not.
    """

    def ask(X: Matrix) -> NDArray[np.float64]:
        if label is None:
            return np.asarray(coded.predict(X), dtype=np.float64)
        return np.asarray(coded.predict_proba(X)[:, label], dtype=np.float64)

    here = float(ask(row[None])[0])
    found = []
    for j, name in enumerate(coded.names):
        swapped = np.tile(row, (len(others), 1))
        swapped[:, j] = others[:, j]
        # Equal cells change nothing: a value that most rows have is asked about once.
        values, counts = np.unique(others[:, j], return_counts=True, equal_nan=True)
        if len(values) < len(others):
            swapped = swapped[: len(values)]
            swapped[:, j] = values
            mean = float(np.average(ask(swapped), weights=counts))
        else:
            mean = float(ask(swapped).mean())
        # What rounding leaves of a mean of equal answers is no change.
        same = abs(here - mean) <= 1e-12 * max(abs(here), abs(mean))
        found.append(Contribution(name, coded.shown(j, row[j]), 0.0 if same else here - mean))
    return sorted(found, key=lambda part: -abs(part.change))
