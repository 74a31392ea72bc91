"""Models side by side: their scores, how sure these are, and which cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefit.core.errors import DataError
from surefit.evaluate.compare.leaderboard import Comparison
from surefit.plots.base import rows_of, score_range, styled
from surefit.plots.theme import BLUE, FADED, INK
from surefit.plots.words import labels, listed, metric_words

MOST_MODELS = 40
WIDTH = 480


def plot_comparison(comparison: Comparison) -> Any:
    """Draw the score of each model with its interval and the scores of its folds, the best on top.

    Letters are the groups: two models that share one cannot be told apart. Those as good as the best are
    blue.

    >>> import surefit
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = surefit.compare([surefit.Ridge(), surefit.MeanRegressor()], X, y, split=5, metrics="r2_score")
    >>> plot_comparison(found).to_dict()["title"]["text"]
    'Ridge is best by R²'
    """
    return plot_scores(
        comparison.names,
        [(entry.estimate, entry.low, entry.high) for entry in comparison.intervals],
        folds=[comparison.results[name].scores[comparison.metric] for name in comparison.names],
        groups=comparison.letters(),
        best=comparison.as_good_as_best,
        take=comparison.simplest,
        metric=comparison.metric,
        better=comparison.better,
        level=comparison.level,
    )


def plot_scores(
    names: Sequence[str],
    scores: Sequence[tuple[float, float, float]],
    *,
    folds: Sequence[Any] = (),
    groups: Sequence[str] = (),
    best: Sequence[str] = (),
    take: str = "",
    metric: str = "score",
    better: str = "higher",
    level: float = 0.95,
    width: int = WIDTH,
) -> Any:
    """Draw scores with their intervals from plain values, in the order given.

    scores: estimate, low and high of each. folds: scores of folds, of each. groups: letters. best: the names
    as good as the best. take: the one to take of these.

    >>> plot_scores(["a", "b"], [(0.9, 0.8, 1.0), (0.5, 0.4, 0.6)], best=["a"]).to_dict()["title"]["text"]
    'a is best by score'
    """
    import altair as alt

    if len(names) > MOST_MODELS:
        raise DataError(f"{len(names)} models are too many for one chart; take at most {MOST_MODELS}.")
    good, shown = [name in best for name in names], labels(names)
    middle, low, high = zip(*scores, strict=True)
    data = rows_of(
        {
            "model": shown,
            "score": np.asarray(middle, dtype=float),
            "low": np.asarray(low, dtype=float),
            "high": np.asarray(high, dtype=float),
            "good": good,
            "group": list(groups) or [""] * len(names),
        }
    )
    y = alt.Y(
        "model:N", title=None, sort=shown, axis=alt.Axis(labelColor=INK, labelFontSize=12, labelLimit=220)
    )
    colour = alt.condition("datum.good", alt.value(BLUE), alt.value(FADED))
    every = [*middle, *low, *high, *(score for values in folds for score in values)]
    scale = alt.Scale(domain=score_range(every), nice=False, zero=False)
    x = alt.X("low:Q", title=f"{metric_words(metric)} ({better} is better)", scale=scale)
    base = alt.Chart(data).encode(y=y)
    layers = [
        base.mark_rule(strokeWidth=3).encode(x=x, x2="high:Q", color=colour),
        base.mark_point(size=90).encode(
            x=alt.X("score:Q", scale=scale),
            color=colour,
            tooltip=["model:N", "score:Q", "low:Q", "high:Q", "group:N"],
        ),
        base.mark_text(align="left", dx=6, fontSize=13, fontWeight="bold").encode(
            x=alt.value(width), text="group:N", color=colour
        ),
    ]
    if len(folds) and any(len(values) for values in folds):
        layers.insert(0, _folds(shown, folds, good))
    title = _title(names, [name for name in names if name in best], take, metric, level)
    return styled(alt.layer(*layers).properties(title=title, width=width, height=max(70, 42 * len(names))))


def _title(names: Sequence[str], best: list[str], take: str, metric: str, level: float) -> Any:
    import altair as alt

    told = listed(labels(best), 3)
    several = len(best) > 1
    said = f"{100 * level:g} % intervals and folds; models that share a letter cannot be told apart"
    if several and take:
        said += f"; take {labels([take])[0]}"
    if not best:
        return alt.TitleParams(f"{len(names)} models by {metric_words(metric)}", subtitle=said)
    verdict = "cannot be told apart by" if several else "is best by"
    return alt.TitleParams(f"{told} {verdict} {metric_words(metric)}", subtitle=said)


def _folds(names: list[str], scores: Sequence[Any], good: list[bool]) -> Any:
    """The scores of the folds as small ticks; of very many, some."""
    import altair as alt

    most = max(2, 4000 // len(scores))
    kept = [
        np.sort(values)[np.unique(np.linspace(0, len(values) - 1, most).astype(int))] if len(values) else []
        for values in map(np.asarray, scores)
    ]
    counts = [len(values) for values in kept]
    data = rows_of(
        {
            "model": np.repeat(names, counts),
            "fold": np.concatenate(kept),
            "good": np.repeat(good, counts),
        }
    )
    colour = alt.condition("datum.good", alt.value(BLUE), alt.value(FADED))
    return (
        alt.Chart(data)
        .mark_tick(thickness=1.2, size=14, opacity=0.45)
        .encode(x=alt.X("fold:Q"), y=alt.Y("model:N", sort=names), color=colour)
    )
