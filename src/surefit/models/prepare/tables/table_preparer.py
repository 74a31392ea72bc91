"""Prepare a typed table for a family of models, each column by its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from surefit.core.arrays import Matrix
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError
from surefit.core.parameters import Count
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import column_levels, column_numbers, column_places
from surefit.data.batches.table import Table
from surefit.data.door import Accepts, is_streamed
from surefit.data.schema import Column, Kind, Schema
from surefit.data.source import MappedSource, Source, is_source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Purpose
from surefit.models.prepare.encoders.encoder import is_nan
from surefit.models.prepare.output import dense_frames_asked, sparse_output
from surefit.models.prepare.quantiles import ExactInMemory, ExactQuantiles, quantile_change
from surefit.models.prepare.recompute import change, relative_change, seen
from surefit.models.prepare.tables.column_facts import (
    NUMERIC,
    columns_of,
    facts_of,
    gathered,
    numbers_source,
    plain_facts,
)
from surefit.models.prepare.tables.column_plan import REASONS, ColumnPlan, Facts, decide
from surefit.models.transformer import MapRows, Transformer
from surefit.stats.base import Joint
from surefit.stats.sketch import Sketch


def restored_column(plan: ColumnPlan, column: Column, facts: Facts, block: Matrix) -> NDArray[Any]:
    """One column as a table stores it, from the columns that its plan made of it."""
    gone = block[:, -1] > plan.height / 2 if plan.indicator else np.zeros(len(block), dtype=bool)
    if column.kind == "text":
        return np.full(len(block), None, dtype=object)
    if column.kind == "category":
        return np.where(gone, -1, _codes(plan, block)).astype(np.int32)
    values = _left_out(facts, len(block)) if plan.role == "dropped" else block[:, 0] * plan.scale + plan.shift
    if column.kind == "boolean":
        values = np.where(np.isnan(values), np.nan, values >= 0.5)
    return np.where(gone, np.nan, values)


def _left_out(facts: Facts, rows: int) -> NDArray[np.float64]:
    """A column that did not come out: its one value, or nothing."""
    return np.full(rows, facts.minimum if facts.minimum == facts.maximum else np.nan)


def _codes(plan: ColumnPlan, block: Matrix) -> NDArray[Any]:
    """The place of each row's level, -1 for none."""
    levels = plan.levels
    if plan.role == "ordinal":
        assert levels is not None
        codes = np.rint(block[:, 0])
        if not ((np.abs(codes - block[:, 0]) < 1e-6) & (codes >= -1) & (codes < len(levels))).all():
            raise DataError(
                f"column {plan.name!r} holds numbers that are not codes of its {len(levels)} levels: pass "
                "rows that transform returned."
            )
        return codes
    if plan.role == "dropped" or plan.outputs is None:
        return np.full(len(block), -1 if levels is None else 0)
    shown = block[:, : int(plan.outputs.max(initial=-1)) + 1]
    outputs = np.full(len(block), -1)
    if shown.shape[1]:
        outputs = np.where(shown.max(axis=1) > plan.height / 2, shown.argmax(axis=1), -1)
    codes = np.full(len(block), -1)
    for output in np.unique(outputs).tolist():
        found = np.flatnonzero(plan.outputs[:-1] == output)
        if len(found) > 1:
            raise DataError(
                f"column {plan.name!r} has rows of an indicator that stands for {len(found)} rare levels, "
                "so their level cannot be recovered: fit with max_categories=None to keep every level."
            )
        if len(found):
            codes[outputs == output] = found[0]
    return codes


def to_arrow(table: Table) -> Any:
    """A typed table as pyarrow's: numbers, booleans, timestamps in milliseconds, and words."""
    import pyarrow as pa

    arrays = {}
    for j, column in enumerate(table.columns):
        stored, gone = table.column(j), table.missing(j)
        if column.kind == "category":
            assert column.levels is not None
            codes = pa.array(np.maximum(stored, 0), mask=gone)
            levels = pa.array(column.levels.tolist() or [""])
            arrays[column.name] = pa.DictionaryArray.from_arrays(codes, levels).dictionary_decode()
        elif column.kind == "date":
            stamps = np.rint(np.where(gone, 0.0, stored) * 86_400_000).astype("datetime64[ms]")
            arrays[column.name] = pa.array(stamps, mask=gone)
        elif column.kind == "boolean":
            arrays[column.name] = pa.array(stored == 1, mask=gone)
        elif column.kind == "text":
            arrays[column.name] = pa.array(stored.tolist(), pa.string())
        else:
            arrays[column.name] = pa.array(stored, mask=gone)
    return pa.table(arrays)


@dataclass(frozen=True, slots=True)
class TablePreparerParameters:
    """What each column is and becomes; the facts that this was decided from; the weight of the rows seen."""

    kinds: list[Kind]
    roles: list[str]
    moments: NDArray[np.float64]
    categories: list[NDArray[Any]]
    counts: list[NDArray[np.float64]]
    rank_error: NDArray[np.float64]
    n_samples_seen: Any


