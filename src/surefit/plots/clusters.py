"""Clusters: the cells of their centres, scores that their number is chosen by, distances of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import DataError
from surefit.distances import search
from surefit.models.cluster.kmeans.voronoi import voronoi_cells
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import COLOURS, FADED, WIDTH

POINTS = 1500  # rows that are drawn
_TITLES = {
    "silhouette": "silhouette (higher is better)",
    "gap": "gap statistic (higher is better)",
    "stability": "stability (higher is better)",
    "bic": "BIC (lower is better)",
}


def plot_voronoi(model: Any, X: Any = None) -> Any:
    """Draw the cells of the centres of a model with two columns, or of centres themselves, over some rows.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> chart = plot_voronoi(surefit.KMeans(3, random_state=0).fit(X), X)
    >>> chart.to_dict()["title"]
    '3 Voronoi cells'
    """
    import altair as alt

    centres = np.asarray(getattr(model, "cluster_centers_", model), dtype=np.float64)
    if centres.ndim != 2 or centres.shape[1] != 2:
        raise DataError("plot_voronoi draws two columns: fit the model to two, or to two components.")
    rows = np.empty((0, 2)) if X is None else np.asarray(X, dtype=np.float64)
    rows = rows[:: max(1, len(rows) // POINTS)]
    every = np.concatenate([centres, rows])
    low, high = every.min(axis=0), every.max(axis=0)
    room = 0.08 * np.where(high > low, high - low, 1.0)
    low, high = low - room, high + room
    names = [str(name) for name in getattr(model, "feature_names_in_", ["x0", "x1"])]
    x = alt.X("x:Q", title=names[0], scale=alt.Scale(domain=[low[0], high[0]], nice=False, zero=False))
    y = alt.Y("y:Q", title=names[1], scale=alt.Scale(domain=[low[1], high[1]], nice=False, zero=False))
    lines: dict[str, list[Any]] = {"x": [], "y": [], "cell": [], "order": []}
    for k, cell in enumerate(voronoi_cells(centres, (*low, *high))):
        closed = np.concatenate([cell, cell[:1]])
        lines["x"] += closed[:, 0].tolist()
        lines["y"] += closed[:, 1].tolist()
        lines["cell"] += [k] * len(closed)
        lines["order"] += range(len(closed))
    layers = [
        alt.Chart(rows_of({name: np.array(values) for name, values in lines.items()}))
        .mark_line(color=FADED, strokeWidth=1.5)
        .encode(x=x, y=y, detail="cell:N", order="order:Q")
    ]
    if len(rows):
        nearest = np.square(rows[:, None] - centres).sum(axis=2).argmin(axis=1)
        table = rows_of({"x": rows[:, 0], "y": rows[:, 1], "cluster": nearest.astype(str)})
        legend = alt.Legend(symbolOpacity=1) if len(centres) <= len(COLOURS) else None
        colour = alt.Color("cluster:N", scale=alt.Scale(range=COLOURS), legend=legend)
        layers.append(alt.Chart(table).mark_circle(size=22, opacity=0.6).encode(x=x, y=y, color=colour))
    marks = rows_of({"x": centres[:, 0], "y": centres[:, 1]})
    layers.append(
        alt.Chart(marks).mark_point(shape="cross", size=90, filled=True, color="black").encode(x=x, y=y)
    )
    title = f"{len(centres)} Voronoi cell{'s' if len(centres) > 1 else ''}"
    return styled(alt.layer(*layers).properties(title=title, width=WIDTH, height=0.75 * WIDTH))


def plot_cluster_choice(choice: Any) -> Any:
    """Draw what ``surefit.choose_clusters`` found: each criterion over the number of clusters, its best
    marked.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> chart = plot_cluster_choice(surefit.choose_clusters(X, range(1, 4), draws=2))
    >>> len(chart.to_dict()["vconcat"])
    2
    """
    import altair as alt

    panels = []
    span = alt.Scale(domain=[int(choice.k.min()), int(choice.k.max())], nice=False, zero=False)
    for name, title in _TITLES.items():
        scores = np.asarray(getattr(choice, name), dtype=np.float64)
        seen = np.isfinite(scores)
        table = {
            "k": choice.k[seen],
            "score": scores[seen],
            "best": np.where(choice.k[seen] == choice.best[name], "best", "other"),
        }
        error = choice.gap_error[seen] if name == "gap" else np.zeros(int(seen.sum()))
        table |= {"low": scores[seen] - error, "high": scores[seen] + error}
        base = alt.Chart(rows_of(table)).encode(
            x=alt.X("k:Q", title="clusters", axis=alt.Axis(tickMinStep=1, format="d"), scale=span),
        )
        y = alt.Y("score:Q", title=None, scale=alt.Scale(zero=False))
        colour = alt.Color(
            "best:N", scale=alt.Scale(domain=["best", "other"], range=[COLOURS[1], COLOURS[0]]), legend=None
        )
        bars = base.mark_rule(color=FADED).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
        line = base.mark_line(color=COLOURS[0]).encode(y=y)
        points = base.mark_circle(size=70, opacity=1).encode(y=y, color=colour)
        layers = (bars, line, points) if name == "gap" else (line, points)
        size = {"width": WIDTH / 2 - 40, "height": 0.3 * WIDTH}
        panels.append(alt.layer(*layers).properties(title=f"{title}: {choice.best[name]}", **size))
    return styled(alt.vconcat(alt.hconcat(*panels[:2]), alt.hconcat(*panels[2:])))


def plot_k_distances(X: Any, k: int = 5, metric: Any = "euclidean", eps: float | None = None) -> Any:
    """Draw how far the k-th nearest row is from each row, sorted: where the curve bends is an eps for DBSCAN.

    A row counts among its own neighbours, as in ``DBSCAN(min_samples=k)``, so that at ``eps`` the rows below
    the line are the core rows. metric: what ``surefit.distances.as_distance`` takes. eps: where to draw the
    line; by default at the bend, the point farthest from the chord of the curve.

    >>> plot_k_distances([[0.0], [1.0], [2.0], [3.0], [50.0]], k=2).to_dict()["title"]["text"]
    'Distance to the 2nd nearest row: it bends at 1'
    """
    import altair as alt

    index = search.build(X, metric, neighbours=max(k - 1, 1))
    if not 2 <= k <= index.rows:
        raise DataError(f"k={k} must be at least 2, the row itself included, and at most {index.rows} rows.")
    found = np.sort(index.nearest(None, k - 1).distance[:, -1])
    n = len(found)
    bend = float(found[_bend(found)]) if eps is None else float(eps)
    core = int(np.searchsorted(found, bend, side="right"))
    some = np.unique(np.linspace(0, n - 1, min(n, POINTS)).round().astype(np.int64))
    curve = (
        alt.Chart(rows_of({"row": some + 1.0, "distance": found[some]}))
        .mark_line(color=COLOURS[0], strokeWidth=2)
        .encode(
            x=alt.X("row:Q", title="rows, sorted", scale=alt.Scale(domain=[1, max(n, 2)], nice=False)),
            y=alt.Y("distance:Q", title=f"distance to the {_ordinal(k)} nearest row"),
        )
    )
    line = (
        alt.Chart(rows_of({"eps": [bend]})).mark_rule(color=COLOURS[1], strokeDash=[4, 4]).encode(y="eps:Q")
    )
    verb = "it bends at" if eps is None else "eps"
    heading = alt.TitleParams(
        f"Distance to the {_ordinal(k)} nearest row: {verb} {bend:.3g}",
        subtitle=f"within {bend:.3g}, {core} of {n} rows have at least {k} rows, themselves included",
    )
    return styled(alt.layer(curve, line).properties(title=heading, width=WIDTH, height=300))


def _bend(rising: Any) -> int:
    """The place of a rising curve that is farthest below its chord."""
    n, span = len(rising), float(rising[-1] - rising[0])
    if span <= 0:
        return n - 1
    return int(np.argmax(np.linspace(0.0, 1.0, n) - (rising - rising[0]) / span))


def _ordinal(k: int) -> str:
    ending = "th" if k % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{ending}"
