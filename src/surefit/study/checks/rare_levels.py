"""Categories with levels that hardly any row has."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen


class RareLevels(Check):
    """Levels of a category that fewer than ten rows have: too few to learn from, and to test on."""

    name = "rare-levels"
    least = 10  # rows of a level; five folds then test two
    rows = 100  # of the table; in a small one every level is rare

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Name the columns, with how many levels are rare."""
        if seen.facts.rows < self.rows:
            return
        rare: dict[str, tuple[int, int]] = {}
        for name in seen.used:
            counts = seen.facts.columns[name].counts
            if seen.kinds[name] == "category" and counts is not None:
                few = sum(count < self.least for count in counts.values())
                if few:
                    rare[name] = few, len(counts)
        if not rare:
            return
        names = sorted(rare, key=lambda name: -rare[name][0])
        told = [f"{rare[name][0]} of {rare[name][1]} levels of {name!r}" for name in names[:5]]
        more = f", and levels of {len(names) - 5} more columns" if len(names) > 5 else ""
        yield Finding(
            self.name,
            "note",
            f"Fewer than {self.least} rows have {', '.join(told)}{more}.",
            "Merge them by meaning, or let the preparer group the rarest (max_categories).",
            tuple(names),
            evidence={"columns": float(len(names)), "levels": float(sum(few for few, _ in rare.values()))},
        )

    @classmethod
    def triggering_case(cls) -> Case:
        """Nine rows of a level."""
        return cls._case(9)

    @classmethod
    def clean_case(cls) -> Case:
        """Ten."""
        return cls._case(10)

    @staticmethod
    def _case(rare: int) -> Case:
        return Case(pa.table({"a": ["x"] * (100 - rare) + ["y"] * rare}))
