"""Rows without a single value."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, counted


class EmptyRows(Check):
    """Rows where every column is missing."""

    name = "empty-rows"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Count them."""
        count = seen.copies.empty_rows
        if count:
            yield Finding(
                self.name,
                "warning",
                f"{counted(count, 'row')} of {seen.facts.rows:,} have no value at all.",
                "Remove them, or find out what went wrong when the table was written.",
                evidence={"rows": float(count)},
            )

    @classmethod
    def triggering_case(cls) -> Case:
        """The second row."""
        return Case(pa.table({"a": [1.0, None, 3.0], "b": ["x", None, "y"]}))

    @classmethod
    def clean_case(cls) -> Case:
        """No row lacks both."""
        return Case(pa.table({"a": [1.0, None, 3.0], "b": ["x", "z", None]}))
