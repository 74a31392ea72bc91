"""The certificate: what the final fit proves, and the command by which anyone can check it."""

from __future__ import annotations

from typing import Any

from surefit.report.parts import shell_word
from surefit.study.predictions import Predictions
from surefit.study.record import Record

TITLE = "The certificate"


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """The statement, its number, and how to compute it again."""
    file = record.files.get("model", "model.safetensors")
    command = f"surefit verify {shell_word(file)} {shell_word(record.table.name)}"
    return {
        "proof": record.chosen.certificate,
        "command": f"{command} --target {shell_word(record.target)}",
        "python": f"surefit.verify({file!r}, {record.table.name!r}, {record.target!r}).holds",
    }
