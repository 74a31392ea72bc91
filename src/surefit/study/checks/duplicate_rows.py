"""Rows that come more than once."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, counted


class DuplicateRows(Check):
    """Rows that equal an earlier one in every column."""

    name = "duplicate-rows"
    columns = 3  # fewer columns repeat by nature
    many = 0.01  # of the rows: enough to make tests look better than they are

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Count the copies."""
        copies, _ = seen.copies.repeated()
        if copies == 0 or len(seen.columns) < self.columns:
            return
        share = copies / seen.facts.rows
        about = "" if seen.copies.share == 1.0 else "About "
        yield Finding(
            self.name,
            "warning" if share >= self.many else "note",
            f"{about}{counted(copies, 'row')} ({100 * share:.3g} %) equal an earlier one in every column.",
            "Remove them unless they are different cases: a copy in the test rows makes any model look good.",
            evidence={"rows": float(copies), "share": share},
        )

    @classmethod
    def triggering_case(cls) -> Case:
        """The first row comes again."""
        return cls._case(1.0)

    @classmethod
    def clean_case(cls) -> Case:
        """It differs in one column."""
        return cls._case(1.5)

    @staticmethod
    def _case(last: float) -> Case:
        return Case(pa.table({"a": [1.0, 2.0, last], "b": ["x", "y", "x"], "c": [0.5, 0.25, 0.5]}))
