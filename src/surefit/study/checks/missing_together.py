"""Columns that are empty in the very same rows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, quoted


class MissingTogether(Check):
    """Several columns lack the same rows: one thing was not measured, or a join found nothing."""

    name = "missing-together"
    least = 5  # rows; fewer coincide by chance

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """One finding for each group."""
        for names in seen.copies.same_gaps():
            gone = seen.facts.columns[names[0]].missing
            if self.least <= gone < seen.facts.rows:
                yield Finding(
                    self.name,
                    "note",
                    f"{quoted(names)} are all empty in the same {gone:,} rows.",
                    "They come from one source: ask what these rows have in common.",
                    names,
                    evidence={"rows": float(gone), "columns": float(len(names))},
                )

    @classmethod
    def triggering_case(cls) -> Case:
        """Two columns lack rows 0 to 4."""
        return cls._case(0)

    @classmethod
    def clean_case(cls) -> Case:
        """The second lacks row 5 in place of row 0."""
        return cls._case(1)

    @staticmethod
    def _case(shift: int) -> Case:
        one = [None if place < 5 else float(place * place) for place in range(12)]
        two = [None if shift <= place < 5 + shift else float(place % 5) for place in range(12)]
        return Case(pa.table({"a": one, "b": two}))
