"""Diagnosis: what is wrong with this data or this fit, the evidence measured, and what to do about it.

A fit hands its *evidence* (column moments, class counts, the trace, the certificate, ...) to every rule
that can use it. A rule is one file in ``rules/``: it names the evidence it needs, and gives one case that
triggers it and one that does not, which its law runs. An empty diagnosis means that the rules listed in
``ran`` looked and found nothing.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from surefit.core.public import public
from surefit.core.registry import Registered, members

Severity = Literal["note", "warning", "problem"]
SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note")  # worst first

Evidence = Mapping[str, Any]


@public
@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: a stable code, how bad it is, where, the numbers measured and the remedy."""

    code: str
    severity: Severity
    message: str
    remedy: str
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    evidence: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.severity}: {self.message} {self.remedy}"


class Rule(Registered, kind="rule", folder="surefit.core.rules"):
    """A rule looks at evidence and yields findings."""

    needs: ClassVar[tuple[str, ...]]

    @abstractmethod
    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Yield what is wrong, if anything."""

    @classmethod
    @abstractmethod
    def triggering_case(cls) -> Evidence:
        """Return the smallest evidence that triggers the rule."""

    @classmethod
    @abstractmethod
    def clean_case(cls) -> Evidence:
        """Return evidence close to it that does not."""


@public
@dataclass(frozen=True, slots=True)
class Diagnosis(Sequence[Finding]):
    """The findings of a fit, worst first, and the rules that ran."""

    findings: tuple[Finding, ...] = ()
    ran: tuple[str, ...] = ()

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __str__(self) -> str:
        if not self.findings:
            return f"Nothing found by {len(self.ran)} rule{'s' if len(self.ran) != 1 else ''}."
        return "\n".join(str(finding) for finding in self.findings)

    def codes(self) -> tuple[str, ...]:
        """The codes found, worst first."""
        return tuple(finding.code for finding in self.findings)


def diagnose(evidence: Evidence) -> Diagnosis:
    """Run every rule whose needs the evidence meets."""
    findings: list[Finding] = []
    ran = []
    given = {name for name, value in evidence.items() if value is not None}
    for name, rule in members("rule").items():
        assert issubclass(rule, Rule)
        if given.issuperset(rule.needs):
            ran.append(name)
            findings.extend(rule().findings(evidence))
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Diagnosis(tuple(findings), tuple(ran))


def named(names: Sequence[str] | None, indices: Iterable[int]) -> tuple[str, ...]:
    """Turn column numbers into names; a table without names calls them x0, x1, ... as scikit-learn does."""
    return tuple(str(names[i]) if names is not None else f"x{i}" for i in indices)


def listed(items: Sequence[Any], most: int = 5) -> str:
    """Write a list for a sentence, cut after a few."""
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def ratio(top: float, bottom: float) -> float:
    """A quotient that is infinite, not an error, over zero."""
    return top / bottom if bottom else math.inf
