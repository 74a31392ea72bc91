"""The answer: which model, how good, what to worry about, and the figures that back it."""

from __future__ import annotations

import math
from typing import Any

from surefit.plots.words import metric_words
from surefit.report.parts import cell, entry_of, interval, rough
from surefit.study.predictions import Predictions
from surefit.study.record import Record

TITLE = "The answer"
QUESTIONS = ("Which model", "How good", "What to worry about")


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """The three sentences, and a few numbers to remember."""
    tiles = [*_score(record), *_baseline(record)]
    proof = record.chosen.certificate
    if proof is not None:
        verdict = ("holds", "good") if proof.holds else ("does not hold", "bad")
        tiles.append(
            (
                "Certificate",
                verdict[0],
                f"{cell(rough(proof.value))}, at most {cell(proof.tolerance)}",
                verdict[1],
            )
        )
    found = [finding.severity for finding in (*record.audit, *record.chosen.diagnosis)]
    grave = sum(severity != "note" for severity in found)
    notes = f"and {len(found) - grave} notes" if len(found) - grave != 1 else "and 1 note"
    tiles.append(
        (
            "Problems and warnings",
            cell(grave),
            notes,
            "bad" if "problem" in found else "warn" if grave else "good",
        )
    )
    return {"sentences": list(zip(QUESTIONS, record.answer, strict=True)), "tiles": tiles}


def _score(record: Record) -> list[tuple[str, str, str, str]]:
    """The score of the chosen model, lowered by what choosing it was worth where the study measured that."""
    entry, honest = entry_of(record, record.chosen.name), record.score
    if honest is not None and math.isfinite(honest.value):
        said = (
            f"{_said(record, honest.low, honest.high)}, allowing for the choice among {honest.models} models"
        )
        return [("Score", cell(honest.value), said, "")]
    if entry is None or entry.score is None:
        return []
    return [("Score", cell(entry.score), _said(record, entry.low, entry.high), "")]


def _baseline(record: Record) -> list[tuple[str, str, str, str]]:
    entry = entry_of(record, record.baseline)
    if entry is None or entry.score is None:
        return []
    return [("Baseline", cell(entry.score), f"{cell(entry.title)}, {interval(entry.low, entry.high)}", "")]


def _said(record: Record, low: float | None, high: float | None) -> str:
    return f"{metric_words(record.metric)}, {100 * record.level:g} %: {interval(low, high)}"
