"""Variances along principal axes beside what chance would give, and where each rule stops."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.plots.base import rows_of, styled
from surefit.plots.theme import BLUE, GREEN, VERMILION, WIDTH

MOST = 40  # components that are drawn


def plot_component_count(count: Any) -> Any:
    """Draw a :func:`surefit.component_count`.

    >>> import surefit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2)) @ rng.normal(size=(2, 6)) * 3 + rng.normal(size=(90, 6))
    >>> plot_component_count(surefit.component_count(X)).to_dict()["title"]["text"]
    '2 components'
    """
    import altair as alt

    shown = min(MOST, len(count.variances))
    names = ["variance", "broken stick", "95 % of noise"]
    table = {
        "component": np.tile(np.arange(1, shown + 1), 3),
        "variance": np.concatenate([count.variances[:shown], count.stick[:shown], count.noise[:shown]]),
        "of": np.repeat(names, shown),
    }
    colour = alt.Color(
        "of:N", title=None, scale=alt.Scale(domain=names, range=[BLUE, VERMILION, GREEN]), sort=names
    )
    base = alt.Chart(rows_of(table)).encode(
        x=alt.X(
            "component:Q", axis=alt.Axis(tickMinStep=1, format="d"), scale=alt.Scale(nice=False, padding=8)
        ),
        y=alt.Y("variance:Q", title="variance along the axis"),
        color=colour,
    )
    rules = (
        f"scree {count.scree}, broken stick {count.broken_stick}, parallel analysis {count.parallel}, "
        f"cross-validation {count.held_out}"
    )
    title = f"{count.agreed} component{'s' if count.agreed != 1 else ''}"
    heading = alt.TitleParams(title, subtitle=rules)
    chart = alt.layer(base.mark_line(), base.mark_point(filled=True, size=40))
    return styled(chart.properties(title=heading, width=WIDTH, height=300))
