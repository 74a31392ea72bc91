"""The certificate: what the final fit proves, and the command by which anyone can check it."""

from __future__ import annotations

from typing import Any

from surefit.report.parts import shell_word
from surefit.study.predictions import Predictions
from surefit.study.record import Record

TITLE = "The certificate"


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """The statement, its number, and how to compute it again."""
    model = record.files.get("model", "model.safetensors")
    rows = record.files.get("sample", record.table.name)  # what the model was fitted to
    words = ["surefit", "verify", model, rows, "--target", record.target]
    words += ["--weight", record.weight] if record.weight else []
    return {"proof": record.chosen.certificate, "command": " ".join(map(shell_word, words))}
