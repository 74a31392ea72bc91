"""Models side by side: their scores, how sure these are, and which cannot be told apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import DataError
from surefit.evaluate.compare_result import Comparison
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import BLUE, FADED, INK

MOST_MODELS = 40


def plot_comparison(comparison: Comparison) -> Any:
    """Draw the score of each model with its interval and the scores of its folds, the best on top.

    Letters are the groups: two models that share one cannot be told apart. Those as good as the best are
    blue.

    >>> import surefit
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = surefit.compare([surefit.Ridge(), surefit.MeanRegressor()], X, y, split=5, metrics="r2_score")
    >>> plot_comparison(found).to_dict()["title"]["text"]
    'Ridge is best by r2_score'
    """
    import altair as alt

    if len(comparison.names) > MOST_MODELS:
        raise DataError(
            f"a chart of {len(comparison.names)} models cannot be read; take {MOST_MODELS} at most."
        )
    intervals, names = comparison.intervals, list(comparison.names)
    good = [name in comparison.as_good_as_best for name in names]
    data = rows_of(
        {
            "model": names,
            "score": [interval.estimate for interval in intervals],
            "low": [interval.low for interval in intervals],
            "high": [interval.high for interval in intervals],
            "good": good,
            "group": comparison.letters(),
        }
    )
    y = alt.Y(
        "model:N", title=None, sort=names, axis=alt.Axis(labelColor=INK, labelFontSize=12, labelLimit=220)
    )
    colour = alt.condition("datum.good", alt.value(BLUE), alt.value(FADED))
    scale, title_x = alt.Scale(zero=False, padding=12), f"{comparison.metric} ({comparison.better} is better)"
    base = alt.Chart(data).encode(y=y)
    layers = [
        _folds(comparison, good),
        base.mark_rule(strokeWidth=3).encode(
            x=alt.X("low:Q", title=title_x, scale=scale), x2="high:Q", color=colour
        ),
        base.mark_point(size=90).encode(
            x=alt.X("score:Q", scale=scale),
            color=colour,
            tooltip=["model:N", "score:Q", "low:Q", "high:Q", "group:N"],
        ),
        base.mark_text(align="left", dx=6, fontSize=13, fontWeight="bold").encode(
            x=alt.value(WIDTH), text="group:N", color=colour
        ),
    ]
    told = " and ".join(comparison.as_good_as_best[:3])
    more = len(comparison.as_good_as_best) - 3
    if more > 0:
        told += f" and {more} more"
    several = len(comparison.as_good_as_best) > 1
    head = (
        f"{told} cannot be told apart by {comparison.metric}"
        if several
        else f"{told} is best by {comparison.metric}"
    )
    said = (
        f"{100 * comparison.level:g} % intervals and folds; models that share a letter cannot be told apart"
    )
    if several:
        said += f"; take {comparison.simplest}"
    title = alt.TitleParams(head, subtitle=said)
    return styled(alt.layer(*layers).properties(title=title, width=WIDTH, height=max(70, 42 * len(names))))


WIDTH = 480


def _folds(comparison: Comparison, good: list[bool]) -> Any:
    """The scores of the folds as small ticks; of very many, some."""
    import altair as alt

    scores = [comparison.results[name].scores[comparison.metric] for name in comparison.names]
    most = max(2, 4000 // len(scores))
    kept = [
        np.sort(values)[np.unique(np.linspace(0, len(values) - 1, most).astype(int))] for values in scores
    ]
    counts = [len(values) for values in kept]
    data = rows_of(
        {
            "model": np.repeat(list(comparison.names), counts),
            "fold": np.concatenate(kept),
            "good": np.repeat(good, counts),
        }
    )
    colour = alt.condition("datum.good", alt.value(BLUE), alt.value(FADED))
    return (
        alt.Chart(data)
        .mark_tick(thickness=1.2, size=14, opacity=0.45)
        .encode(x=alt.X("fold:Q"), y=alt.Y("model:N", sort=list(comparison.names)), color=colour)
    )
