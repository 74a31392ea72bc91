"""The chosen model explained: its weights or tree, what columns are worth, how answers follow them."""

from __future__ import annotations

import math
from typing import Any

from surefit.core.errors import FormatError
from surefit.plots import plot_answers, plot_worths
from surefit.plots.words import metric_words
from surefit.report.parts import (
    MOST_FINDINGS,
    WIDTH,
    Figure,
    Table,
    beside,
    cell,
    entry_of,
    figure,
    findings,
    interval,
    settings_words,
    table,
)
from surefit.report.svg import picture
from surefit.study.predictions import Predictions
from surefit.study.record import CoefficientRecord, DependenceRecord, Record

TITLE = "The model explained"
MOST_DRAWN = 20  # weights or columns
MOST_LABELS = 3  # classes whose weights are drawn; the tables have all
MOST_DEPENDENCES = 8


def content(record: Record, predictions: Predictions | None) -> dict[str, Any]:
    """All that the record says of the chosen model."""
    chosen, entry = record.chosen, entry_of(record, record.chosen.name)
    figures, tree = [*_weights(record), *_worths(record)], _tree(record)
    return {
        "title": entry.title if entry else chosen.name,
        "settings": settings_words(chosen.settings),
        "intercept": ", ".join(cell(value) for value in chosen.intercept[:MOST_DRAWN]),
        "tree": tree,
        "rules": _rules(record) if tree is None and chosen.rules else None,
        "figures": figures,
        "dependence": _dependences(record),
        "findings": findings(chosen.diagnosis),
        "more": max(0, len(chosen.diagnosis) - MOST_FINDINGS),
    }


def _weights(record: Record) -> list[Figure]:
    """A chart of weights for each class that has its own, and one table."""
    known = [weight for weight in record.chosen.coefficients if math.isfinite(weight.value)]
    labels = list(dict.fromkeys(weight.label for weight in known))
    found = []
    for k, label in enumerate(labels[:MOST_LABELS]):
        own = sorted(
            (weight for weight in known if weight.label == label), key=lambda weight: -abs(weight.value)
        )
        about = f" of {cell(label)}" if label else ""
        chart = plot_worths(
            [weight.column for weight in own],
            [weight.value for weight in own],
            [_bound(weight.low, weight) for weight in own],
            [_bound(weight.high, weight) for weight in own],
            title=f"Coefficients{about}",
            axis="Coefficient",
            said=_coefficient_words(record, own),
            most=MOST_DRAWN,
            width=beside(weight.column for weight in own[:MOST_DRAWN]),
        )
        lines = [(weight.column, weight.value, interval(weight.low, weight.high)) for weight in own]
        behind = table(f"Coefficients{about}", ["Column", "Coefficient", f"{100 * record.level:g} %"], lines)
        found.append(figure(f"model-weights-{k}", chart, behind))
    return found


def _bound(value: float | None, weight: CoefficientRecord) -> float:
    return weight.value if value is None else value


def _coefficient_words(record: Record, weights: list[CoefficientRecord]) -> str:
    bounded = any(weight.low is not None for weight in weights)
    return f"With {100 * record.level:g} % intervals" if bounded else "This fit has no intervals for them"


def _worths(record: Record) -> list[Figure]:
    known = [worth for worth in record.importance if math.isfinite(worth.mean)]
    if not known:
        return []
    known.sort(key=lambda worth: -worth.mean)
    metric = f"{'Loss' if record.better == 'higher' else 'Rise'} of {metric_words(record.metric)}"
    chart = plot_worths(
        [worth.column for worth in known],
        [worth.mean for worth in known],
        [worth.low for worth in known],
        [worth.high for worth in known],
        axis=f"{metric} when shuffled",
        said=f"On rows that the fit had not seen, with {100 * record.level:g} % intervals",
        most=MOST_DRAWN,
        width=beside(worth.column for worth in known[:MOST_DRAWN]),
    )
    lines = [(worth.column, worth.mean, interval(worth.low, worth.high)) for worth in known]
    head = ["Column", metric, f"{100 * record.level:g} %"]
    return [figure("model-importance", chart, table("What each column is worth", head, lines))]


def _dependences(record: Record) -> list[Figure]:
    return [_dependence(record, k, found) for k, found in enumerate(record.dependence[:MOST_DEPENDENCES])]


def _dependence(record: Record, k: int, found: DependenceRecord) -> Figure:
    answer = f"probability of {found.label}" if found.label else f"predicted {record.target}"
    chart = plot_answers(
        found.column,
        _grid(found),
        found.mean,
        found.low,
        found.high,
        answer=cell(answer),
        level=record.level,
        width=WIDTH - 60,
        height=220,
    )
    lines = [
        (value, mean, interval(low, high))
        for value, mean, low, high in zip(found.grid, found.mean, found.low, found.high, strict=True)
    ]
    head = [found.column, answer[:1].upper() + answer[1:], f"{100 * record.level:g} %"]
    return figure(f"model-dependence-{k}", chart, table(f"Answers by {cell(found.column)}", head, lines))


def _grid(found: DependenceRecord) -> list[Any]:
    """Numbers where all are; else words, for numpy would turn a mixture into words of its own."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in found.grid)
    return list(found.grid) if numbers else [cell(value) for value in found.grid]


def _tree(record: Record) -> Figure | None:
    chosen = record.chosen
    if chosen.tree is None:
        return None
    try:
        drawing = picture(chosen.tree, "model-tree", "The tree as a drawing", "Its rules follow as a table.")
    except FormatError:
        return None
    return Figure("model-tree", "The tree", "", drawing, _rules(record), "wide natural")


def _rules(record: Record) -> Table:
    lines = (record.chosen.rules or "").splitlines()
    return table("Rules", ["Rules"], [(line,) for line in lines], code=True)
