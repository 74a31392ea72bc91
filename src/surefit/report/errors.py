"""Where the model errs: on rows that it had not seen, by answers that were kept fold by fold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit import metrics
from surefit.evaluate.scoring.row_means import wilson_interval
from surefit.plots import (
    plot_calibration,
    plot_confusion,
    plot_precision_recall,
    plot_residuals,
    plot_roc,
    plot_threshold,
)
from surefit.plots.scores.confusion import MOST_CLASSES
from surefit.plots.scores.threshold import cost_by_threshold
from surefit.plots.theme import COLOURS
from surefit.plots.words import number
from surefit.report.parts import WIDTH, Figure, Table, figure, interval, table
from surefit.study.predictions import Predictions
from surefit.study.record import Record

SIZE = WIDTH - 70
BINS = 10
POINTS = 21  # of a curve, in its table
Flags = NDArray[np.bool_]


def class_figures(record: Record, predictions: Predictions) -> list[Figure]:
    """The charts that suit the number of classes and what the model answers with."""
    truth, guess = _words(predictions.truth), _words(predictions.prediction)
    weight = predictions.weight
    found = []
    if len(np.union1d(truth, guess)) <= MOST_CLASSES:
        found.append(_confusion(truth, guess, weight))
    chances = predictions.probabilities
    known = None if chances is None else np.isfinite(chances).all(axis=1)
    if chances is None or known is None or len(np.unique(truth[known])) < 2:
        return found
    truth, chances = truth[known], np.clip(chances[known], 0.0, 1.0)
    weight = None if weight is None else weight[known]
    names = list(predictions.classes)
    if len(names) == 2:
        positive = names.index(str(record.positive)) if str(record.positive) in names else 1
        return [*found, *_two(record, truth == names[positive], chances[:, positive], weight)]
    return [*found, *_many(names, truth, chances, weight)]


def class_table(predictions: Predictions) -> Table:
    """How each class fares."""
    truth, guess = _words(predictions.truth), _words(predictions.prediction)
    weight = np.ones(len(truth)) if predictions.weight is None else predictions.weight
    lines = []
    for name in np.union1d(truth, guess):
        rows, answered = truth == name, guess == name
        right = float(weight[rows & answered].sum())
        of_class, of_answer = float(weight[rows].sum()), float(weight[answered].sum())
        recall = wilson_interval(right, of_class) if of_class else (float("nan"),) * 2
        precision = wilson_interval(right, of_answer) if of_answer else (float("nan"),) * 2
        lines.append(
            (
                str(name),
                int(rows.sum()),
                right / of_class if of_class else None,
                interval(*recall),
                right / of_answer if of_answer else None,
                interval(*precision),
            )
        )
    lines.sort(key=lambda line: -line[1])
    head = ["Class", "Rows", "Found of these (recall)", "95 %", "Right when answered (precision)", "95 %"]
    return table("The classes one by one", head, lines)


def _words(values: NDArray[Any]) -> NDArray[Any]:
    return np.array([str(value) for value in values.tolist()])


def _confusion(truth: NDArray[Any], guess: NDArray[Any], weight: Any) -> Figure:
    chart = plot_confusion(truth, guess, sample_weight=weight, most=SIZE)
    names = np.union1d(truth, guess)
    counts = np.asarray(metrics.confusion_matrix(truth, guess, sample_weight=weight), dtype=float)
    whole = bool(np.all(counts == counts.round()))
    lines = [
        (str(name), *(int(count) if whole else float(count) for count in row))
        for name, row in zip(names, counts, strict=True)
    ]
    behind = table("Rows by true and predicted class", ["True class", *map(str, names)], lines)
    return figure("errors-confusion", chart, behind)


def _two(record: Record, happened: Flags, chance: NDArray[np.float64], weight: Any) -> list[Figure]:
    truth = happened.astype(int)
    fpr, tpr, cuts = metrics.roc_curve(truth, chance, weight)
    roc = [(fpr[k], tpr[k], min(float(cuts[k]), 1.0)) for k in _some(len(fpr))]
    precision, recall, at = metrics.precision_recall_curve(truth, chance, weight)
    both = [(recall[k], precision[k], at[k]) for k in _some(len(at))]
    found = [
        figure(
            "errors-roc",
            plot_roc(truth, chance, sample_weight=weight, size=SIZE),
            table("ROC curve", ["False positive rate", "True positive rate", "Threshold"], _floats(roc)),
        ),
        figure(
            "errors-precision-recall",
            plot_precision_recall(truth, chance, sample_weight=weight, size=SIZE),
            table("Precision against recall", ["Recall", "Precision", "Threshold"], _floats(both)),
        ),
        _calibration(truth, chance, weight),
    ]
    cut = record.threshold
    if cut is not None:
        costs = (cut.cost_false_positive, cut.cost_false_negative)
        chart = plot_threshold(
            truth, chance, costs=costs, threshold=cut.value, sample_weight=weight, width=SIZE
        )
        thresholds, cost = cost_by_threshold(truth, chance, costs, weight, steps=POINTS)
        lines = _floats(list(zip(thresholds, cost, strict=True)))
        found.append(
            figure("errors-threshold", chart, table("Cost", ["Threshold", "Mean cost of a row"], lines))
        )
    return found


def _many(names: list[str], truth: NDArray[Any], chances: NDArray[np.float64], weight: Any) -> list[Figure]:
    """Each of the commonest classes against the rest, and how sure the first choice may be."""
    counts = {name: int((truth == name).sum()) for name in names}
    common = [name for name in sorted(names, key=lambda name: -counts[name]) if 0 < counts[name] < len(truth)]
    held = {name: (truth == name).astype(int) for name in common[: len(COLOURS)]}
    scores = {name: chances[:, names.index(name)] for name in held}
    lines = [
        (name, counts[name], float(metrics.roc_auc_score(held[name], scores[name], weight))) for name in held
    ]
    first = np.array(names)[chances.argmax(axis=1)]
    behind = table("Area under the curve, each class against the rest", ["Class", "Rows", "Area"], lines)
    found = [figure("errors-roc", plot_roc(held, scores, sample_weight=weight, size=SIZE), behind)]
    right = (first == truth).astype(int)
    if len(np.unique(right)) == 2:
        sure = _calibration(right, chances.max(axis=1), weight)
        found.append(replace(sure, title="How often the first choice is right, by its probability"))
    return found


def _calibration(truth: NDArray[Any], chance: NDArray[np.float64], weight: Any) -> Figure:
    chart = plot_calibration(truth, chance, n_bins=BINS, sample_weight=weight, size=SIZE)
    place = np.minimum((chance * BINS).astype(int), BINS - 1)
    counts = np.ones(len(truth)) if weight is None else weight
    lines = []
    for k in np.unique(place[counts > 0]):
        rows = place == k
        total, hits = float(counts[rows].sum()), float(counts[rows] @ truth[rows])
        mean = float(np.average(chance[rows], weights=counts[rows]))
        bounds = interval(*wilson_interval(hits, total))
        lines.append((mean, hits / total, bounds, int(rows.sum())))
    head = ["Mean probability", "Share that happened", "95 %", "Rows"]
    return figure("errors-calibration", chart, table("Calibration", head, lines))


def _some(count: int) -> list[int]:
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).astype(int)).tolist()


def _floats(lines: list[tuple[Any, ...]]) -> list[tuple[float, ...]]:
    return [tuple(map(float, line)) for line in lines]


STRETCHES = 10
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def number_figures(predictions: Predictions) -> list[Figure]:
    """Residuals over predictions, and the table of their quantiles."""
    truth = np.asarray(predictions.truth, dtype=np.float64)
    guess = np.asarray(predictions.prediction, dtype=np.float64)
    known = np.isfinite(truth) & np.isfinite(guess)
    truth, guess = truth[known], guess[known]
    if not len(truth):
        return []
    chart = plot_residuals(truth, guess, width=WIDTH)
    order = np.argsort(guess, kind="stable")
    lines = []
    for part in np.array_split(order, min(STRETCHES, len(order))):
        residual = (truth - guess)[part]
        ends = (float(guess[part].min()), float(guess[part].max()))
        lines.append((*ends, len(part), *map(float, np.quantile(residual, SHARES))))
    head = ["Predictions from", "to", "Rows", *(f"{100 * share:g} % of residuals below" for share in SHARES)]
    behind = table("Residuals along the predictions", head, lines)
    return [figure("errors-residuals", chart, behind)]


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
