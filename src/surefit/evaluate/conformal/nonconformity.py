"""What conformal prediction is made of: ranks of how strange a row looks among rows set aside."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.evaluate.cross_validation.leaks import steps_fitted_outside
from surefit.evaluate.persistence import Verify
from surefit.resample.hold_out import HoldOut


def conformal_quantile(scores: Any, level: float, weight: Any = None) -> float:
    """The least score below which a new row of the same kind falls with probability ``level``.

    That is the score with rank level (n + 1) among n; infinite where that is more than n. Weights count rows.

    >>> conformal_quantile([3.0, 1.0, 2.0, 4.0], 0.6), conformal_quantile([1.0, 2.0], 0.9)
    (3.0, inf)
    """
    values = np.asarray(scores, dtype=np.float64)
    counts = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])
    rank = level * (reached[-1] + 1)
    # Products such as 0.9 * 10 are off by their rounding, which must not cost a whole rank.
    place = int(np.searchsorted(reached, rank * (1 - 1e-12), side="left"))
    return float(values[order[place]]) if place < len(values) else math.inf


def set_aside(model: Any, y: Any, share: Any, state: Any, stratify: bool) -> tuple[Any, Any]:
    """Rows to fit on and rows to calibrate with; a model that comes fitted is calibrated with all of them."""
    rows = len(y)
    if steps_fitted_outside(model):
        return np.arange(rows), np.arange(rows)
    [(train, calibration)] = HoldOut(share, stratify=stratify, random_state=state).split(np.arange(rows), y)
    return np.sort(train), np.sort(calibration)


def proved(
    verify: Verify,
    table: Any,
    models: Sequence[tuple[Any, Any]],
    kept: Vector,
    again: Callable[[], Vector],
    apart: Callable[[Any], float],
) -> Certificate:
    """The certificate of calibrated models: those of the models on their rows, and what was measured since.

    models: each with the rows that it has learnt from. kept: what was measured on other rows; again: the same
    from the data. apart: how far the width kept is from that of ``kept``.
    """
    for model, rows in models:
        found = verify(model, *table.given(rows))
        if not found.holds:
            return found
    measured = again()
    if measured.shape == kept.shape:
        scale = float(np.abs(kept).max(initial=0.0)) or 1.0
        value = max(float(np.abs(measured - kept).max(initial=0.0)), apart(table)) / scale
    else:
        value = math.inf
    measure = "difference of the errors of rows set aside, over the largest of them"
    # Answers are sums over columns, which other orders of adding round otherwise.
    return Certificate("exact", measure, value, 1e-9, {"models": float(len(models))})
