"""Columns that name rows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, quoted


class Identifiers(Check):
    """Columns with a value of its own for each row: a model can only learn them by heart."""

    name = "identifiers"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Name them."""
        names = [c.name for c in seen.columns if c.kind == "identifier" and c.name != seen.target]
        if names:
            verbs = "identifies rows and is" if len(names) == 1 else "identify rows and are"
            yield Finding(
                self.name,
                "note",
                f"{quoted(names)} {verbs} left out.",
                "If rows with near numbers belong together, split by groups or by time.",
                tuple(names),
                evidence={"columns": float(len(names))},
            )

    @classmethod
    def triggering_case(cls) -> Case:
        """Whole numbers that rise."""
        return Case(pa.table({"a": [3 * place for place in range(30)]}))

    @classmethod
    def clean_case(cls) -> Case:
        """Each comes twice."""
        return Case(pa.table({"a": [3 * (place // 2) for place in range(30)]}))
