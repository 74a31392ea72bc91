"""Equal rows that have different classes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed


class ClashingTwins(Rule):
    """Rows at distance 0 from each other belong to different classes, which no model of the columns can
    tell apart.

    ``clashing_rows``: pairs of row numbers, and how many rows were asked.
    """

    name = "clashing-twins"
    needs = ("clashing_rows",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the first pairs."""
        pairs, asked = evidence["clashing_rows"]
        if not pairs:
            return
        rows = len(np.unique([one for one, _ in pairs]))
        shown = listed([f"{one} and {two}" for one, two in pairs])
        yield Finding(
            code=self.name,
            severity="warning",
            message=f"{rows} of {asked} rows looked at have a twin of another class: rows {shown}.",
            remedy="Check their labels, or add a column that tells them apart.",
            rows=tuple(sorted({row for pair in pairs for row in pair})[:20]),
            evidence={"rows": float(rows), "asked": float(asked)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Two equal rows disagree."""
        return {"clashing_rows": ([(0, 3)], 10)}

    @classmethod
    def clean_case(cls) -> Evidence:
        """No twins disagree."""
        return {"clashing_rows": ([], 10)}
