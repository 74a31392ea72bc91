"""Columns of numbers and words together."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, counted


class MixedTypes(Check):
    """Text of which half or more, but not all, are numbers or dates: bad cells, or two columns in one."""

    name = "mixed-types"
    part = 0.5  # of the cells that are there

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Count the cells that do not fit in."""
        for name, column in seen.facts.columns.items():
            text = column.text
            if text is None or seen.kinds[name] in ("number", "boolean", "date", "constant"):
                continue
            told = column.present - text.nothing
            for what, count in (("numbers", text.numbers), ("dates", text.dates)):
                if self.part * told <= count < told:
                    odd = told - count
                    yield Finding(
                        self.name,
                        "warning",
                        f"{name!r} holds {count:,} {what} and {counted(odd, 'cell')} of other text, "
                        f"such as {self._example(seen, name, what)!r}.",
                        f"Fix these cells, or read the column as {what} with gaps: {name}={what[:-1]}.",
                        (name,),
                        evidence={"fit": float(count), "others": float(odd)},
                    )

    @staticmethod
    def _example(seen: Seen, name: str, what: str) -> str:
        from surefit.study.table import spellings

        cells = seen.sample.column(name).combine_chunks().drop_null().cast(pa.large_string())
        fits = spellings.are_numbers(cells) if what == "numbers" else spellings.to_dates(cells).is_valid()
        odd = cells.filter(pa.compute.invert(pa.compute.or_(fits, spellings.are_nothing(cells))))
        return str(odd[0])[:40] if len(odd) else "(not in the sample)"

    @classmethod
    def triggering_case(cls) -> Case:
        """One word among numbers."""
        return Case(pa.table({"a": ["1", "2", "three", "4", "2"]}))

    @classmethod
    def clean_case(cls) -> Case:
        """A word for nothing among numbers."""
        return Case(pa.table({"a": ["1", "2", "n/a", "4", "2"]}))
