"""The way back from a preparer's numbers to the cells of a typed table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.schema import Column
from surefit.data.table import Table
from surefit.models.prepare.column_plan import ColumnPlan, Facts

Matrix = NDArray[np.float64]


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
                f"column {plan.name!r} holds numbers that are no codes of its {len(levels)} levels: "
                "pass rows that transform returned."
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
                "so that their level is gone: fit with max_categories=None to keep every level."
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
