"""Bias, variance and noise by complexity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefit.plots.base import rows_of, styled
from surefit.plots.theme import BLUE, FADED, INK, VERMILION, WIDTH

PARTS = {"total": INK, "bias": VERMILION, "variance": BLUE, "noise": FADED}


def plot_bias_variance(found: Mapping[Any, Any], axis: str = "complexity") -> Any:
    """Draw noise, bias and variance over the complexity, with two standard errors of the simulation.

    >>> import surefit
    >>> def sample(rng):
    ...     return np.zeros((5, 1)), rng.normal(size=5)
    >>> models = {k: surefit.MeanRegressor() for k in (1, 2)}
    >>> found = surefit.bias_variance_curve(models, sample, [[0.0]], [0.0], noise=1.0, draws=10)
    >>> plot_bias_variance(found).to_dict()["title"]["text"]
    'Noise, bias and variance by complexity'
    """
    import altair as alt

    keys = list(found)
    numbers = all(isinstance(key, int | float | np.number) for key in keys)
    first = next(iter(found.values()))
    names = {"bias": "bias²" if first.loss != "domingos" else "bias"}
    rows = [
        (
            key if numbers else str(key),
            names.get(part, part),
            getattr(entry, part),
            entry.errors.get(part, 0.0),
        )
        for key, entry in found.items()
        for part in PARTS
    ]
    at, part, value, error = zip(*rows, strict=True)
    values, errors = np.array(value), np.array(error)
    low = np.maximum(values - 2 * errors, np.minimum(values, 0.0))  # a part that cannot be below zero
    data = rows_of(
        {
            "at": list(at),
            "part": list(part),
            "value": values,
            "low": low,
            "high": values + 2 * errors,
        }
    )
    domain = [names.get(part, part) for part in PARTS]
    kind = "Q" if numbers else "O"
    x = alt.X(f"at:{kind}", title=axis)
    if numbers:
        x = x.scale(alt.Scale(zero=False, padding=12))
        if all(isinstance(key, int | np.integer) for key in keys):
            x = x.axis(alt.Axis(values=keys, format="d"))
    else:
        x = x.sort(None)
    colour = alt.Color(
        "part:N",
        title=None,
        sort=domain,
        scale=alt.Scale(domain=domain, range=[*PARTS.values()]),
        legend=alt.Legend(symbolOpacity=1),
    )
    base = alt.Chart(data).encode(x=x, color=colour)
    word = "Expected squared error" if first.loss == "squared" else "Expected 0-1 loss"
    layers = [
        base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=word), y2="high:Q"),
        base.mark_line().encode(y="value:Q"),
        base.mark_point().encode(y="value:Q"),
    ]
    best = min(found, key=lambda key: found[key].total)
    subtitle = f"Least total at {axis} {best}; bands are two standard errors of {first.draws} training sets"
    title = alt.TitleParams(f"Noise, bias and variance by {axis}", subtitle=subtitle)
    return styled(alt.layer(*layers).properties(title=title, width=WIDTH, height=300))
