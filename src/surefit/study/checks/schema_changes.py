"""Columns that came, went or became something else."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, quoted


class SchemaChanges(Check):
    """The two tables do not have the same columns of the same kinds."""

    name = "schema-changes"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Name what is gone, what is new and what changed its kind."""
        if seen.against is None:
            return
        now, then = seen.kinds, seen.against.kinds
        gone = [name for name in then if name not in now]
        new = [name for name in now if name not in then]
        if gone:
            message = f"The other table has {quoted(gone)}, which this one lacks."
            remedy = "A model fitted to the other table cannot predict for this one without them."
            yield Finding(self.name, "problem", message, remedy, tuple(gone))
        if new:
            message = f"The other table lacks {quoted(new)}, which this one has."
            yield Finding(
                self.name, "note", message, "A model fitted to the other table does not use them.", tuple(new)
            )
        for name in now:
            if name in then and now[name] != then[name]:
                yield Finding(
                    self.name,
                    "warning",
                    f"{name!r} is of the kind {now[name]} here, and {then[name]} in the other table.",
                    "Give its kind for both tables, or fix the cells that do not fit.",
                    (name,),
                )

    @classmethod
    def triggering_case(cls) -> Case:
        """Words in place of numbers."""
        return Case(pa.table({"a": ["x", "y"]}), against=pa.table({"a": [1.5, 2.0]}))

    @classmethod
    def clean_case(cls) -> Case:
        """Numbers of another type."""
        return Case(pa.table({"a": [3, 9]}), against=pa.table({"a": [1.5, 2.0]}))
