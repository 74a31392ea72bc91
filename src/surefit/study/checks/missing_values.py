"""Columns with gaps."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, counted


class MissingValues(Check):
    """Some rows have no value in a column; cells that are spelt as missing count."""

    name = "missing-values"
    mostly = 0.5  # of the rows: what fills the gaps then outweighs what was measured
    shown = 5

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """One finding for columns that are mostly empty, one for the others."""
        rows = seen.facts.rows
        gaps = {c.name: c.missing for c in seen.columns if 0 < c.missing < rows and c.name != seen.target}
        most = [name for name, gone in gaps.items() if gone >= self.mostly * rows]
        for names, severity, remedy in (
            (most, "warning", "Find out why, and leave out what is empty for no reason."),
            (
                [name for name in gaps if name not in most],
                "note",
                "Missing values are imputed, and an indicator column marks them.",
            ),
        ):
            names = sorted(names, key=lambda name: -gaps[name])
            if not names:
                continue
            told = [self._told(name, gaps[name], rows) for name in names[: self.shown]]
            more = len(names) - self.shown
            also = f", and {counted(more, 'column')} more have missing values" if more > 0 else ""
            yield Finding(
                self.name,
                severity,  # type: ignore[arg-type]
                f"{', '.join(told)}{also}.",
                remedy,
                tuple(names),
                evidence={"columns": float(len(names)), "largest share": gaps[names[0]] / rows},
            )

    @staticmethod
    def _told(name: str, gone: int, rows: int) -> str:
        return f"{name!r} lacks {gone:,} of {counted(rows, 'row')} ({100 * gone / rows:.3g} %)"

    @classmethod
    def triggering_case(cls) -> Case:
        """One gap, spelt as a word."""
        return Case(pa.table({"a": ["1", "2", "n/a", "4"]}))

    @classmethod
    def clean_case(cls) -> Case:
        """No gap."""
        return Case(pa.table({"a": ["1", "2", "3", "4"]}))
