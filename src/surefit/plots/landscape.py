"""The way of a method over the contours of a function of two variables."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.trace import Landscape
from surefit.plots.base import rows_of, styled, thinned
from surefit.plots.theme import BLUE, GREEN, ORANGE, VERMILION, WIDTH

MOST = 4500  # segments, so that a chart can carry them


def contour_segments(x: Vector, y: Vector, values: Matrix, levels: Vector) -> dict[str, Vector]:
    """Return the segments of all contours: ends (x, y) and (x2, y2), and the rank of the level.

    ``values`` has a row for each y and a column for each x; cells with a value that is not finite have none.

    >>> grid = np.array([0.0, 1.0])
    >>> found = contour_segments(grid, grid, np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0.5]))
    >>> sorted(zip(found["y"].tolist() + found["y2"].tolist(), found["x"].tolist() + found["x2"].tolist()))
    [(0.0, 0.5), (1.0, 0.5)]
    """
    found = []
    for rank, level in enumerate(levels):
        found += [(*ends, float(rank)) for ends in _of_level(x, y, values, float(level))]
    step = -(-len(found) // MOST) or 1
    columns = np.array(found[::step]).reshape(-1, 5).T
    return dict(zip(("x", "y", "x2", "y2", "rank"), columns, strict=True))


def _of_level(x: Vector, y: Vector, values: Matrix, level: float) -> list[tuple[float, float, float, float]]:
    above = values > level
    corners = above[:-1, :-1].astype(int) + above[:-1, 1:] + above[1:, :-1] + above[1:, 1:]
    finite = np.isfinite(values)
    whole = finite[:-1, :-1] & finite[:-1, 1:] & finite[1:, :-1] & finite[1:, 1:]
    segments = []
    for i, j in np.argwhere((corners > 0) & (corners < 4) & whole):
        # The corners in a round, so that each edge joins neighbours.
        places = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        crossed = []
        for (a, b), (c, d) in zip(places, [*places[1:], places[0]], strict=True):
            if above[a, b] != above[c, d]:
                share = (level - values[a, b]) / (values[c, d] - values[a, b])
                crossed.append((x[b] + share * (x[d] - x[b]), y[a] + share * (y[c] - y[a])))
        # A saddle crosses all four edges: neighbours in the round are joined.
        segments += [
            (float(p[0]), float(p[1]), float(q[0]), float(q[1]))
            for p, q in zip(crossed[::2], crossed[1::2], strict=True)
        ]
    return segments


SHADE = "#F3ECE3"
ROWS = 160  # bands of shade from bottom to top
HALVINGS = 12  # of a step, to find where a band ends


def bound_layers(landscape: Landscape, x: Vector, y: Vector, axes: dict[str, Any]) -> list[Any]:
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


def _thin(nearest: Callable[[Any], Any], x: Vector, y: Vector, axes: dict[str, Any]) -> Any:
    """A set without an inside, by the points of it that are nearest to those of the picture."""
    import altair as alt

    places = np.array([nearest(np.array([a, b])) for a in x[::4] for b in y[::4]])
    places = np.unique(places.round(12), axis=0)
    line = alt.Chart(rows_of({"x": places[:, 0], "y": places[:, 1]})).mark_line(
        color=ORANGE, strokeWidth=2, clip=True
    )
    return line.encode(**axes, order="x:Q")


def outside_bands(inside: Callable[[Any], bool], x: Vector, y: Vector) -> dict[str, Vector]:
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


def _line_values(lines: Callable[[Any], Any] | None, x: Vector, y: Vector) -> list[Vector]:
    if lines is None:
        return []
    table = np.array([[np.atleast_1d(lines(np.array([a, b]))) for a in x] for b in y], dtype=np.float64)
    return [table[:, :, k] for k in range(table.shape[2])]


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
    'Path to the minimum over contours'
    """
    import altair as alt

    panel = landscape_panel(Landscape(f, np.zeros(2), inside), path)
    words = title or "Path to the minimum over contours"
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


def _path_layers(points: Matrix, axes: dict[str, Any]) -> list[Any]:
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


def _frame(points: Matrix) -> tuple[Vector, Vector]:
    """Return the corners of the picture: the path with a margin, and not too flat."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = high - low
    size = float(extent.max()) or max(float(np.abs(points).max()), 1.0)
    extent = np.maximum(extent, FLATTEST * size)
    middle = 0.5 * (low + high)
    half = (0.5 + MARGIN) * extent
    return middle - half, middle + half


def _levels(values: Vector) -> Vector:
    """Return heights that cut the picture into areas of like size, finer near the bottom."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return np.zeros(0)
    shares = np.linspace(0, 1, LEVELS + 2)[1:-1] ** 1.5
    return np.unique(np.quantile(finite, shares))


def _scale(low: float, high: float) -> Any:
    import altair as alt

    return alt.Scale(domain=[float(low), float(high)], nice=False, zero=False)
