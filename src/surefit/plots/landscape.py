"""The way of a method over the contours of a function of two variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.trace import Landscape
from surefit.plots.base import rows_of, styled, thinned
from surefit.plots.bounds import bound_layers
from surefit.plots.contours import contour_segments
from surefit.plots.theme import BLUE, GREEN, VERMILION, WIDTH

Array = NDArray[np.float64]

GRID = 81  # points a side
LEVELS = 13
MARGIN = 0.25  # of the path's extent, on each side
FLATTEST = 0.4  # the shorter side over the longer one, at the least
MOST_POINTS, MOST_DOTS = 600, 80
PALE = ["#C9D3DC", "#8FA3B5"]  # of the lowest contours and of the highest


def plot_landscape(
    f: Callable[[Any], float],
    path: Any,
    title: str | None = None,
    *,
    inside: Callable[[Any], bool] | None = None,
) -> Any:
    """Draw the contours of f around a path, an array (points, 2), with its start and its end.

    inside: whether a point is allowed; the rest is shaded.

    >>> chart = plot_landscape(lambda x: x @ x, [[2.0, 1.0], [0.5, 0.5], [0.0, 0.0]])
    >>> chart.to_dict()["title"]["text"]
    'The way to the minimum, over contours'
    """
    import altair as alt

    panel = landscape_panel(Landscape(f, np.zeros(2), inside), path)
    words = title or "The way to the minimum, over contours"
    return styled(panel.properties(title=alt.TitleParams(words)))


def landscape_panel(landscape: Landscape, path: Any) -> Any:
    """Return the same without title and theme, to stand below other panels."""
    import altair as alt

    points = np.asarray(path, dtype=np.float64)
    points = points[np.isfinite(points).all(axis=1)] if points.ndim == 2 else points
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise DataError("a path over contours needs points of two variables: keep them in the trace.")
    low, high = _frame(points)
    x, y = (np.linspace(low[k], high[k], GRID) for k in (0, 1))
    with np.errstate(all="ignore"):
        values = np.array([[float(landscape.value(np.array([a, b]))) for a in x] for b in y])
    axes = {
        "x": alt.X("x:Q", title="x1", scale=_scale(low[0], high[0]), axis=alt.Axis(format="~g")),
        "y": alt.Y("y:Q", title="x2", scale=_scale(low[1], high[1]), axis=alt.Axis(format="~g", grid=False)),
    }
    segments = contour_segments(x, y, values, _levels(values))
    layers = bound_layers(landscape, x, y, axes)
    if len(segments["x"]):
        contours = alt.Chart(rows_of(segments)).mark_rule(strokeWidth=1, strokeCap="round")
        depth = alt.Color("rank:Q", scale=alt.Scale(range=PALE), legend=None)
        layers.append(contours.encode(**axes, x2="x2:Q", y2="y2:Q", color=depth))
    layers += _path_layers(points, axes)
    return alt.layer(*layers).properties(width=WIDTH, height=320)


def _path_layers(points: Array, axes: dict[str, Any]) -> list[Any]:
    import altair as alt

    kept = np.union1d(thinned(points[:, 0], MOST_POINTS // 2), thinned(points[:, 1], MOST_POINTS // 2))
    numbers = np.arange(len(points))[kept]
    way = alt.Chart(rows_of({"k": numbers, "x": points[kept, 0], "y": points[kept, 1]})).encode(
        **axes, order="k:Q"
    )
    layers = [way.mark_line(color=BLUE, strokeWidth=1.5, clip=True)]
    if len(points) <= MOST_DOTS:
        hint = [alt.Tooltip("k:Q", title="Iteration"), alt.Tooltip("x:Q"), alt.Tooltip("y:Q")]
        layers.append(way.mark_point(color=BLUE, size=18, clip=True).encode(tooltip=hint))
    for row, colour, words in ((0, GREEN, "start"), (-1, VERMILION, "end")):
        place: dict[str, Any] = {"x": points[[row], 0], "y": points[[row], 1], "words": [words]}
        spot = alt.Chart(rows_of(place)).encode(**axes)
        layers.append(spot.mark_point(color=colour, size=70, clip=True))
        for halo in ({"stroke": "white", "strokeWidth": 3}, {}):
            text = spot.mark_text(color=colour, dy=-12, fontWeight="bold", **halo)
            layers.append(text.encode(text="words:N"))
    return layers


def _frame(points: Array) -> tuple[Array, Array]:
    """Return the corners of the picture: the path with a margin, and not too flat."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = high - low
    size = float(extent.max()) or max(float(np.abs(points).max()), 1.0)
    extent = np.maximum(extent, FLATTEST * size)
    middle = 0.5 * (low + high)
    half = (0.5 + MARGIN) * extent
    return middle - half, middle + half


def _levels(values: Array) -> Array:
    """Return heights that cut the picture into areas of like size, finer near the bottom."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return np.zeros(0)
    shares = np.linspace(0, 1, LEVELS + 2)[1:-1] ** 1.5
    return np.unique(np.quantile(finite, shares))


def _scale(low: float, high: float) -> Any:
    import altair as alt

    return alt.Scale(domain=[float(low), float(high)], nice=False, zero=False)
