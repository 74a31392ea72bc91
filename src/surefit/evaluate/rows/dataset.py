"""Rows to learn from and to ask about, in memory or read in batches, behind one face.

Both kinds have ``count`` rows, the target ``y`` and the weights beside them, ``fit(model, rows)`` and
``ask(model, rows, method)``. Of a table that is read in batches only the target and the weights are held, a
number a row each; its cells pass by, once for each fit and each question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing

from surefit.core.errors import DataError
from surefit.data.checks.cells import check_weights
from surefit.data.door import is_streamed
from surefit.data.read import read, with_columns
from surefit.data.schema import Column
from surefit.data.source import MappedSource, Source, TableSource
from surefit.data.targets import with_target
from surefit.evaluate.rows.batch_changes import BesideRows, ColumnsTaken, NoColumns, OneColumn, column_values
from surefit.evaluate.rows.source_models import answers_of, fit_source, weights_for
from surefit.resample.choose import Pair, count_rows, pairs_of
from surefit.resample.source_split import MaskRule, named_column, rule_of
from surefit.resample.sources import selected

Rows = Any  # row numbers; None for all


def rows_of(model: Any, X: Any, y: Any, weight: Any = None) -> HeldRows | ReadRows:
    """The rows that X, y and weight are, whichever way they come.

    >>> import surefit
    >>> rows = rows_of(surefit.MeanRegressor(), [[0.0], [1.0], [2.0]], [1.0, 3.0, 8.0])
    >>> rows.ask(rows.fit(surefit.MeanRegressor(), [0, 1]), [2])
    array([2.])
    """
    if is_streamed(X, y, weight):
        return ReadRows.of(model, X, y, weight)
    who = type(model).__name__
    if y is None:
        raise DataError(f"{who} requires y to be passed, but the target y is None.")
    if count_rows(X) != count_rows(y):
        raise DataError(
            f"X has {count_rows(X)} rows and y has {count_rows(y)}; give one target for each row."
        )
    return HeldRows(X, np.asarray(y), check_weights(weight, count_rows(X)))


@dataclass(frozen=True, slots=True, eq=False)
class HeldRows:
    """Rows in memory."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None

    @property
    def count(self) -> int:
        """How many."""
        return count_rows(self.X)

    @property
    def names(self) -> list[str]:
        """Of the columns: x0, x1, ... where they have none."""
        return [str(name) for name in getattr(self.X, "columns", _numbered(self.X.shape[1]))]

    def pairs(self, split: Any, groups: Any = None, **options: Any) -> list[Pair]:
        """The folds of a split."""
        return pairs_of(split, self.X, self.y, groups, **options)

    def groups(self, given: Any) -> Any:
        """The group of each row, or None."""
        return given

    def given(self, rows: Rows = None) -> tuple[Any, Any, Any]:
        """X, y and weights of some of the rows, as a model is given them."""
        if rows is None:
            return self.X, self.y, self.weight
        weight = None if self.weight is None else self.weight[rows]
        return _safe_indexing(self.X, rows), self.y[rows], weight

    def fit(self, model: Any, rows: Rows = None, target: Any = None) -> Any:
        """A copy of the model that has learnt from some of the rows; ``target`` replaces theirs."""
        X, truth, weight = (self if target is None else replace(self, y=target)).given(rows)
        return clone(model).fit(X, truth, **({} if weight is None else weights_for(model, weight)))

    def ask(self, model: Any, rows: Rows = None, method: str = "predict") -> NDArray[Any]:
        """The answers of a fitted model for some of the rows."""
        return np.asarray(getattr(model, method)(self.X if rows is None else _safe_indexing(self.X, rows)))


