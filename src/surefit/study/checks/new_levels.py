"""Levels that the other table does not have."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, counted, quoted


class NewLevels(Check):
    """Categories with values that a model of the other table has never seen."""

    name = "new-levels"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """One finding a column."""
        if seen.against is None:
            return
        for name, column in seen.facts.columns.items():
            before = seen.against.facts.columns.get(name)
            if before is None or seen.kinds[name] != "category" or column.counts is None or not before.counts:
                continue
            new = {str(level): count for level, count in column.counts.items() if level not in before.counts}
            if new:
                rows = sum(new.values())
                yield Finding(
                    self.name,
                    "warning",
                    f"{counted(rows, 'row')} of {name!r} {'has' if rows == 1 else 'have'} values that the "
                    f"other table lacks: {quoted(sorted(new, key=lambda level: (-new[level], level)))}.",
                    "A model fitted to the other table treats them as unknown.",
                    (name,),
                    evidence={"levels": float(len(new)), "rows": float(rows)},
                )

    @classmethod
    def triggering_case(cls) -> Case:
        """One new value."""
        return Case(pa.table({"a": ["x", "y", "z"]}), against=pa.table({"a": ["x", "y", "x"]}))

    @classmethod
    def clean_case(cls) -> Case:
        """One that is gone."""
        return Case(pa.table({"a": ["x", "y", "x"]}), against=pa.table({"a": ["x", "y", "z"]}))
