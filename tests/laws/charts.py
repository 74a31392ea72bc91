"""What a chart carries."""

from __future__ import annotations

from typing import Any


def tables_in(chart: Any) -> list[list[dict[str, Any]]]:
    """The data of a chart, table by table."""
    return list(chart.to_dict()["datasets"].values())


def rows_with(chart: Any, *names: str) -> list[dict[str, Any]]:
    """The rows of the chart's first table that has those columns."""
    return next(table for table in tables_in(chart) if set(names) <= set(table[0]))
