"""Values that stand for nothing: "N/A", "?", -999."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, counted
from surefit.study.table.facts import ColumnFacts
from surefit.study.table.spellings import NOTHING


class PlaceholderValues(Check):
    """Words for nothing as levels of a category, and numbers such as -999 far from all others."""

    name = "placeholder-values"
    far = 3.0  # distances between the quartiles, as for outliers

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """One finding a column."""
        for name, column in seen.facts.columns.items():
            found = self._words(column) if column.text is not None else self._numbers(column)
            if found and seen.kinds[name] in ("category", "number", "text"):
                value, count = max(found.items(), key=lambda entry: entry[1])
                if seen.kinds[name] == "number" and column.held != "number":
                    continue  # read as gaps already
                yield Finding(
                    self.name,
                    "warning",
                    f"{counted(count, 'row')} of {name!r} {'has' if count == 1 else 'have'} {value}, "
                    "which looks like a placeholder for a missing value.",
                    "If it does, empty these cells; otherwise models treat it as a value.",
                    (name,),
                    evidence={"rows": float(sum(found.values()))},
                )

    @staticmethod
    def _words(column: ColumnFacts) -> dict[str, int]:
        levels = column.counts or {}
        return {
            repr(str(level)): count
            for level, count in levels.items()
            if str(level).strip().lower() in NOTHING
        }

    def _numbers(self, column: ColumnFacts) -> dict[str, int]:
        low, _, high = column.quartiles
        reach = self.far * (high - low)
        ends = column.low, column.high
        return {
            f"{value:g}": count
            for value, count in column.sentinels.items()
            if count > 1 and value in ends and not low - reach <= value <= high + reach
        }

    @classmethod
    def triggering_case(cls) -> Case:
        """A sentinel, twice."""
        return Case(pa.table({"a": [-999, -999, *range(3, 40), 5, 6]}))

    @classmethod
    def clean_case(cls) -> Case:
        """The same number where others are like it."""
        return Case(pa.table({"a": [-999, -999, *range(-1500, -500, 25), 5, 6]}))
