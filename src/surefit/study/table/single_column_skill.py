"""How well one column alone tells the target, on rows that were not learnt from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.evaluate.scoring.intervals import score_interval

FOLDS = 5
BINS = 256
IN_A_BIN = 20  # rows, at least, so that a mean of them means something


@dataclass(frozen=True, slots=True)
class ColumnSkill:
    """A score of held-out rows with its interval (95 %): R², the area under the curve, or accuracy."""

    metric: str
    score: float
    low: float
    high: float


def binned(values: Vector) -> NDArray[np.int64]:
    """Cut numbers into bins of equally many rows; equal numbers share one, and so do gaps."""
    gone = np.isnan(values)
    there = values[~gone]
    bins = int(np.clip(len(values) // IN_A_BIN, 2, BINS))
    found, places = np.unique(there, return_inverse=True)
    if len(found) > bins:
        edges = np.unique(np.quantile(there, np.linspace(0, 1, bins + 1)[1:-1]))
        places = np.searchsorted(edges, there, side="right")
    codes = np.zeros(len(values), dtype=np.int64)
    codes[~gone] = places + 1
    return codes


def held_out(codes: NDArray[Any], targets: Vector, folds: NDArray[np.int64]) -> Vector:
    """Answer each row by the mean target of the rows with its code in the other folds.

    targets: (n, k). The mean of all other rows counts as one row more, for codes that hardly occur.
    """
    width = int(codes.max(initial=0)) + 1
    place = codes * FOLDS + folds
    rows = np.bincount(place, minlength=width * FOLDS).reshape(width, FOLDS)
    answers = np.empty_like(targets)
    for k in range(targets.shape[1]):
        sums = np.bincount(place, targets[:, k], minlength=width * FOLDS).reshape(width, FOLDS)
        others, count = sums.sum(axis=1, keepdims=True) - sums, rows.sum(axis=1, keepdims=True) - rows
        whole = (sums.sum() - sums.sum(axis=0)) / np.maximum(1, rows.sum() - rows.sum(axis=0))
        answers[:, k] = ((others + whole) / (count + 1.0)).ravel()[place]
    return answers


def straight(values: Vector, target: Vector, folds: NDArray[np.int64]) -> Vector:
    """Answer each row by the line through the rows of the other folds; gaps count as the mean."""
    filled = np.where(np.isnan(values), np.nanmean(values), values)
    answers = np.empty_like(target)
    for fold in range(FOLDS):
        test = folds == fold
        x, y = filled[~test], target[~test]
        centre = x.mean()
        scatter = float(((x - centre) ** 2).sum())
        slope = float((x - centre) @ (y - y.mean())) / scatter if scatter > 0 else 0.0
        answers[test] = y.mean() + slope * (filled[test] - centre)
    return answers


def skill(targets: Vector, answers: Vector) -> float:
    """The share of the target's variance that the answers tell."""
    spread = float(((targets - targets.mean(axis=0)) ** 2).sum())
    return 1.0 - float(((targets - answers) ** 2).sum()) / spread if spread > 0 else 0.0


def told_numbers(target: Vector, answers: Vector) -> ColumnSkill:
    """R² with its interval, from that of the mean square."""
    spread = float(np.var(target))
    error = score_interval("mean_squared_error", target, answers, method="t")
    return ColumnSkill("R²", 1 - error.estimate / spread, 1 - error.high / spread, 1 - error.low / spread)


def told_classes(target: NDArray[np.int64], answers: Vector) -> ColumnSkill:
    """The area under the curve of two classes, else accuracy, with its interval."""
    if answers.shape[1] == 2:
        area = score_interval("roc_auc_score", target, answers[:, 1])
        return ColumnSkill("area under the ROC curve", area.estimate, area.low, area.high)
    hits = score_interval("accuracy_score", target, answers.argmax(axis=1))
    return ColumnSkill("accuracy", hits.estimate, hits.low, hits.high)
