"""Columns that hold the same."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, quoted


class DuplicateColumns(Check):
    """Columns with the same value in every row; constants are left to their own check."""

    name = "duplicate-columns"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """One finding for each group of copies."""
        for names in seen.copies.same_columns():
            if seen.facts.columns[names[0]].distinct < 2:
                continue
            leak = seen.target in names
            yield Finding(
                self.name,
                "problem" if leak else "warning",
                f"{quoted(names)} hold the same in every row.",
                f"Remove what copies the target {seen.target!r}." if leak else "Keep one of them.",
                names,
                evidence={"columns": float(len(names))},
            )

    @classmethod
    def triggering_case(cls) -> Case:
        """A copy under another type."""
        return Case(pa.table({"a": [1.0, 2.0, 4.0], "b": pa.array([1, 2, 4], pa.int8())}))

    @classmethod
    def clean_case(cls) -> Case:
        """The same values in another order."""
        return Case(pa.table({"a": [1.0, 2.0, 4.0], "b": pa.array([1, 4, 2], pa.int8())}))
