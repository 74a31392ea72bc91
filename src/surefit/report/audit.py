"""The data audit: what is wrong with the table, worst first, and what to do about it."""

from __future__ import annotations

from typing import Any

from surefit.report.parts import MOST_FINDINGS, findings
from surefit.study.predictions import Predictions
from surefit.study.record import Record

TITLE = "The data"


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """The findings of the audit."""
    return {"findings": findings(record.audit), "more": max(0, len(record.audit) - MOST_FINDINGS)}
