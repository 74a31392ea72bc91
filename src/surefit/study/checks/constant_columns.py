"""Columns that tell nothing."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, quoted


class ConstantColumns(Check):
    """Columns with one value in every row, or none at all."""

    name = "constant-columns"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Name those with one value, and those without any."""
        found = [c for c in seen.columns if c.kind == "constant" and c.name != seen.target]
        empty = [c.name for c in found if c.distinct == 0]
        same = [c.name for c in found if c.distinct > 0]
        for names, one, many in (
            (same, "has the same value in every row", "have the same value in every row"),
            (empty, "has no value in any row", "have no value in any row"),
        ):
            if names:
                single = len(names) == 1
                yield Finding(
                    self.name,
                    "note",
                    f"{quoted(names)} {one if single else many}.",
                    "It carries no information and is left out."
                    if single
                    else "They carry no information and are left out.",
                    tuple(names),
                    evidence={"columns": float(len(names))},
                )

    @classmethod
    def triggering_case(cls) -> Case:
        """One value."""
        return Case(pa.table({"a": [7.0, 7.0, 7.0], "b": [1.0, 2.5, 3.0]}))

    @classmethod
    def clean_case(cls) -> Case:
        """One value or nothing, which may tell something."""
        return Case(pa.table({"a": [7.0, None, 7.0], "b": [1.0, 2.5, 3.0]}))
