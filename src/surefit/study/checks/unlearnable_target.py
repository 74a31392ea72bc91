"""A target of which nothing can be learnt."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen


class UnlearnableTarget(Check):
    """The target is empty, has one value, holds dates, or hardly repeats a word."""

    name = "unlearnable-target"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Hand on why the task could not be decided."""
        if seen.target is not None and seen.refusal is not None:
            message = f"{seen.refusal[0].upper()}{seen.refusal[1:]}"
            yield Finding(self.name, "problem", message, "", (seen.target,))

    @classmethod
    def triggering_case(cls) -> Case:
        """One class."""
        return Case(pa.table({"a": [1.0, 2.5, 3.0], "y": ["no", "no", "no"]}), "y")

    @classmethod
    def clean_case(cls) -> Case:
        """Two classes."""
        return Case(pa.table({"a": [1.0, 2.5, 3.0], "y": ["no", "yes", "no"]}), "y")
