"""Levels that differ in case or space alone."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen


class SpellingVariants(Check):
    """Levels of a category that are the same word, written in several ways."""

    name = "spelling-variants"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Name a group of them for each column."""
        for name, column in seen.facts.columns.items():
            if seen.kinds[name] != "category" or column.counts is None or column.text is None:
                continue
            groups: dict[str, list[str]] = {}
            for level in column.counts:
                groups.setdefault(" ".join(str(level).lower().split()), []).append(str(level))
            same = [sorted(levels) for levels in groups.values() if len(levels) > 1]
            if same:
                others = f", and {len(same) - 1} more such groups" if len(same) > 1 else ""
                yield Finding(
                    self.name,
                    "warning",
                    f"{name!r} has {' and '.join(map(repr, same[0]))} as different levels{others}.",
                    "Write them in one way.",
                    (name,),
                    evidence={"groups": float(len(same))},
                )

    @classmethod
    def triggering_case(cls) -> Case:
        """A capital letter and a space."""
        return Case(pa.table({"a": ["new york", "paris", "New York ", "paris"]}))

    @classmethod
    def clean_case(cls) -> Case:
        """Two cities."""
        return Case(pa.table({"a": ["new york", "paris", "newark", "paris"]}))
