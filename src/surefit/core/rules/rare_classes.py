"""A class with too few rows for the columns that are to tell it apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed


class RareClasses(Rule):
    """A class has fewer than five rows for each column: estimates are then biased away from zero."""

    name = "rare-classes"
    needs = ("class_rows",)
    threshold = 5.0

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the rows of each class with the columns."""
        labels, rows, columns = evidence["class_rows"]
        rare = np.flatnonzero(np.asarray(rows) < self.threshold * columns)
        if len(rare) == 0:
            return
        named = listed([f"{labels[k]!s} ({rows[k]:g} rows)" for k in rare])
        yield Finding(
            code=self.name,
            severity="note",
            message=(
                f"There are fewer than {self.threshold:g} rows per column ({columns} columns) in {named}: "
                "unpenalised coefficients are then biased away from zero, and their standard errors too "
                "small."
            ),
            remedy="Add a penalty, use Firth's correction, merge classes, or drop columns.",
            evidence={"least": float(np.min(rows)), "columns": float(columns)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Seven rows for four columns."""
        return {"class_rows": (np.array(["no", "yes"]), np.array([93.0, 7.0]), 4)}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Forty rows for four columns."""
        return {"class_rows": (np.array(["no", "yes"]), np.array([60.0, 40.0]), 4)}