class TablePreparer(ExactInMemory, Transformer):
    """Turn a table of numbers, categories, booleans, dates and text into numbers that suit a model.

    purpose: "linear" and "distance" standardise numbers and dates and make indicators of categories (linear
    without the commonest level, distance at a height that puts two levels 1 apart); "tree" leaves numbers and
    makes codes of categories, -1 for missing and unknown ones; "count" keeps everything at zero or above.
    Missing numbers become the median, and an indicator column marks them (add_indicator). Dates give days,
    and month and weekday (as cycles, for trees as numbers). Text, identifiers, empty columns and, for linear
    and distance, constant ones are dropped, and the diagnosis says which. max_categories: the rarest levels
    beyond it become one. identifiers: "keep" keeps columns with a distinct value in each row. Values not seen
    in fit are not an error.

    >>> import pandas as pd
    >>> from surefit import TablePreparer
    >>> table = pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> preparer = TablePreparer().fit(table)
    >>> list(preparer.get_feature_names_out())
    ['size', 'size_missing', 'colour_blue']
    >>> preparer.transform(table)
    array([[-1.,  0.,  0.],
           [ 0.,  1.,  1.],
           [ 1.,  0.,  0.]])
    """

    accepts = Accepts(missing=True, sparse=False, tables=True, cells=True)
    learns = TablePreparerParameters

    kinds_: list[Kind]
    roles_: list[str]
    moments_: NDArray[np.float64]
    categories_: list[NDArray[Any]]
    counts_: list[NDArray[np.float64]]
    rank_error_: NDArray[np.float64]
    n_samples_seen_: Any

    def __init__(
        self,
        purpose: Purpose = "linear",
        *,
        max_categories: Count | None = 100,
        add_indicator: bool = True,
        sparse_output: bool = False,
        identifiers: Literal["drop", "keep"] = "drop",
    ) -> None:
        self.purpose = purpose
        self.max_categories = max_categories
        self.add_indicator = add_indicator
        self.sparse_output = sparse_output
        self.identifiers = identifiers

    def _of(self, schema: Schema) -> Callable[[Batch], Joint]:
        return partial(gathered, columns=columns_of(schema), sketch=Sketch.of)

    def _of_memory(self, batch: Batch, schema: Schema) -> Joint:
        return gathered(batch, columns_of(schema), partial(ExactQuantiles.of, shares=[0.5]))

    def _finish(self, statistic: Joint, schema: Schema) -> Learned:
        columns = columns_of(schema)
        facts = facts_of(statistic, columns)
        kinds = [column.kind for column in columns]
        plans = self._decided([column.name for column in columns], kinds, facts)
        sketch: Any = statistic.members.get("quantiles")
        nothing = np.zeros(0)
        parameters = TablePreparerParameters(
            list(kinds),
            [plan.role for plan in plans],
            np.array([_numbers(fact) for fact in facts]).reshape(len(facts), 6),
            [nothing if fact.levels is None else fact.levels for fact in facts],
            [nothing if fact.counts is None else fact.counts for fact in facts],
            nothing if sketch is None else sketch.error,
            seen(statistic["categories"].weight),
        )
        dropped = [(plan.name, REASONS[plan.reason]) for plan in plans if plan.reason]
        certificate = self._certificate(0.0, parameters.rank_error)
        return Learned(parameters, certificate, {"dropped_columns": dropped})

    def _decided(self, names: Any, kinds: Any, facts: list[Facts]) -> list[ColumnPlan]:
        how = self.purpose, self.max_categories, self.add_indicator, self.identifiers == "keep"
        return [
            decide(str(name), kind, fact, *how) for name, kind, fact in zip(names, kinds, facts, strict=True)
        ]

    def _facts(self) -> list[Facts]:
        """What was learnt of each column."""
        weight = float(self.n_samples_seen_)
        known = zip(self.kinds_, self.moments_.tolist(), self.categories_, self.counts_, strict=True)
        return [
            Facts(weight, row[0], levels=levels, counts=counts) if kind == "category" else Facts(weight, *row)
            for kind, row, levels, counts in known
        ]

    def _plans(self, names: Any = None) -> list[ColumnPlan]:
        """The plans of the columns, from what was learnt."""
        return self._decided(_check_feature_names_in(self, names), self.kinds_, self._facts())

    @staticmethod
    def _certificate(value: float, error: NDArray[np.float64]) -> Certificate:
        measure = "largest change of a mean, deviation or median, in ranges of its column, or of a count"
        return Certificate("exact", measure, value, 1e-8, {"rank error": error.max(initial=0.0)})

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Gather the facts again in plain passes; of medians from a sketch, count the ranks."""
        columns = columns_of(self._schema)
        numeric = [j for j, kind in enumerate(self.kinds_) if kind in NUMERIC]
        facts = plain_facts(source, engine, columns)
        expected = np.array([_numbers(fact) for fact in facts]).reshape(len(facts), 6)
        ends = np.nan_to_num(expected[:, 3:5], posinf=0.0, neginf=0.0)
        unit = (ends[:, 1] - ends[:, 0] + 1e-6 * np.abs(ends).max(axis=1, initial=0.0))[:, None]
        found = np.column_stack([self.moments_[:, [1, 3, 4]], np.sqrt(self.moments_[:, 2])])
        again = np.column_stack([expected[:, [1, 3, 4]], np.sqrt(expected[:, 2])])
        medians = self.moments_[numeric, 5][None, :]
        steps = [
            change(found, again, unit),
            quantile_change(numbers_source(source, columns), engine, [0.5], medians, self.rank_error_),
            relative_change(self.moments_[:, 0], expected[:, 0]),
            relative_change(self.n_samples_seen_, facts[0].weight if facts else 0.0),
        ]
        for kind, levels, counts, fact in zip(
            self.kinds_, self.categories_, self.counts_, facts, strict=True
        ):
            if kind == "category":
                same = fact.levels is not None and levels.tolist() == fact.levels.tolist()
                steps.append(relative_change(counts, fact.counts) if same else np.inf)
        facts = [replace(fact, median=row[5]) for fact, row in zip(facts, self.moments_, strict=True)]
        roles = [plan.role for plan in self._decided(range(len(facts)), self.kinds_, facts)]
        return self._certificate(max(steps) if roles == self.roles_ else np.inf, self.rank_error_)

    def _transform(self, X: Any) -> Any:
        if self.sparse_output:
            dense_frames_asked(self)
        rows = X.shape[0]
        blocks = [self._block(X, j, plan) for j, plan in enumerate(self._plans())]
        out = np.hstack([np.zeros((rows, 0)), *blocks])
        return sparse_output(sparse.csr_array(out)) if self.sparse_output else out

    def _block(self, X: Any, j: int, plan: ColumnPlan) -> NDArray[np.float64]:
        if self.kinds_[j] in NUMERIC:
            values = column_numbers(X, j, plan.name)
            return plan.block(values, None, np.isnan(values))
        if plan.role == "dropped" and not plan.indicator:
            return np.zeros((X.shape[0], 0))
        levels, codes = column_levels(X, j)
        none = np.array([level is None or is_nan(level) for level in levels] + [False], dtype=bool)
        return plan.block(None, column_places(X, j, self.categories_[j]), none[codes])

    def inverse_transform(self, X: Any) -> Any:
        """Turn prepared rows back into the typed table: pyarrow's, or the frame that ``set_output`` asks for.

        Numbers are unscaled, indicators and codes become levels, dates their time to the millisecond. Gaps
        come back where an indicator shows them; otherwise they keep what filled them, and a category's are
        the reference of a linear purpose. Left-out columns come back with their one value, or without any;
        for counts, what was cut off at zero stays there. Rows of an indicator that stands for several rare
        levels are refused. A source that ``transform`` returned becomes a source of typed rows.
        """
        check_is_fitted(self)
        if is_streamed(X):
            if not is_source(X):
                raise DataError(
                    "inverse_transform takes an array, a frame or a source that transform returned."
                )
            columns = self._typed_columns()
            schema = replace(X.schema, width=len(columns), columns=columns)
            return MappedSource(X, schema, MapRows(self._restored))
        table = to_arrow(
            self._restored(check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_features=0))
        )
        asked = _get_output_config("transform", self)["dense"]
        if asked == "pandas":
            return table.to_pandas()
        if asked == "polars":
            import polars as pl

            return pl.from_arrow(table)
        return table

    def _typed_columns(self) -> tuple[Column, ...]:
        names = _check_feature_names_in(self, None)
        known = zip(names, self.kinds_, self.categories_, strict=True)
        return tuple(
            Column(str(name), kind, levels if kind == "category" else None) for name, kind, levels in known
        )

    def _restored(self, X: Any) -> Table:
        rows = X.toarray() if sparse.issparse(X) else X
        plans, columns = self._plans(), self._typed_columns()
        ends = np.cumsum([len(plan.names) for plan in plans])
        if rows.shape[1] != ends[-1]:
            raise DataError(f"X has {rows.shape[1]} columns, and transform returns {ends[-1]}.")
        blocks = np.split(rows, ends[:-1], axis=1)
        known = zip(plans, columns, self._facts(), blocks, strict=True)
        return Table.build(columns, [restored_column(*each) for each in known], rows.shape[0])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns that come out: that of their column, and what is shown of it."""
        check_is_fitted(self)
        return np.array([name for plan in self._plans(input_features) for name in plan.names], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def column_plans(preparer: TablePreparer, names: Any = None) -> list[ColumnPlan]:
    """What a fitted preparer does with each column, under the names of its input or others."""
    return preparer._plans(names)


def _numbers(fact: Facts) -> list[float]:
    return [fact.missing, fact.mean, fact.variance, fact.minimum, fact.maximum, fact.median]


def prepared(preparer: TablePreparer, table: Table) -> Matrix:
    """Typed rows in memory, of the columns and levels that the preparer was fitted on, as it transforms them.

    Nothing is checked: this is for rows of the table that the fit has seen, many times over.
    """
    rows: Matrix = preparer._transform(table)
    return rows


def blocks_of(preparer: TablePreparer) -> list[int]:
    """How many prepared columns each column of the table became."""
    return [len(plan.names) for plan in preparer._plans()]
