"""Learning, validation and complexity curves: scores for training rows and validation rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.plots.base import rows_of, score_range, styled
from surefit.plots.theme import BLUE, FADED, PAPER, VERMILION, WIDTH
from surefit.plots.words import metric_words, number

KINDS = ("training rows", "validation rows")


def plot_curve(curve: Any) -> Any:
    """Draw a curve of scores with its intervals; of a complexity curve also the two choices.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> curve = surefit.learning_curve(surefit.Ridge(), X, X[:, 0], sizes=[0.5, 1.0])
    >>> plot_curve(curve).to_dict()["title"]["text"]
    'R² by training rows'
    """
    import altair as alt

    values, logarithmic, kind = _axis(curve.values)
    found = {KINDS[0]: curve.train_intervals, KINDS[1]: curve.test_intervals}
    data = rows_of(
        {
            "at": np.tile(values, 2),
            "score": [entry.estimate for entries in found.values() for entry in entries],
            "low": [entry.low for entries in found.values() for entry in entries],
            "high": [entry.high for entries in found.values() for entry in entries],
            "rows": np.repeat(list(found), len(values)),
        }
    )
    title = metric_words(curve.metric)
    title = title[:1].upper() + title[1:]
    scale = alt.Scale(zero=False, nice=False, padding=12)
    if logarithmic:
        scale = alt.Scale(type="log", nice=False)
    x = alt.X(f"at:{kind}", title=curve.axis.replace("__", " ").replace("_", " "), sort=None)
    if kind == "Q":
        x = x.scale(scale).axis(
            alt.Axis(
                format="~g" if logarithmic or (values.dtype.kind == "f" and (values % 1).any()) else ",d",
                tickCount=7,
            )
        )
    colour = alt.Color(
        "rows:N",
        title=None,
        scale=alt.Scale(domain=list(KINDS), range=[VERMILION, BLUE]),
        legend=alt.Legend(symbolOpacity=1),
    )
    ends = [
        end
        for entries in found.values()
        for entry in entries
        for end in (entry.estimate, entry.low, entry.high)
    ]
    y = {"scale": alt.Scale(domain=score_range(ends), nice=False, zero=False), "title": title}
    base = alt.Chart(data).encode(x=x, color=colour)
    layers = [
        base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_line().encode(y=alt.Y("score:Q", **y)),
        base.mark_point().encode(y=alt.Y("score:Q", **y)),
    ]
    layers += _choices(curve, values, kind)
    level = curve.test_intervals[0].level
    better = "higher" if curve.better == "higher" else "lower"
    subtitle = f"{better} is better; {100 * level:g} % intervals over {curve.test.shape[1]} folds"
    heading = alt.TitleParams(
        f"{title} by {curve.axis.replace('__', ' ').replace('_', ' ')}", subtitle=subtitle
    )
    return styled(alt.layer(*layers).properties(title=heading, width=WIDTH, height=300))


def _axis(values: Any) -> tuple[Any, bool, str]:
    numbers = all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values)
    if not numbers or not np.isfinite(np.asarray(values, dtype=float)).all():
        return np.array([str(value) for value in values]), False, "O"
    found = np.asarray(values, dtype=float)
    return found, bool(found.min() > 0 and found.max() / found.min() > 50), "Q"


def _choices(curve: Any, values: Any, kind: str) -> list[Any]:
    if curve.careful is None:
        return []
    import altair as alt

    marks = [(curve.best, "best", VERMILION)]
    if curve.careful != curve.best:
        marks.append((curve.careful, "simplest within one standard error", FADED))
    rules, texts = [], []
    for row, (step, word, colour) in enumerate(marks):
        value = values[step]
        shown = value if isinstance(value, str) else number(float(value), 3)
        mark = alt.Chart(rows_of({"at": [value], "words": [f"{word}: {shown}"]})).encode(x=f"at:{kind}")
        rules.append(mark.mark_rule(color=colour, strokeDash=[5, 4]))
        right = kind == "Q" and _place(values, step) > 0.55
        side = {"align": "right" if right else "left", "dx": -5 if right else 5}
        for drawn in ({"stroke": PAPER, "strokeWidth": 5}, {}):  # a line behind ends before the letters
            text = mark.mark_text(color=colour, baseline="top", **side, **drawn)
            texts.append(text.encode(y=alt.value(4 + 16 * row), text="words:N"))
    return rules + texts


def _place(values: Any, step: int) -> float:
    """How far to the right a value is drawn, from 0 to 1."""
    logarithmic = values.min() > 0 and values.max() / values.min() > 50
    found = np.log(values) if logarithmic else values
    return float((found[step] - found.min()) / (np.ptp(found) or 1.0))
