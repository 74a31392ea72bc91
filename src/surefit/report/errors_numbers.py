"""Errors of a regression: residuals, and their quantiles along the predictions."""

from __future__ import annotations

import numpy as np

from surefit.plots import plot_residuals
from surefit.report.parts import WIDTH, Figure, figure, table
from surefit.study.predictions import Predictions

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
