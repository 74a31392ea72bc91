"""What it takes to do it again: command, script, versions, seed and the digest of the table."""

from __future__ import annotations

from typing import Any

from surefit.core.printable_text import visible
from surefit.plots.words import duration
from surefit.report.parts import table
from surefit.study.predictions import Predictions
from surefit.study.record import Record

TITLE = "How to do it again"
MOST_CHARACTERS = 60_000


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """Everything about where and how the study was made."""
    made = record.environment
    lines = made.script[:MOST_CHARACTERS].splitlines()
    return {
        "command": visible(made.command, 2000),
        "script": "\n".join(visible(line, 2000) for line in lines),
        "cut": len(made.script) > MOST_CHARACTERS,
        "took": f"{duration(made.seconds)} of a budget of {duration(made.budget)}",
        "versions": table("Versions", ["Package", "Version"], made.versions.items()),
        "files": table("Files", ["What", "File"], record.files.items()) if record.files else None,
    }
