"""The columns: what each was taken for and why, what it holds, and whether models saw it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from surefit.core.printable_text import visible
from surefit.report.parts import cell, table
from surefit.study.predictions import Predictions
from surefit.study.record import ColumnRecord, Record

TITLE = "The columns"
PLURAL = {"category": "categories", "text": "of text"}


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """One line a column, those that models saw first."""
    kinds = Counter(column.kind for column in record.columns)
    ordered = sorted(record.columns, key=lambda column: (column.name != record.target, not column.used))
    shown = table(
        "Columns of the table",
        ["Column", "Kind", "Role", "Missing", "Distinct", "Values", "Why"],
        ordered,
        lambda column: _line(column, record),
    )
    told = [
        (count, kind if count == 1 and kind != "text" else PLURAL.get(kind, f"{kind}s"))
        for kind, count in kinds.most_common()
    ]
    return {"kinds": told, "table": shown}


def _line(column: ColumnRecord, record: Record) -> tuple[Any, ...]:
    role = "target" if column.name == record.target else "used" if column.used else "left out"
    missing: Any = column.missing
    if column.missing and record.table.rows:
        missing = f"{cell(column.missing)} ({100 * column.missing / record.table.rows:.2g} %)"
    return column.name, column.kind, role, missing, column.distinct, _holds(column), column.why


def _holds(column: ColumnRecord) -> str:
    """Low, median and high of an ordered column; levels with their counts of another."""
    return " · ".join(f"{visible(name, 24)} {cell(value)}" for name, value in column.summary[:5])
