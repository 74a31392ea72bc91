"""A fitted model and a table: columns found by name, read by the kinds they had, answered in batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_clusterer, is_regressor

from surefit.core.errors import DataError, RefusalError
from surefit.data.arrow import kind_of, to_table
from surefit.data.batches.batch import Batch
from surefit.data.batches.table import Table
from surefit.data.read import with_columns
from surefit.data.schema import Column, Schema
from surefit.data.source import ArraySource, MappedSource, TableSource
from surefit.study.fitted.unknown_values import UnknownValues
from surefit.study.table.spellings import are_nothing
from surefit.study.table.stream import stream_of
from surefit.study.table.typed import convert, type_of, typed

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """A fitted model, or a pipeline of them, over tables.

    >>> import pyarrow as pa
    >>> import surefit
    >>> table = pa.table({"size": [1.0, 2.0, 3.0], "price": [10.0, 20.0, 30.0]})
    >>> applied = Applied.of(surefit.LinearRegression().fit(table, "price"))
    >>> new = pa.table({"note": ["a"], "size": ["4"]})
    >>> [applied.ask(rows, "predict").round(6).tolist() for _, rows in applied.rows(new)]
    [[40.0]]
    """

    model: Any
    steps: tuple[Any, ...]
    columns: tuple[Column, ...] | None
    width: int
    target: str | None = None  # the columns that the model learnt from, where they had a name
    weight: str | None = None

    @classmethod
    def of(cls, model: Any) -> Applied:
        """Find out what columns the model knows."""
        steps = tuple(step for _, step in model.steps) if hasattr(model, "steps") else (model,)
        steps = tuple(step for step in steps if step is not None and step != "passthrough")
        if not steps:
            raise DataError("the pipeline has no fitted step.")
        first = steps[0]
        schema: Schema | None = getattr(first, "_schema", None)
        columns = None if schema is None else schema.columns
        known = getattr(first, "feature_names_in_", None)
        if columns is None and known is not None:
            columns = tuple(Column(str(name)) for name in known)
        target = schema.target_names[0] if schema is not None and len(schema.target_names) == 1 else None
        weight = None if schema is None else schema.weight_name
        return cls(model, steps, columns, int(first.n_features_in_), target, weight)

    @property
    def last(self) -> Any:
        """The step that answers."""
        return self.steps[-1]

    @property
    def classes(self) -> NDArray[Any] | None:
        """The labels of a classifier."""
        return np.asarray(self.last.classes_) if is_classifier(self.last) else None

    @property
    def predicts(self) -> bool:
        """Whether it answers at all, and does not only transform."""
        return bool(is_classifier(self.last) or is_regressor(self.last) or is_clusterer(self.last))

    def names(self, table: Any, besides: Sequence[str] = ()) -> tuple[str, ...]:
        """The columns of a table that the model reads; one that lacks some is refused.

        A model that was fitted to an array has no names: it takes all columns but ``besides``, in order.
        """
        there = stream_of(table)[0].arrow_schema.names
        if self.columns is None:
            names = tuple(name for name in there if name not in besides)
            if len(names) != self.width:
                raise DataError(
                    f"the model was fitted to {self.width} columns without names, and the table has "
                    f"{len(names)}: leave the others out with --drop."
                )
            return names
        missing = [column.name for column in self.columns if column.name not in there]
        if missing:
            known = {column.name for column in self.columns}
            near = get_close_matches(missing[0], [name for name in there if name not in known], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(there[:10])}."
            shown = ", ".join(map(repr, missing[:10]))
            raise DataError(f"the table lacks {len(missing)} of the model's columns: {shown}{hint}")
        return tuple(column.name for column in self.columns)

    def unused(self, table: Any) -> tuple[str, ...]:
        """The columns of a table that the model has never seen."""
        names = set(self.names(table)) if self.columns is not None else None
        there = stream_of(table)[0].arrow_schema.names
        return () if names is None else tuple(name for name in there if name not in names)

    def rows(
        self,
        table: Any,
        also: Sequence[str] = (),
        *,
        labelled: str | None = None,
        besides: Sequence[str] = (),
        unread: UnknownValues | None = None,
    ) -> Iterator[tuple[pa.RecordBatch, ArraySource]]:
        """Read a table batch by batch: as it is, with the columns ``also``, and as the model reads it.

        labelled: a column whose gaps leave rows out. besides: columns that a model without names leaves out.
        unread: is told what could not be read.
        """
        names = self.names(table, (*also, *besides))
        columns = self.columns or tuple(Column(name) for name in names)
        stream, _ = stream_of(table)
        for name in also:
            if name not in stream.arrow_schema.names:
                raise DataError(f"the table has no column {name!r}: check its name.")
        kinds = {column.name: _read_as(column) for column in columns}
        for column in columns:
            _check(column, kind_of(stream.arrow_schema.field(column.name)))
        schema = stream.arrow_schema
        types = {column.name: type_of(schema.field(column.name), kinds[column.name]) for column in columns}
        start = 0
        for batch in stream.batches(list(dict.fromkeys([*names, *also]))):
            if labelled is not None:
                whole, batch = batch.num_rows, batch.filter(self._told(batch.column(labelled)))
                if unread is not None:
                    unread.untold += whole - batch.num_rows
            if batch.num_rows:
                cells = {name: convert(batch.column(name), kind) for name, kind in types.items()}
                typed_rows = to_table(_record_batch(cells), columns)
                X: Any = typed_rows if self.columns is not None else typed_rows.numbers
                known = Schema(len(columns), self.columns, batch.num_rows)
                rows = ArraySource(known, Batch(X, start=start))
                if unread is not None:
                    unread.add(batch, rows)
                yield batch, rows
                start += batch.num_rows

    def _told(self, cells: pa.Array) -> pa.Array:
        """Where a target is there; where it is a number, words for nothing are none."""
        import pyarrow.compute as pc
        import pyarrow.types as t

        gone = cells.is_null(nan_is_null=True)
        words = t.is_string(cells.type) or t.is_large_string(cells.type)
        if words and (self.classes is None or self.classes.dtype.kind in "biuf"):
            gone = pc.or_(gone, are_nothing(cells))
        return pc.invert(gone)

    def labelled(self, table: Any, target: str | None, weight: str | None = None) -> TableSource:
        """Rows with a target, if there is one, read by the kinds that they had when the model was fitted."""
        names = self.names(table, tuple(name for name in (target, weight) if name))
        columns = self.columns or tuple(Column(name) for name in names)
        kinds = {column.name: _read_as(column) for column in columns}
        if target is None:
            pass
        elif self.classes is None:
            kinds[target] = "number"
        elif self.classes.dtype.kind == "b":
            kinds[target] = "boolean"
        source = typed(table, kinds, target, weight=weight)
        return source if self.columns is None else with_columns(source, columns)

    def inner_names(self) -> list[str]:
        """The names of the columns that the last step reads."""
        if len(self.steps) > 1:
            return [str(name) for name in self.steps[-2].get_feature_names_out()]
        if self.columns is not None:
            return [column.name for column in self.columns]
        return [f"x{j}" for j in range(self.width)]

    def prepared(self, rows: ArraySource) -> Any:
        """Rows as the last step gets them."""
        found: Any = rows
        for step in self.steps[:-1]:
            found = step.transform(found)
        return found

    def matrix(self, rows: ArraySource) -> NDArray[np.float64]:
        """Rows as the last step gets them, as one matrix of numbers."""
        found = self.prepared(rows)
        block: Any = next(iter(found)).X if isinstance(found, ArraySource | MappedSource) else found
        if isinstance(block, Table):
            block = block.numbers
        return np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)

    def ask(self, rows: ArraySource, method: str, **options: Any) -> NDArray[Any]:
        """Answer some rows by a method of the last step."""
        if not hasattr(self.last, method):
            raise RefusalError(f"{type(self.last).__name__} has no {method}: choose another method.")
        prepared = self.prepared(rows)
        if isinstance(prepared, ArraySource) and prepared.schema.columns is None:
            prepared = prepared.batch.X
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return np.asarray(getattr(self.last, method)(prepared, **options))


def _record_batch(cells: dict[str, Any]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict(cells)


def _read_as(column: Column) -> str:
    """The kind by which cells are read: levels that are numbers are looked up as numbers."""
    numeric = column.kind == "category" and column.levels is not None and column.levels.dtype.kind in "iuf"
    return "number" if numeric else "category" if column.kind == "text" else column.kind


def _check(column: Column, kind: str) -> None:
    if column.kind == "date" and kind not in ("date", "category"):
        raise DataError(
            f"column {column.name!r} held dates when the model was fitted, but is a {kind} here: "
            "give it the same type as then."
        )