@dataclass(frozen=True, slots=True, eq=False)
class ReadRows:
    """Rows that are read in batches; ``codes`` is the target as the batches hold it."""

    source: Source
    y: NDArray[Any]
    codes: NDArray[Any]
    weight: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any = None, weight: Any = None) -> ReadRows:
        """Read the target and the weights, in a pass over their columns."""
        kind = "class" if is_classifier(model) else "number" if is_regressor(model) else "any"
        source = with_target(type(model).__name__, read(X, target=y, weight=weight), kind)  # type: ignore[arg-type]
        beside = source
        if isinstance(source, TableSource):  # other columns are left alone
            beside = replace(source, schema=replace(source.schema, width=0, columns=()))
        batches = list(beside)
        if not batches:
            raise DataError("the table has no rows.")
        codes = np.concatenate([np.asarray(batch.y) for batch in batches])
        bad = ~np.isfinite(codes) if codes.dtype.kind == "f" else codes < 0
        if bad.any():
            row = int(np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))[0])
            raise DataError(f"the target of row {row} is missing: fill it in, or leave the row out.")
        given = [batch.weight for batch in batches]
        whole = None if given[0] is None else np.concatenate(cast("list[NDArray[np.float64]]", given))
        labels = source.schema.classes
        truth = codes if labels is None else np.asarray(labels)[codes]
        return cls(source, truth, codes, check_weights(whole, len(codes)))

    @property
    def count(self) -> int:
        """How many."""
        return len(self.codes)

    @property
    def width(self) -> int:
        """How many columns."""
        return self.source.schema.width

    @property
    def names(self) -> list[str]:
        """Of the columns: x0, x1, ... where they have none."""
        return list(self.source.schema.names or _numbered(self.width))

    @property
    def X(self) -> Any:
        """As many rows, without cells, for what counts them."""
        return np.empty((self.count, 0))

    def pairs(self, split: Any, groups: Any = None, **options: Any) -> list[Pair]:
        """The folds of a split, those of the same rows in memory; ``groups`` may name a column."""
        groups = self.groups(groups)
        order = getattr(split, "order_by", None)
        if order is not None:
            split = list(split.in_order(named_column(self.source, order, "order_by")))
        return pairs_of(split, self.X, self.y, groups, **options)

    def groups(self, given: Any) -> Any:
        """The group of each row, from the column of that name."""
        return named_column(self.source, given, "groups") if isinstance(given, str) else given

    def part(self, rows: Rows) -> Source:
        """Some of the rows as a source, in their order in the table; those drawn again come again."""
        if rows is None:
            return self.source
        return selected(self.source, rule_of(np.asarray(rows), self.count))

    def given(self, rows: Rows = None) -> tuple[Any, Any, Any]:
        """Some of the rows as a model is given them: a source, which holds target and weights."""
        return self.part(rows), None, None

    def with_target(self, target: NDArray[Any]) -> ReadRows:
        """The same rows with other targets, held beside them; of several columns, several targets."""
        values = target
        if self.source.schema.classes is not None:
            values = np.searchsorted(self.source.schema.classes, target)
        return ReadRows(self._beside(values), target, values, self.weight)

    def with_columns(self, columns: Sequence[int]) -> ReadRows:
        """The same rows with some of the columns; none of them leaves a constant one."""
        source = columns_of(self.source, columns)
        return ReadRows(source, self.y, self.codes, self.weight)

    def with_column(self, place: int, values: NDArray[Any]) -> ReadRows:
        """The same rows with other values in one column, held beside them."""
        source = MappedSource(self.source, self.source.schema, OneColumn(place, values))
        return ReadRows(source, self.y, self.codes, self.weight)

    def column(self, place: int) -> NDArray[Any]:
        """The values of one column, as the batches hold them."""
        source = columns_of(self.source, [place])
        return np.concatenate([column_values(batch.X, 0) for batch in source])

    def fit(self, model: Any, rows: Rows = None, target: Any = None) -> Any:
        """A copy of the model that has learnt from some of the rows; ``target`` replaces theirs."""
        table = self if target is None else self.with_target(target)
        return fit_source(clone(model), table.part(rows))

    def ask(self, model: Any, rows: Rows = None, method: str = "predict") -> NDArray[Any]:
        """The answers of a fitted model for some of the rows, in the order of their numbers given."""
        if rows is None:
            return answers_of(model, self.source, method)
        wanted, place = np.unique(np.asarray(rows), return_inverse=True)
        return answers_of(model, selected(self.source, MaskRule.of(wanted, self.count)), method)[place]

    def _beside(self, y: NDArray[Any]) -> Source:
        flat = y.ndim == 1
        schema = replace(self.source.schema, targets=1 if flat else y.shape[1], target_is_flat=flat)
        return MappedSource(self.source, schema, BesideRows(y))


def _numbered(count: int) -> list[str]:
    return [f"x{j}" for j in range(count)]


def columns_of(source: Source, columns: Sequence[int]) -> Source:
    """Some of the columns of a source; a table then reads no others."""
    if not len(columns):
        schema = replace(source.schema, width=1, columns=(Column("constant"),))
        return MappedSource(source, schema, NoColumns())
    known = source.schema.columns
    some = None if known is None else tuple(known[j] for j in columns)
    if isinstance(source, TableSource) and some is not None:
        return with_columns(source, some)
    schema = replace(source.schema, width=len(columns), columns=some)
    return MappedSource(source, schema, ColumnsTaken(tuple(int(j) for j in columns)))
