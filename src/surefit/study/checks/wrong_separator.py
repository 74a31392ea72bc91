"""A file that was cut at the wrong sign."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen


class WrongSeparator(Check):
    """One column whose name holds semicolons, tabs or bars: it is several."""

    name = "wrong-separator"
    signs = (";", "\t", "|")

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Say which sign it is."""
        (first, *others) = seen.facts.columns
        sign = next((sign for sign in self.signs if sign in first), None)
        if not others and sign is not None:
            yield Finding(
                self.name,
                "problem",
                f"The table has one column, named {first[:60]!r}, which {sign!r} cuts into several.",
                "Write the file with commas, or with tabs as .tsv.",
                (first,),
            )

    @classmethod
    def triggering_case(cls) -> Case:
        """Semicolons."""
        return Case(pa.table({"a;b": ["1;2", "3;4"]}))

    @classmethod
    def clean_case(cls) -> Case:
        """One column, and one name."""
        return Case(pa.table({"a b": ["1;2", "3;4"]}))
