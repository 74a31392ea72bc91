"""Rows that say the same and have different targets."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen


class ContradictingRows(Check):
    """Rows that equal others in every column but the target: no model can tell them apart."""

    name = "contradicting-rows"
    columns = 4  # of fewer, equal rows are no wonder
    least = 0.01  # of the rows

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Count them."""
        if seen.target is None or len(seen.columns) < self.columns:
            return
        _, rows = seen.copies.repeated()
        share = rows / seen.facts.rows
        if share < self.least:
            return
        yield Finding(
            self.name,
            "note",
            f"{rows:,} rows ({100 * share:.3g} %) equal others in every column but {seen.target!r}.",
            "No model can separate them, which limits the score that can be reached.",
            (seen.target,),
            evidence={"rows": float(rows), "share": share},
        )

    @classmethod
    def triggering_case(cls) -> Case:
        """The last row is the first with another target."""
        return cls._case(1.0)

    @classmethod
    def clean_case(cls) -> Case:
        """It differs in one column."""
        return cls._case(1.5)

    @staticmethod
    def _case(last: float) -> Case:
        cells = {"a": [1.0, 2.0, last], "b": ["x", "y", "x"], "c": [0.5, 0.25, 0.5], "y": ["p", "q", "q"]}
        return Case(pa.table(cells), "y")
