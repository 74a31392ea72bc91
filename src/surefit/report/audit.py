"""The data audit: what is wrong with the table, worst first, and what to do about it."""

from __future__ import annotations

from typing import Any

from surefit.study.predictions import Predictions
from surefit.study.record import FindingRecord, Record

TITLE = "The data"
MOST_FINDINGS = 60
MOST_COLUMNS = 20
ORDER = {"problem": 0, "warning": 1}
MARKS = {"problem": "Problem", "warning": "Warning"}


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """The findings of the audit."""
    return {"findings": findings(record.audit), "more": max(0, len(record.audit) - MOST_FINDINGS)}


def findings(found: tuple[FindingRecord, ...]) -> list[dict[str, Any]]:
    """Findings as the page lists them, worst first."""
    ordered = sorted(found, key=lambda finding: ORDER.get(finding.severity, 2))
    return [
        {
            "mood": {"problem": "bad", "warning": "warn"}.get(finding.severity, "note"),
            "mark": MARKS.get(finding.severity, "Note"),
            "message": finding.message,
            "remedy": finding.remedy,
            "code": finding.code,
            "columns": finding.columns[:MOST_COLUMNS],
            "more": max(0, len(finding.columns) - MOST_COLUMNS),
            "evidence": list(finding.evidence.items())[:MOST_COLUMNS],
        }
        for finding in ordered[:MOST_FINDINGS]
    ]
