"""Partial dependence: the mean answer of a model over rows, by the value that a column is set to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import is_classifier

from surefit.core.errors import DataError, ParameterError
from surefit.data.door import is_streamed
from surefit.data.read import read
from surefit.data.source import MappedSource, Source
from surefit.evaluate.intervals_base import check_level
from surefit.evaluate.rows import columns_of
from surefit.evaluate.rows_mapped import OneColumn, column_values
from surefit.evaluate.source_models import answers_of

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """The mean answer at each value of a column, with an interval for that of all rows of the kind.

    individual: (values, rows), the answer for each row with the column set. low and high hold at each
    value by itself, for this fitted model: that other training rows would give another model is not in
    them.
    """

    column: str
    values: NDArray[Any]
    mean: Vector
    low: Vector
    high: Vector
    individual: NDArray[np.float64]
    level: float
    answer: str


def partial_dependence(
    model: Any,
    X: Any,
    column: int | str,
    *,
    values: Sequence[Any] | int = 50,
    target: Any = None,
    level: float = 0.95,
) -> Dependence:
    """Set a column to one value after the other in all rows, and average what a fitted model answers.

    values: which, or how many, spread over the quantiles of the column from 5 % to 95 %; where it has
    fewer distinct ones, these. target: for a classifier, the class whose probability is drawn; the last
    by default. Columns that go together are torn apart: where no row could be, the answer is the model's
    fancy.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = surefit.LinearRegression().fit(X, 3 * X[:, 0] + X[:, 1])
    >>> found = surefit.partial_dependence(model, X, 0, values=[0.0, 1.0])
    >>> float(np.diff(found.mean)[0].round(6))
    3.0
    """
    level = check_level(level)
    table = _Read.of(X) if is_streamed(X) else _Held.of(X)
    names = table.names
    if isinstance(column, str) and column not in names:
        raise DataError(f"there is no column {column!r}; there are {', '.join(names[:10])}.")
    place = names.index(column) if isinstance(column, str) else int(column)
    if not 0 <= place < len(names):
        raise DataError(f"column={column!r} must be a number from 0 to {len(names) - 1}, or a name.")
    own = table.column(place)
    grid = _grid(own, values)
    ask, word = _answer(model, target)
    individual = np.empty((len(grid), len(own)))
    for k, value in enumerate(grid):
        individual[k] = ask(table.set(place, np.full(len(own), value, dtype=own.dtype)))
    mean = individual.mean(axis=1)
    rows = individual.shape[1]
    error = individual.std(axis=1, ddof=1) / np.sqrt(rows) if rows > 1 else np.full(len(grid), np.nan)
    reach = special.stdtrit(max(1, rows - 1), (1 + level) / 2) * error
    return Dependence(names[place], grid, mean, mean - reach, mean + reach, individual, level, word)


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """Rows in memory, one of whose columns is set."""

    X: Any
    names: list[str]

    @classmethod
    def of(cls, X: Any) -> _Held:
        X = X if hasattr(X, "shape") else np.asarray(X)
        return cls(X, [str(entry) for entry in getattr(X, "columns", [f"x{j}" for j in range(X.shape[1])])])

    def column(self, place: int) -> NDArray[Any]:
        return np.asarray(self.X.iloc[:, place] if hasattr(self.X, "iloc") else self.X[:, place])

    def set(self, place: int, values: NDArray[Any]) -> Any:
        other = self.X.copy()
        if hasattr(other, "iloc"):
            other.isetitem(place, values)
        else:
            other[:, place] = values
        return other


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A table that is read in batches, one of whose columns is set as they pass."""

    source: Source
    names: list[str]

    @classmethod
    def of(cls, X: Any) -> _Read:
        source = read(X)
        return cls(source, list(source.schema.names or [f"x{j}" for j in range(source.schema.width)]))

    def column(self, place: int) -> NDArray[Any]:
        kind = None if self.source.schema.columns is None else self.source.schema.columns[place].kind
        if kind not in (None, "number", "boolean"):
            raise DataError(
                f"the column {self.names[place]!r} is a {kind}, and of a table that is read in batches "
                "partial_dependence sets numbers: load a sample of its rows as a frame."
            )
        columns = columns_of(self.source, [place])
        return np.concatenate([column_values(batch.X, 0) for batch in columns])

    def set(self, place: int, values: NDArray[Any]) -> Source:
        return MappedSource(self.source, self.source.schema, OneColumn(place, values))


def _grid(own: NDArray[Any], values: Any) -> NDArray[Any]:
    if not isinstance(values, int | np.integer) or isinstance(values, bool):
        found = np.asarray(values)
        if found.ndim != 1 or len(found) == 0:
            raise ParameterError("values must be a list of values, or how many.")
        return found
    distinct = np.unique(own[own == own])  # without missing ones
    if len(distinct) <= values or own.dtype.kind not in "biuf":
        return distinct
    low, high = np.quantile(own[np.isfinite(own)], [0.05, 0.95])
    return np.linspace(low, high, int(values))


def _answer(model: Any, target: Any) -> tuple[Any, str]:
    if not is_classifier(model):
        return lambda X: answers_of(model, X), "prediction"
    classes = np.asarray(model.classes_)
    chosen = len(classes) - 1 if target is None else int(np.flatnonzero(classes == target)[0])
    if hasattr(model, "predict_proba"):
        return lambda X: answers_of(model, X, "predict_proba")[:, chosen], f"probability of {classes[chosen]}"
    return lambda X: (answers_of(model, X) == classes[chosen]).astype(float), f"share of {classes[chosen]}"
