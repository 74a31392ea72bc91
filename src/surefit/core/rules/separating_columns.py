"""Columns that separate two classes, completely or but for rows on the boundary."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule, listed, named


class SeparatingColumns(Rule):
    """A linear programme found a direction along which no row is on the wrong side."""

    name = "separating-columns"
    needs = ("separating",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the columns of that direction."""
        kind, columns, border = evidence["separating"]
        if kind == "none":
            return
        names = named(evidence.get("column_names"), columns)
        some = "all rows" if kind == "complete" else f"all rows but {border} on the boundary"
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"The classes show {kind} separation by {listed(names)}: {some} are on the correct side, "
                "so the maximum-likelihood coefficients are infinite and their standard errors meaningless."
            ),
            remedy=(
                "Use Firth's correction, LogisticRegression(correction='firth'), or a penalty; or drop the "
                "column that determines the class."
            ),
            columns=names,
            evidence={"border": float(border)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """One column, two rows on the border."""
        return {"separating": ("quasi-complete", (1,), 2), "column_names": ("age", "dose")}

    @classmethod
    def clean_case(cls) -> Evidence:
        """No direction was found."""
        return {"separating": ("none", (), 0)}
