"""Importances of columns with their intervals, and the dependence of answers on a column."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.plots.base import rows_of, styled, thinned
from surefit.plots.theme import BLUE, FADED, WIDTH
from surefit.plots.words import number

MOST = 30  # columns drawn
LINES = 30  # rows drawn one by one


def plot_importance(importance: Any, most: int = MOST) -> Any:
    """Draw what each column is worth, the most important at the top, with its interval.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = surefit.LinearRegression().fit(X, X[:, 0])
    >>> plot_importance(surefit.permutation_importance(model, X, X[:, 0])).to_dict()["title"]["text"]
    'What each column is worth'
    """
    import altair as alt

    order = importance.order()[:most]
    names = [importance.names[j] for j in order]
    data = rows_of(
        {"column": names, **{name: getattr(importance, name)[order] for name in ("mean", "low", "high")}}
    )
    metric = importance.metric.replace("_", " ").replace("r2 ", "R² ")
    base = alt.Chart(data).encode(y=alt.Y("column:N", sort=names, title=None, axis=alt.Axis(labelLimit=200)))
    bounds = base.mark_rule(color=BLUE, strokeWidth=2).encode(
        x=alt.X("low:Q", title=f"Loss of {metric} when the column is shuffled", axis=alt.Axis(format="~g")),
        x2="high:Q",
    )
    points = base.mark_point(color=BLUE, size=50).encode(x="mean:Q")
    zero = alt.Chart(rows_of({"at": [0.0]})).mark_rule(color=FADED, strokeDash=[4, 3]).encode(x="at:Q")
    left = (
        ""
        if len(order) == len(importance.names)
        else f"; the {len(order)} largest of {len(importance.names)}"
    )
    what = "rows and shufflings" if importance.method == "rows" else "shufflings alone"
    level = f"{100 * importance.level:g} % intervals over {what}"
    subtitle = f"{metric} of {number(importance.baseline, 3)} with all columns; {level}{left}"
    title = alt.TitleParams("What each column is worth", subtitle=subtitle)
    return styled(
        alt.layer(zero, bounds, points).properties(title=title, width=WIDTH, height=22 * len(order) + 10)
    )


def plot_dependence(dependence: Any) -> Any:
    """Draw the mean answer over the values of a column, its interval, and some rows one by one.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = surefit.LinearRegression().fit(X, X[:, 0])
    >>> plot_dependence(surefit.partial_dependence(model, X, 0)).to_dict()["title"]["text"]
    'Prediction by x0'
    """
    import altair as alt

    values = dependence.values
    numbers = values.dtype.kind in "biuf"
    kept = thinned(dependence.mean, 100)
    shown = np.unique(np.linspace(0, dependence.individual.shape[1] - 1, LINES).astype(int))
    at = values[kept].astype(float) if numbers else values[kept].astype(str)
    kind = "Q" if numbers else "O"
    x = alt.X(f"at:{kind}", title=dependence.column)
    if numbers:
        x = x.scale(alt.Scale(zero=False, nice=False))
    word = dependence.answer[:1].upper() + dependence.answer[1:]
    single = rows_of(
        {
            "at": np.tile(at, len(shown)),
            "answer": dependence.individual[np.ix_(kept, shown)].T.ravel(),
            "row": np.repeat(shown, len(kept)),
        }
    )
    y = {"title": word, "scale": alt.Scale(zero=False, padding=6)}
    faint = alt.Chart(single).mark_line(color=FADED, opacity=0.18, strokeWidth=1)
    faint = faint.encode(x=x, y=alt.Y("answer:Q", **y), detail="row:N")
    data = rows_of(
        {
            "at": at,
            "answer": dependence.mean[kept],
            "low": dependence.low[kept],
            "high": dependence.high[kept],
        }
    )
    base = alt.Chart(data).encode(x=x)
    band = base.mark_area(color=BLUE, opacity=0.25).encode(y=alt.Y("low:Q", **y), y2="high:Q")
    line = base.mark_line(color=BLUE, strokeWidth=3).encode(y=alt.Y("answer:Q", **y))
    rows = dependence.individual.shape[1]
    interval = f"{100 * dependence.level:g} % interval"
    subtitle = f"Mean over {rows:,} rows, its {interval}, and {len(shown)} rows one by one"
    title = alt.TitleParams(f"{word} by {dependence.column}", subtitle=subtitle)
    return styled(alt.layer(faint, band, line).properties(title=title, width=WIDTH, height=300))
