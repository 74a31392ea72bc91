"""Importances of columns with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefit.plots.base import rows_of, styled
from surefit.plots.theme import BLUE, FADED, WIDTH
from surefit.plots.words import labels, metric_words, number

MOST = 30  # columns drawn


def plot_importance(importance: Any, most: int = MOST) -> Any:
    """Draw what each column is worth, the most important at the top, with its interval.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = surefit.LinearRegression().fit(X, X[:, 0])
    >>> plot_importance(surefit.permutation_importance(model, X, X[:, 0])).to_dict()["title"]["text"]
    'What each column is worth'
    """
    metric = metric_words(importance.metric)
    what = "rows and shufflings" if importance.method == "rows" else "shufflings alone"
    return plot_worths(
        importance.names,
        importance.mean,
        importance.low,
        importance.high,
        axis=f"Loss of {metric} when the column is shuffled",
        said=f"{metric} of {number(importance.baseline, 3)} with all columns; "
        f"{100 * importance.level:g} % intervals over {what}",
        most=most,
    )


def plot_worths(
    names: Sequence[str],
    mean: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    title: str = "What each column is worth",
    axis: str = "Loss of score when the column is shuffled",
    said: str = "",
    most: int = MOST,
    width: int = WIDTH,
) -> Any:
    """Draw numbers with their intervals from plain values, a line each, the largest at the top.

    >>> chart = plot_worths(["a", "b"], [0.1, 0.3], [0.0, 0.2], [0.2, 0.4])
    >>> next(rows for rows in chart.to_dict()["datasets"].values() if "mean" in rows[0])[0]
    {'name': 'b', 'mean': 0.3, 'low': 0.2, 'high': 0.4}
    """
    import altair as alt

    bounds = {
        key: np.asarray(given, dtype=float) for key, given in (("mean", mean), ("low", low), ("high", high))
    }
    order = np.argsort(-bounds["mean"], kind="stable")
    if len(order) > most:  # the largest either way, still in their order
        strongest = np.argsort(-np.abs(bounds["mean"]), kind="stable")[:most]
        order = order[np.isin(order, strongest)]
        said += f"{'; ' if said else ''}the {most} largest of {len(names)}"
    shown = labels([names[j] for j in order])
    data = rows_of({"name": shown, **{key: values[order] for key, values in bounds.items()}})
    y = alt.Y("name:N", sort=shown, title=None, axis=alt.Axis(labelLimit=200))
    base = alt.Chart(data).encode(y=y)
    largest = max(float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) for values in bounds.values())
    plain = largest == 0 or 1e-3 <= largest < 1e6
    ticks = alt.Axis(tickCount=6, format=",~r") if plain else alt.Axis(tickCount=4, format="~e")
    whole = alt.X("low:Q", title=axis, axis=ticks)
    layers = [
        alt.Chart(rows_of({"at": [0.0]})).mark_rule(color=FADED, strokeDash=[4, 3]).encode(x="at:Q"),
        base.mark_rule(color=BLUE, strokeWidth=2).encode(x=whole, x2="high:Q"),
        base.mark_point(color=BLUE, size=50).encode(x="mean:Q"),
    ]
    words = alt.TitleParams(title, subtitle=said)
    return styled(
        alt.layer(*layers).properties(title=words, width=width, height=22 * max(len(order), 1) + 10)
    )
