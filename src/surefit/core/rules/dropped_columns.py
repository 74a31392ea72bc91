"""Columns that a preparer leaves out."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule, listed


class DroppedColumns(Rule):
    """Columns that no model could use as they are, with the reason for each."""

    name = "dropped-columns"
    needs = ("dropped_columns",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the columns and why each is left out."""
        dropped = evidence["dropped_columns"]
        if not dropped:
            return
        are = "columns are" if len(dropped) > 1 else "column is"
        yield Finding(
            code=self.name,
            severity="note",
            message=f"{len(dropped)} {are} left out: {listed([f'{name} {why}' for name, why in dropped])}.",
            remedy="Convert what matters in them to numbers or categories first.",
            columns=tuple(name for name, _ in dropped),
            evidence={"columns": float(len(dropped))},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """A column of text."""
        return {"dropped_columns": [("remark", "is text")]}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Everything is used."""
        return {"dropped_columns": []}
