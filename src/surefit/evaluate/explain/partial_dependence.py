"""Partial dependence: the mean answer of a model over rows, by the value that a column is set to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import is_classifier

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public
from surefit.data.door import is_streamed
from surefit.data.read import read
from surefit.data.source import MappedSource, Source
from surefit.evaluate.rows.batch_changes import SameValue, column_values
from surefit.evaluate.rows.column_changes import column_of, with_value
from surefit.evaluate.rows.dataset import HeldRows, ReadRows, columns_of
from surefit.evaluate.rows.source_models import answers_of
from surefit.evaluate.scoring.interval_base import check_level


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


@public
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
    fewer distinct ones, these, and of more that are no numbers the most frequent. target: for a classifier,
    the class whose probability is drawn; the last by default. X may be a table that is read in batches.
    Columns that go together are torn apart: where no row could be, the answer is the model's fancy.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = surefit.LinearRegression().fit(X, 3 * X[:, 0] + X[:, 1])
    >>> found = surefit.partial_dependence(model, X, 0, values=[0.0, 1.0])
    >>> float(np.diff(found.mean)[0].round(6))
    3.0
    """
    level = check_level(level)
    table = _Read(X) if is_streamed(X) else _Held(X)
    names = table.names
    if isinstance(column, str) and column not in names:
        raise DataError(f"there is no column {column!r}; there are {', '.join(names[:10])}.")
    place = names.index(column) if isinstance(column, str) else int(column)
    if not 0 <= place < len(names):
        raise DataError(f"column={column!r} must be a number from 0 to {len(names) - 1}, or a name.")
    grid = _grid(table.column(place), values)
    ask, word = _answer(model, target)
    individual = np.stack([ask(table.with_value(place, value)) for value in grid]).astype(np.float64)
    mean = individual.mean(axis=1)
    rows = individual.shape[1]
    error = individual.std(axis=1, ddof=1) / np.sqrt(rows) if rows > 1 else np.full(len(grid), np.nan)
    reach = special.stdtrit(max(1, rows - 1), (1 + level) / 2) * error
    return Dependence(names[place], grid, mean, mean - reach, mean + reach, individual, level, word)


class _Held:
    """Rows in memory."""

    def __init__(self, X: Any) -> None:
        self.X = X if hasattr(X, "shape") else np.asarray(X)
        self.names = HeldRows(self.X, np.empty(0)).names

    def column(self, place: int) -> NDArray[Any]:
        return column_of(self.X, place)

    def with_value(self, place: int, value: Any) -> Any:
        return with_value(self.X, place, value)


class _Read:
    """A table that is read in batches, one of whose columns is set as they pass."""

    def __init__(self, X: Any) -> None:
        self.source = read(X)
        self.names = ReadRows(self.source, np.empty(0), np.empty(0)).names

    def column(self, place: int) -> NDArray[Any]:
        kind, levels = self._about(place)
        if kind not in ("number", "boolean", "category"):
            raise DataError(
                f"the column {self.names[place]!r} is a {kind}, and of a table that is read in batches "
                "partial_dependence sets numbers and categories: load a sample of its rows as a frame."
            )
        stored = np.concatenate([column_values(batch.X, 0) for batch in columns_of(self.source, [place])])
        if levels is None:
            return stored
        labels = np.array([*levels.tolist(), None], dtype=object)
        return labels[np.where(stored < 0, len(levels), stored)]

    def with_value(self, place: int, value: Any) -> Source:
        levels = self._about(place)[1]
        if levels is not None:
            found = np.flatnonzero(levels == value)
            if not len(found):
                raise DataError(
                    f"the column {self.names[place]!r} has no category {str(value)!r}; it has "
                    f"{', '.join(map(str, levels[:10]))}."
                )
            value = found[0]
        return MappedSource(self.source, self.source.schema, SameValue(place, value))

    def _about(self, place: int) -> tuple[str, NDArray[Any] | None]:
        known = self.source.schema.columns
        return ("number", None) if known is None else (known[place].kind, known[place].levels)


def _grid(own: NDArray[Any], values: Any) -> NDArray[Any]:
    if not isinstance(values, int | np.integer) or isinstance(values, bool):
        found = np.asarray(values)
        if found.ndim != 1 or len(found) == 0:
            raise ParameterError("values must be a list of values, or how many.")
        return found
    there = own[_known(own)]
    if not len(there):
        raise DataError("the column has no value in any row: give values to set it to.")
    distinct, counts = np.unique(there, return_counts=True)
    if len(distinct) <= values:
        return distinct
    if own.dtype.kind not in "iuf":  # the most frequent ones, in their order
        return distinct[np.sort(np.argsort(-counts, kind="stable")[: int(values)])]
    low, high = np.quantile(there, [0.05, 0.95])
    spread = np.linspace(low, high, int(values))
    return np.unique(np.rint(spread).astype(own.dtype)) if own.dtype.kind in "iu" else spread


def _known(own: NDArray[Any]) -> NDArray[np.bool_]:
    if own.dtype.kind == "f":
        return np.isfinite(own)
    missing: Any = None
    there: Any = (own != missing) & (own == own)
    return np.asarray(there, dtype=np.bool_)


def _answer(model: Any, target: Any) -> tuple[Any, str]:
    if not is_classifier(model):
        return lambda X: answers_of(model, X), "prediction"
    classes = np.asarray(model.classes_)
    chosen = len(classes) - 1 if target is None else int(np.flatnonzero(classes == target)[0])
    if hasattr(model, "predict_proba"):
        return lambda X: answers_of(model, X, "predict_proba")[:, chosen], f"probability of {classes[chosen]}"
    return lambda X: (answers_of(model, X) == classes[chosen]).astype(float), f"share of {classes[chosen]}"
