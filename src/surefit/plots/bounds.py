"""Where a function of two variables may not go: shaded areas, and lines for sets as thin as a line."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.trace import Landscape
from surefit.plots.base import rows_of
from surefit.plots.contours import contour_segments
from surefit.plots.theme import ORANGE

Array = NDArray[np.float64]

SHADE = "#F3ECE3"
ROWS = 160  # bands of shade from bottom to top
HALVINGS = 12  # of a step, to find where a band ends


def bound_layers(landscape: Landscape, x: Array, y: Array, axes: dict[str, Any]) -> list[Any]:
    """Return the layers below the contours: what is not allowed, and where equalities hold."""
    import altair as alt

    layers: list[Any] = []
    inside, nearest = landscape.inside, landscape.nearest
    if inside is not None:
        bands = outside_bands(inside, x, y)
        nothing_allowed = len(bands["x"]) == ROWS and np.all(bands["x2"] - bands["x"] == x[-1] - x[0])
        if nothing_allowed and nearest is not None:
            layers.append(_thin(nearest, x, y, axes))
        elif len(bands["x"]):
            shade = alt.Chart(rows_of(bands)).mark_rect(color=SHADE, stroke=SHADE, strokeWidth=1)
            layers.append(shade.encode(**axes, x2="x2:Q", y2="y2:Q"))
    for values in _line_values(landscape.lines, x, y):
        found = contour_segments(x, y, values, np.zeros(1))
        if len(found["x"]):
            line = alt.Chart(rows_of(found)).mark_rule(color=ORANGE, strokeWidth=2, strokeCap="round")
            layers.append(line.encode(**axes, x2="x2:Q", y2="y2:Q"))
    return layers


def _thin(nearest: Callable[[Any], Any], x: Array, y: Array, axes: dict[str, Any]) -> Any:
    """A set without an inside, by the points of it that are nearest to those of the picture."""
    import altair as alt

    places = np.array([nearest(np.array([a, b])) for a in x[::4] for b in y[::4]])
    places = np.unique(places.round(12), axis=0)
    line = alt.Chart(rows_of({"x": places[:, 0], "y": places[:, 1]})).mark_line(
        color=ORANGE, strokeWidth=2, clip=True
    )
    return line.encode(**axes, order="x:Q")


def outside_bands(inside: Callable[[Any], bool], x: Array, y: Array) -> dict[str, Array]:
    """Return rectangles over all that is not inside, a band for each run of a row.

    >>> left = outside_bands(lambda p: p[0] >= 0.5, np.linspace(0, 1, 5), np.linspace(0, 1, 2))
    >>> float(left["x"].max()), round(float(left["x2"].min()), 3), float(left["y2"].max())
    (0.0, 0.5, 1.0)
    """
    edges = np.linspace(y[0], y[-1], ROWS + 1)
    found: list[tuple[float, float, float, float]] = []
    for low, high in pairwise(edges):
        middle = 0.5 * (low + high)
        allowed = np.array([inside(np.array([a, middle])) for a in x])
        turns = np.flatnonzero(allowed[1:] != allowed[:-1])
        ends = [x[0], *(_crossing(inside, x[i], x[i + 1], middle, bool(allowed[i])) for i in turns), x[-1]]
        first = 1 if allowed[0] else 0
        found += [
            (float(ends[i]), float(low), float(ends[i + 1]), float(high))
            for i in range(first, len(ends) - 1, 2)
        ]
    return dict(zip(("x", "y", "x2", "y2"), np.array(found).reshape(-1, 4).T, strict=True))


def _crossing(
    inside: Callable[[Any], bool], left: float, right: float, y: float, starts_inside: bool
) -> float:
    for _ in range(HALVINGS):
        middle = 0.5 * (left + right)
        if inside(np.array([middle, y])) == starts_inside:
            left = middle
        else:
            right = middle
    return 0.5 * (left + right)


def _line_values(lines: Callable[[Any], Any] | None, x: Array, y: Array) -> list[Array]:
    if lines is None:
        return []
    table = np.array([[np.atleast_1d(lines(np.array([a, b]))) for a in x] for b in y], dtype=np.float64)
    return [table[:, :, k] for k in range(table.shape[2])]
