"""Where the model errs: on rows that it had not seen, by answers that were kept fold by fold."""

from __future__ import annotations

from typing import Any

from surefit.plots.words import number
from surefit.report.errors_classes import class_figures, class_table
from surefit.report.errors_numbers import number_figures
from surefit.report.parts import Table, table
from surefit.study.predictions import Predictions
from surefit.study.record import Record

TITLE = "Where it errs"
MOST_CELLS = 6  # columns shown of a row
MOST_WORST = 15


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """Charts of the errors, the threshold for the costs, and the rows that went worst."""
    found: dict[str, Any] = {"figures": [], "classes": None, "rows": 0}
    if predictions is not None and len(predictions):
        found["rows"] = len(predictions)
        if record.task == "regression":
            found["figures"] = number_figures(predictions)
        else:
            found["figures"] = class_figures(record, predictions)
            found["classes"] = class_table(predictions)
    return {**found, "worst": _worst(record), "threshold": _threshold(record)}


def _threshold(record: Record) -> str:
    """One sentence on where to cut, or nothing."""
    cut = record.threshold
    if cut is None:
        return ""
    return (
        f"With a false alarm at {number(cut.cost_false_positive, 3)} and a missed one at "
        f"{number(cut.cost_false_negative, 3)}, answer {cut.positive!r} from a probability of "
        f"{number(cut.value, 3)} on: a row then costs {number(cut.cost, 3)} on average, against "
        f"{number(cut.cost_at_half, 3)} at one half."
    )


def _worst(record: Record) -> Table | None:
    """The rows that went worst, with the columns that matter most."""
    worst = record.worst[:MOST_WORST]
    if not worst:
        return None
    held = list(dict.fromkeys(name for line in worst for name in line.cells))
    weight = {worth.column: worth.mean for worth in record.importance}
    shown = sorted(held, key=lambda name: -weight.get(name, float("-inf")))[:MOST_CELLS]
    lines = [
        (line.row, line.truth, line.prediction, line.loss, *(line.cells.get(name) for name in shown))
        for line in worst
    ]
    return table("Worst rows", ["Row", "Truth", "Answer", "Loss", *shown], lines)
