"""Facts about the columns of a typed table: gathered in one pass, and once more in plain ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import column_counts, column_numbers
from surefit.data.checks.float_range import SMALLEST, out_of_range
from surefit.data.schema import Column, Schema
from surefit.data.source import MappedSource, Source
from surefit.engine.base import Engine
from surefit.models.prepare.encoders.encoder import NAN, is_nan, recounted
from surefit.models.prepare.recompute import plain_moments, total_weight
from surefit.models.prepare.tables.column_plan import Facts
from surefit.stats.base import Joint
from surefit.stats.category_counts import CategoryCounts
from surefit.stats.spread import Spread

Columns = Sequence[Column]
NUMERIC = ("number", "boolean", "date")


def columns_of(schema: Schema) -> tuple[Column, ...]:
    """The columns of a schema; without names they are numbers called x0, x1, ..."""
    return schema.columns or tuple(Column(f"x{j}") for j in range(schema.width))


def numbers_of(X: Any, columns: Columns) -> NDArray[np.float64]:
    """The columns of numbers, booleans and dates, side by side."""
    found = [column_numbers(X, j, c.name) for j, c in enumerate(columns) if c.kind in NUMERIC]
    return np.column_stack(found) if found else np.zeros((X.shape[0], 0))


def gathered(batch: Batch, columns: Columns, sketch: Callable[[Batch], Any]) -> Joint:
    """Moments and quantiles of the numbers, counts of the categories, and the weight of the rows."""
    numbers = replace(batch, X=numbers_of(batch.X, columns))
    words = [
        column_counts(batch.X, j, batch.weight)
        for j, column in enumerate(columns)
        if column.kind == "category"
    ]
    weight = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
    members: dict[str, Any] = {
        "categories": CategoryCounts(
            len(batch), weight, tuple(levels for levels, _ in words), tuple(counts for _, counts in words)
        )
    }
    if numbers.X.shape[1]:
        members |= {"moments": Spread.of(numbers), "quantiles": sketch(numbers)}
    return Joint(members)


def facts_of(statistic: Joint, columns: Columns) -> list[Facts]:
    """What the statistic says of each column."""
    counts: CategoryCounts = statistic["categories"]
    weight = counts.weight
    categories = iter(zip(counts.levels, counts.counts, strict=True))
    spread: Spread | None = statistic.members.get("moments")  # type: ignore[assignment]
    medians = statistic["quantiles"].quantile(0.5) if spread is not None else None
    variance = None if spread is None else spread.variance
    facts, place = [], 0
    for column in columns:
        if column.kind == "category":
            facts.append(_of_category(weight, *next(categories)))
        elif column.kind in NUMERIC:
            assert spread is not None
            assert medians is not None
            assert variance is not None
            j, place = place, place + 1
            ends = float(spread.minimum[j]), float(spread.maximum[j])
            gone = float(spread.missing[j])
            moments = float(spread.mean[j]), float(variance[j])
            if 0 < moments[1] < SMALLEST**2:
                raise out_of_range(f"column {column.name!r}", tiny=True)
            facts.append(Facts(weight, gone, *moments, *ends, float(medians[j])))
        else:
            facts.append(Facts(weight, 0.0))
    return facts


def _of_category(weight: float, levels: NDArray[Any], counts: NDArray[np.float64]) -> Facts:
    none = [level is None or is_nan(level) for level in levels]
    there = ~np.array(none, dtype=bool)
    gone = float(counts[~there].sum())
    return Facts(weight, gone, levels=levels[there], counts=counts[there])


def plain_facts(source: Source, engine: Engine, columns: Columns) -> list[Facts]:
    """The same but for medians from plain passes: extended sums, and dictionaries of values."""
    numeric = [j for j, column in enumerate(columns) if column.kind in NUMERIC]
    moments = plain_moments(numbers_source(source, columns), engine) if numeric else None
    weight = total_weight(source, engine)
    words = [j for j, column in enumerate(columns) if column.kind == "category"]
    tallies = iter(recounted(source, engine, words))
    facts = []
    for j, column in enumerate(columns):
        if column.kind == "category":
            tally = next(tallies)
            gone = tally.pop(NAN, 0.0) + tally.pop(None, 0.0)
            levels = np.array(sorted(tally), dtype=object)
            counts = np.array([tally[level] for level in levels])
            facts.append(Facts(weight, gone, levels=levels, counts=counts))
        elif column.kind in NUMERIC:
            assert moments is not None
            k = numeric.index(j)
            mean, variance = float(moments.mean[k]), float(moments.variance[k])
            ends = float(moments.minimum[k]), float(moments.maximum[k])
            facts.append(Facts(weight, float(moments.missing[k]), mean, variance, *ends))
        else:
            facts.append(Facts(weight, 0.0))
    return facts


def numbers_source(source: Source, columns: Columns) -> Source:
    """The numbers of a source, as a source."""
    return MappedSource(source, source.schema, partial(_numbers_only, columns=columns))


def _numbers_only(batch: Batch, columns: Columns) -> Batch:
    return replace(batch, X=numbers_of(batch.X, columns))
