"""The dependence of answers on the values of one column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefit.core.printable_text import visible
from surefit.plots.base import rows_of, styled, thinned
from surefit.plots.theme import BLUE, FADED, WIDTH
from surefit.plots.words import labels, tick_format

LINES = 30  # rows drawn one by one


def plot_dependence(dependence: Any) -> Any:
    """Draw the mean prediction over the values of a column, its interval, and some rows one by one.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = surefit.LinearRegression().fit(X, X[:, 0])
    >>> plot_dependence(surefit.partial_dependence(model, X, 0)).to_dict()["title"]["text"]
    'Prediction by x0'
    """
    return plot_answers(
        dependence.column,
        dependence.values,
        dependence.mean,
        dependence.low,
        dependence.high,
        answer=dependence.answer,
        level=dependence.level,
        individual=dependence.individual,
    )


def plot_answers(
    column: str,
    values: ArrayLike,
    mean: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    answer: str = "prediction",
    level: float = 0.95,
    individual: NDArray[np.float64] | None = None,
    width: int = WIDTH,
    height: int = 300,
) -> Any:
    """Draw the mean prediction over a column's values from plain values; individual: (values, rows).

    >>> plot_answers("size", [1.0, 2.0], [5.0, 6.0], [4.0, 5.0], [6.0, 7.0]).to_dict()["title"]["text"]
    'Prediction by size'
    """
    import altair as alt

    grid = np.asarray(values)
    numbers = grid.dtype.kind in "biuf"
    middle = np.asarray(mean, dtype=float)
    kept = thinned(middle, 100)
    at: Any = grid[kept].astype(float) if numbers else labels(grid[kept].tolist(), 20)
    name = visible(column, 40)
    x = alt.X(f"at:{'Q' if numbers else 'O'}", title=name)
    if numbers:
        x = x.scale(alt.Scale(zero=False, nice=False)).axis(alt.Axis(tickCount=6, format=tick_format(at)))
    else:
        crowded = sum(map(len, at)) * 8 > width  # more letters than fit beside each other
        x = x.sort(None).axis(alt.Axis(labelAngle=-40 if crowded else 0))
    word = visible(answer[:1].upper() + answer[1:], 60)
    y = {"title": word, "scale": alt.Scale(zero=False, nice=False, padding=6)}
    data = rows_of(
        {
            "at": at,
            "answer": middle[kept],
            "low": np.asarray(low, dtype=float)[kept],
            "high": np.asarray(high, dtype=float)[kept],
        }
    )
    base = alt.Chart(data).encode(x=x)
    whole = alt.Y("low:Q", **y)
    if numbers:
        layers = [
            base.mark_area(color=BLUE, opacity=0.25).encode(y=whole, y2="high:Q"),
            base.mark_line(color=BLUE, strokeWidth=3).encode(y=alt.Y("answer:Q", **y)),
        ]
    else:  # levels have no order, so no line joins them
        layers = [
            base.mark_rule(color=BLUE, strokeWidth=2).encode(y=whole, y2="high:Q"),
            base.mark_point(color=BLUE, size=60).encode(y=alt.Y("answer:Q", **y)),
        ]
    said = f"Mean over the rows and its {100 * level:g} % interval"
    if individual is not None:
        shown = np.unique(np.linspace(0, individual.shape[1] - 1, LINES).astype(int))
        single = rows_of(
            {
                "at": np.tile(at, len(shown)),
                "answer": individual[np.ix_(kept, shown)].T.ravel(),
                "row": np.repeat(shown, len(kept)),
            }
        )
        faint = alt.Chart(single).mark_line(color=FADED, opacity=0.18, strokeWidth=1)
        layers.insert(0, faint.encode(x=x, y=alt.Y("answer:Q", **y), detail="row:N"))
        said = (
            f"Mean over {individual.shape[1]:,} rows, its {100 * level:g} % interval, and {len(shown)} rows "
            "one by one"
        )
    title = alt.TitleParams(f"{word} by {name}", subtitle=said)
    return styled(alt.layer(*layers).properties(title=title, width=width, height=height))
