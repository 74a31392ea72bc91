"""Rows of two columns, with an ellipse for each component of a mixture of normal distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import DataError
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import COLOURS, FADED, WIDTH

POINTS = 2000  # rows that are drawn
DEVIATIONS = (1.0, 2.0)


def plot_mixture(model: Any, X: Any, *, columns: tuple[int, int] = (0, 1)) -> Any:
    """Draw rows in the colour of their likeliest component, and each component's ellipses.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> chart = plot_mixture(surefit.GaussianMixture(2, random_state=0).fit(X), X)
    >>> chart.to_dict()["title"]["text"]
    '2 components'
    """
    import altair as alt

    rows = np.asarray(X, dtype=np.float64)
    a, b = columns
    if rows.ndim != 2 or not -rows.shape[1] <= min(columns) <= max(columns) < rows.shape[1]:
        raise DataError(f"plot_mixture draws columns {columns}, which a table of {rows.shape} does not have.")
    label = model.predict(rows)
    step = max(1, len(rows) // POINTS)
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(rows.shape[1])])
    table = {"x": rows[::step, a], "y": rows[::step, b], "component": label[::step].astype(str)}
    x, y = alt.X("x:Q", title=str(names[a]), scale=alt.Scale(zero=False)), alt.Y("y:Q", title=str(names[b]))
    y = y.scale(alt.Scale(zero=False))
    colour = alt.Color(
        "component:N", title="component", scale=alt.Scale(range=COLOURS), legend=alt.Legend(symbolOpacity=1)
    )
    points = alt.Chart(rows_of(table)).mark_circle(size=18, opacity=0.45).encode(x=x, y=y, color=colour)
    lines: dict[str, list[Any]] = {"x": [], "y": [], "which": [], "order": []}
    turn = np.linspace(0, 2 * np.pi, 61)
    for k in range(len(model.weights_)):
        root = _root(covariance_of(model, k)[np.ix_(columns, columns)])
        for size in DEVIATIONS:
            circle = size * np.column_stack([np.cos(turn), np.sin(turn)])
            outline = model.means_[k, list(columns)] + circle @ root.T
            lines["x"] += outline[:, 0].tolist()
            lines["y"] += outline[:, 1].tolist()
            lines["which"] += [f"{k} at {size:g}"] * len(turn)
            lines["order"] += range(len(turn))
    ellipses = (
        alt.Chart(rows_of({name: np.array(values) for name, values in lines.items()}))
        .mark_line(strokeWidth=1.5, color=FADED)
        .encode(x=x, y=y, detail="which:N", order="order:Q")
    )
    count = len(model.weights_)
    title = f"{count} component{'s' if count > 1 else ''}"
    heading = alt.TitleParams(title, subtitle="ellipses: one and two standard deviations")
    return styled(alt.layer(points, ellipses).properties(title=heading, width=WIDTH, height=0.75 * WIDTH))


def covariance_of(model: Any, k: int) -> Any:
    """The covariance of a component, as a matrix."""
    width, form = model.means_.shape[1], model.covariance_type
    if form == "tied":
        return model.covariances_
    found = model.covariances_[k]
    return found if form == "full" else np.diag(np.broadcast_to(found, width))


def _root(covariance: Any) -> Any:
    values, axes = np.linalg.eigh(covariance)
    return axes * np.sqrt(np.maximum(values, 0.0))
