"""Where a regression errs: residuals over predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit import metrics
from surefit.core.errors import DataError
from surefit.metrics import door
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import BLUE, FADED, HEAT, VERMILION, WIDTH
from surefit.plots.words import number

MOST_POINTS = 1500  # beyond it points cover each other, and cells that count them say more
CELLS = (56, 36)
STRETCHES = 12


def plot_residuals(y: Any, prediction: Any, *, width: int = WIDTH) -> Any:
    """Draw residuals against predictions, with their running median and interquartile range.

    A line away from zero shows bias; a widening band shows heteroscedasticity.

    >>> plot_residuals([1.0, 2.0, 3.0], [1.5, 2.0, 2.5]).to_dict()["title"]["text"]
    'Residuals against predictions'
    """
    import altair as alt

    truth, guess, _ = door.numbers(y, prediction)
    if truth.ndim == 2 and truth.shape[1] > 1:
        raise DataError(f"y has {truth.shape[1]} outputs; draw the residuals of one at a time.")
    truth, guess = truth.reshape(-1), guess.reshape(-1)
    residual = truth - guess
    zero = alt.Chart(rows_of({"zero": [0.0]})).mark_rule(color=FADED, strokeDash=[5, 4]).encode(y="zero:Q")
    layers = [_points(guess, residual) if len(truth) <= MOST_POINTS else _cells(guess, residual), zero]
    if len(truth) >= 4 * STRETCHES:
        layers += _middle(guess, residual)
    root = metrics.root_mean_squared_error(truth, guess)
    mean = number(float(residual.mean()), 3)
    said = f"{len(truth):,} rows; root mean squared error {number(root, 4)}, mean {mean}"
    if len(truth) >= 4 * STRETCHES:
        said += "; line and band: median and middle half"
    if len(truth) > MOST_POINTS:
        said += "; the darker, the more rows"
    title = alt.TitleParams("Residuals against predictions", subtitle=said)
    return styled(alt.layer(*layers).properties(title=title, width=width, height=300))


def _axes() -> dict[str, Any]:
    import altair as alt

    free = alt.Scale(zero=False, nice=False, padding=8)
    return {
        "x": alt.X("prediction:Q", title="Prediction", scale=free),
        "y": alt.Y("residual:Q", title="Observed minus predicted", scale=alt.Scale(padding=8)),
    }


def _points(guess: NDArray[np.float64], residual: NDArray[np.float64]) -> Any:
    import altair as alt

    data = rows_of({"prediction": guess, "residual": residual})
    return alt.Chart(data).mark_point(color=BLUE, opacity=0.45, size=22).encode(**_axes())


def _cells(guess: NDArray[np.float64], residual: NDArray[np.float64]) -> Any:
    import altair as alt

    counts, xs, ys = np.histogram2d(guess, residual, bins=CELLS)
    i, j = np.nonzero(counts)
    data = rows_of(
        {"prediction": xs[i], "right": xs[i + 1], "residual": ys[j], "top": ys[j + 1], "rows": counts[i, j]}
    )
    scale = alt.Scale(type="log", domain=[1, max(2, counts.max())], range=[0.12, 1], nice=False)
    depth = alt.FillOpacity("rows:Q", scale=scale, legend=None)
    return (
        alt.Chart(data).mark_rect(color=HEAT).encode(**_axes(), x2="right:Q", y2="top:Q", fillOpacity=depth)
    )


def _middle(guess: NDArray[np.float64], residual: NDArray[np.float64]) -> list[Any]:
    """The quartiles of the residuals of stretches with as many rows each."""
    import altair as alt

    parts = np.array_split(np.argsort(guess, kind="stable"), STRETCHES)
    quartiles = np.array([np.quantile(residual[part], [0.25, 0.5, 0.75]) for part in parts])
    at = [float(guess[part].mean()) for part in parts]
    data = rows_of(
        {"prediction": at, "low": quartiles[:, 0], "residual": quartiles[:, 1], "high": quartiles[:, 2]}
    )
    base, x = alt.Chart(data), alt.X("prediction:Q")
    return [
        base.mark_area(color=VERMILION, opacity=0.18).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(color=VERMILION, strokeWidth=2).encode(x=x, y=alt.Y("residual:Q")),
    ]
