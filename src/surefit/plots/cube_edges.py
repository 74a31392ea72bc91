"""How wide a neighbourhood must be to hold some of the rows, by the number of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefit.core.errors import ParameterError
from surefit.evaluate.theory.curse_of_dimensionality import cube_edge
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import WIDTH

POINTS = 101  # of each line


def plot_cube_edges(dimensions: Sequence[int] = (1, 3, 5, 7, 10), *, width: int = WIDTH) -> Any:
    """Draw the edge of the cube that holds a share of rows spread evenly over a unit cube, by the share.

    >>> plot_cube_edges().to_dict()["title"]["text"]
    'Edge of the cube that holds a share of the rows'
    """
    import altair as alt

    if not 1 <= len(dimensions) <= 20:
        raise ParameterError(f"dimensions lists {len(dimensions)} lines: give 1 to 20 numbers of columns.")
    share = np.linspace(0, 1, POINTS)
    lines = {
        "share": np.tile(share, len(dimensions)),
        "edge": np.array([cube_edge(float(f), d) for d in dimensions for f in share]),
        "columns": np.repeat([str(d) for d in dimensions], POINTS),
    }
    few = alt.Axis(tickCount=5)
    chart = (
        alt.Chart(rows_of(lines))
        .mark_line()
        .encode(
            x=alt.X("share:Q", title="Share of the rows", axis=few),
            y=alt.Y("edge:Q", title="Edge of the cube", axis=few),
            color=alt.Color("columns:N", title="Columns", sort=[str(d) for d in dimensions]),
        )
    )
    title = alt.TitleParams(
        "Edge of the cube that holds a share of the rows", subtitle="Rows spread evenly over a unit cube"
    )
    return styled(chart.properties(title=title, width=width, height=260))
