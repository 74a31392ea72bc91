"""Coefficients along the strengths of a penalty, and the errors by which one strength is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefit.core.errors import DataError
from surefit.plots.base import rows_of, styled, thinned
from surefit.plots.theme import BLUE, COLOURS, FADED, VERMILION, WIDTH
from surefit.plots.words import number

MOST_NAMED = 6  # lines with a colour and a name of their own; the others are faint
MOST_LINES = 60


def plot_path(
    alphas: ArrayLike,
    coefs: ArrayLike,
    names: Sequence[str] | None = None,
    chosen: float | None = None,
) -> Any:
    """Draw coefficients, (columns, strengths), over the strength of the penalty, from strong to weak.

    The largest at the weakest strength have names and colours; of many others the largest are drawn faint.
    ``chosen`` marks a strength.

    >>> from surefit import lasso_path
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> alphas, coefs, _ = lasso_path(X, X @ [3.0, -2.0, 0.0], alphas=20)
    >>> plot_path(alphas, coefs, ["a", "b", "c"]).to_dict()["title"]["text"]
    'Coefficients along 20 strengths'
    """
    import altair as alt

    strengths, lines = _checked(alphas, coefs)
    order = np.argsort(-np.abs(lines[:, -1]), kind="stable")[:MOST_LINES]
    order = order[np.any(lines[order] != 0, axis=1)]
    words = [f"column {j}" for j in range(len(lines))] if names is None else [str(name) for name in names]
    if len(words) != len(lines):
        raise DataError(f"there are {len(words)} names for {len(lines)} columns; give one a column.")
    kept = (
        thinned(lines[order[0]], most=5000 // max(1, len(order))) if len(order) else np.arange(len(strengths))
    )
    named, others = order[:MOST_NAMED], order[MOST_NAMED:]
    layers = [_lines(strengths, lines, others, kept).mark_line(color=FADED, opacity=0.35, strokeWidth=1)]
    if len(named):
        data = _long(strengths, lines, named, kept, words)
        colour = alt.Color(
            "column:N",
            title=None,
            sort=[words[j] for j in named],
            scale=alt.Scale(domain=[words[j] for j in named], range=COLOURS[: len(named)]),
        )
        layers.append(_over_strength(data).mark_line(strokeWidth=2).encode(color=colour))
    if chosen is not None:
        layers.append(_marker(chosen, f"chosen: {number(chosen, 3)}", FADED))
    used = int(np.count_nonzero(lines[:, -1]))
    more = "" if len(order) <= MOST_NAMED else f", the {len(named)} largest named"
    subtitle = f"{used} of {len(lines)} columns nonzero at the weakest{more}"
    title = alt.TitleParams(f"Coefficients along {len(strengths)} strengths", subtitle=subtitle)
    return styled(alt.layer(*layers).properties(title=title, width=WIDTH, height=300))


def plot_choice(model: Any) -> Any:
    """Draw the cross-validation error of a fitted ...CV over the strength, with one standard error.

    A line marks the strength with the least error, another the strongest within one standard error of it.

    >>> from surefit import LassoCV
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = LassoCV(cv=4, alphas=20).fit(X, X @ [3.0, -2.0, 0.0] + 0.1)
    >>> plot_choice(model).to_dict()["title"]["text"]
    'Cross-validation error by penalty strength'
    """
    import altair as alt

    if not hasattr(model, "mse_path_"):
        raise DataError(
            f"a {type(model).__name__} has no errors along a path: fit a LassoCV or ElasticNetCV."
        )
    errors, spread, strengths = model.mse_path_, model.mse_error_, np.asarray(model.alphas_)
    if errors.ndim == 3:
        ratio = int(np.argmin(errors.mean(axis=2).min(axis=1)))
        errors, spread = errors[ratio], spread[ratio]
        strengths = strengths if strengths.ndim == 1 else strengths[ratio]
    mean = np.nanmean(errors, axis=1)
    best = int(np.argmin(mean))
    careful = int(np.flatnonzero(mean <= mean[best] + spread[best])[0])
    data = rows_of({"strength": strengths, "error": mean, "low": mean - spread, "high": mean + spread})
    base = _over_strength(data, "error", "Mean squared error")
    band = base.mark_area(color=BLUE, opacity=0.18).encode(y=alt.Y("low:Q", scale=_free()), y2="high:Q")
    layers = [
        band,
        base.mark_line(color=BLUE, strokeWidth=2),
        _marker(strengths[best], f"least error: {number(strengths[best], 3)}", VERMILION),
    ]
    if careful != best:
        words = f"one standard error: {number(strengths[careful], 3)}"
        layers.append(_marker(strengths[careful], words, FADED, row=1))
    subtitle = f"Mean over {errors.shape[1]} folds and its standard error; least {number(mean[best], 4)}"
    title = alt.TitleParams("Cross-validation error by penalty strength", subtitle=subtitle)
    return styled(alt.layer(*layers).properties(title=title, width=WIDTH, height=300))


def _checked(alphas: ArrayLike, coefs: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    strengths, lines = np.asarray(alphas, dtype=np.float64), np.asarray(coefs, dtype=np.float64)
    if lines.ndim != 2 or lines.shape[1] != len(strengths) or len(strengths) < 2:
        raise DataError(
            f"coefs has shape {lines.shape} for {len(strengths)} strengths: give (columns, strengths), "
            "of two strengths or more."
        )
    order = np.argsort(-strengths)
    return strengths[order], lines[:, order]


def _free() -> Any:
    import altair as alt

    return alt.Scale(zero=False, padding=6)


def _over_strength(data: Any, value: str = "coefficient", title: str = "Coefficient") -> Any:
    import altair as alt

    x = alt.X(
        "strength:Q",
        title="Strength of the penalty, from strong to weak",
        scale=alt.Scale(type="log", reverse=True, nice=False),
        axis=alt.Axis(format="~g", tickCount=6),
    )
    return alt.Chart(data).encode(x=x, y=alt.Y(f"{value}:Q", title=title, scale=_free()))


def _long(strengths: Any, lines: Any, which: Any, kept: Any, words: Sequence[str]) -> Any:
    return rows_of(
        {
            "strength": np.tile(strengths[kept], len(which)),
            "coefficient": lines[np.ix_(which, kept)].ravel(),
            "column": np.repeat([words[j] for j in which], len(kept)),
        }
    )


def _lines(strengths: Any, lines: Any, which: Any, kept: Any) -> Any:
    import altair as alt

    words = [str(j) for j in range(len(lines))]
    return _over_strength(_long(strengths, lines, which, kept, words)).encode(detail=alt.Detail("column:N"))


def _marker(at: float, words: str, colour: str, row: int = 0) -> Any:
    import altair as alt

    line = alt.Chart(rows_of({"strength": [float(at)], "words": [words]})).encode(x="strength:Q")
    rule = line.mark_rule(color=colour, strokeDash=[5, 4])
    text = line.mark_text(color=colour, align="left", dx=5, baseline="top")
    return rule + text.encode(y=alt.value(4 + 16 * row), text="words:N")
