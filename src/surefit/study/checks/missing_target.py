"""Rows without an answer to learn from."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, counted


class MissingTarget(Check):
    """Some rows have no target."""

    name = "missing-target"
    many = 0.2  # of the rows: those that have one may then be another kind of rows

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Count them."""
        if seen.target is None:
            return
        column = next(column for column in seen.columns if column.name == seen.target)
        share = column.missing / seen.facts.rows
        if column.missing == 0:
            return
        yield Finding(
            self.name,
            "warning" if share >= self.many else "note",
            f"{counted(column.missing, 'row')} ({100 * share:.3g} %) have no {seen.target!r}.",
            "Nothing is learnt from them; ask whether the rest is like the rows to predict.",
            (seen.target,),
            evidence={"rows": float(column.missing), "share": share},
        )

    @classmethod
    def triggering_case(cls) -> Case:
        """One row of four."""
        return Case(pa.table({"a": [1.0, 2.0, 3.0, 5.0], "y": [1.5, None, 2.5, 3.5]}), "y")

    @classmethod
    def clean_case(cls) -> Case:
        """A gap, but not in the target."""
        return Case(pa.table({"a": [1.0, None, 3.0, 5.0], "y": [1.5, 2.0, 2.5, 3.5]}), "y")
