"""A dendrogram: which clusters merged, and how far apart they were."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import DataError
from surefit.core.printable_text import visible
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import BLUE, COLOURS, FADED

MOST_LEAVES = 1000
NAMED = 60  # leaves whose names can be read


def plot_dendrogram(model: Any, X: Any = None, names: Any = None, height: float | None = None) -> Any:
    """Draw the merges of a fitted tree of clusters, each as high as its clusters were apart.

    X: the fitted rows; with them, leaves stand in the order in which neighbours are closest. names: of the
    leaves. height: where to draw a line that cuts; by default where the model has cut.

    >>> from surefit import AgglomerativeClustering
    >>> model = AgglomerativeClustering(2, linkage="average").fit([[0.0], [1.0], [3.0], [7.0]])
    >>> plot_dendrogram(model).to_dict()["title"]["text"]
    '4 rows merge into 2 clusters below height 4.08'
    """
    import altair as alt

    check_is_fitted(model)
    if not hasattr(model, "leaf_order"):
        raise DataError(f"plot_dendrogram draws trees of merges, and a {type(model).__name__} has none.")
    order, tree = model.leaf_order(X), model.tree_
    n = tree.leaves
    leaves = "clusters" if hasattr(model, "cluster_centers_") else "rows"
    if n > MOST_LEAVES:
        raise DataError(f"{n} {leaves} are too many for a dendrogram: fit a sample of {MOST_LEAVES} at most.")
    height = _between(tree.heights, model.n_clusters_) if height is None else height
    at = np.empty(2 * n - 1)
    at[order] = np.arange(n)
    top = np.concatenate([np.zeros(n), tree.heights])
    group = _groups(tree.children, tree.cut(tree.count_below(height)), top, height)
    rows: dict[str, list[Any]] = {"x": [], "y": [], "part": [], "place": [], "colour": []}
    for t, (a, b) in enumerate(tree.children.tolist()):
        a, b = (a, b) if at[a] <= at[b] else (b, a)
        at[n + t] = (at[a] + at[b]) / 2
        for place, (x, y) in enumerate(
            [(at[a], top[a]), (at[a], top[n + t]), (at[b], top[n + t]), (at[b], top[b])]
        ):
            rows["x"].append(float(x))
            rows["y"].append(float(y))
            rows["part"].append(t)
            rows["place"].append(place)
            rows["colour"].append(group[n + t])
    words = [visible(str(name)) for name in (range(n) if names is None else names)]
    labels = {int(place): words[int(row)] for place, row in enumerate(order)}
    shown = "{" + ",".join(f"{place}:{_quoted(word)}" for place, word in labels.items()) + "}[datum.value]"
    axis = alt.Axis(
        values=list(range(n)) if n <= NAMED else [],
        labelExpr=shown if n <= NAMED else "",
        labelAngle=0 if n <= 15 else -90,
        grid=False,
        ticks=False,
        domain=False,
    )
    span = alt.Scale(domain=[-0.6, n - 0.4], nice=False)
    lines = (
        alt.Chart(rows_of(rows))
        .mark_line(interpolate="linear", strokeWidth=1.5)
        .encode(
            x=alt.X("x:Q", axis=axis, title=f"{n} {leaves}", scale=span),
            y=alt.Y("y:Q", title="height of the merge"),
            detail="part:N",
            order="place:Q",
            color=alt.Color("colour:N", scale=None),
        )
    )
    cut = alt.Chart(rows_of({"y": [float(height)]})).mark_rule(color=FADED, strokeDash=[4, 4]).encode(y="y:Q")
    count = tree.count_below(height)
    plural = "cluster" if count == 1 else "clusters"
    title = f"{n} {leaves} merge into {count} {plural} below height {height:.3g}"
    return styled((lines + cut).properties(title=alt.TitleParams(title), width=560, height=300))


def _between(heights: Any, count: int) -> float:
    """A height at which ``count`` clusters are left, in the middle of the range of such heights."""
    ordered = np.sort(heights)[::-1]
    high = float(ordered[count - 2]) if count >= 2 else 1.15 * float(ordered[0])
    low = float(ordered[count - 1]) if count - 1 < len(ordered) else 0.0
    return (high + low) / 2


def _groups(children: Any, labels: Any, top: Any, height: float) -> list[str]:
    """The colour of each node: that of its cluster below the cut, none above."""
    n = len(labels)
    number: list[int] = labels.tolist()
    colour = [COLOURS[label % len(COLOURS)] for label in number]
    for t, (a, _) in enumerate(children.tolist()):
        colour.append(colour[a] if top[n + t] < height else FADED)
    return colour if len(set(number)) > 1 else [BLUE] * len(colour)


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'"
