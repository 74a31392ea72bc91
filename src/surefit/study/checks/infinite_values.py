"""Numbers that are none."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, quoted


class InfiniteValues(Check):
    """Columns with infinite cells, which no model takes."""

    name = "infinite-values"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Name them."""
        counts = {name: column.infinite for name, column in seen.facts.columns.items() if column.infinite}
        if counts:
            cells = sum(counts.values())
            yield Finding(
                self.name,
                "problem",
                f"{quoted(counts)} {'holds' if len(counts) == 1 else 'hold'} {cells:,} infinite cells.",
                "Empty them, or put a largest value in their place.",
                tuple(counts),
                evidence={"cells": float(cells)},
            )

    @classmethod
    def triggering_case(cls) -> Case:
        """A division by zero."""
        return Case(pa.table({"a": [1.0, float("inf"), 2.0]}))

    @classmethod
    def clean_case(cls) -> Case:
        """Large, but a number."""
        return Case(pa.table({"a": [1.0, 1e300, 2.0]}))
