"""A decision tree as a drawing: one box a node, in the colour of what it answers, with its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import DataError
from surefit.core.printable_text import visible
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import BLUE, COLOURS, FADED, INK
from surefit.plots.words import number

BOX, GAP, STEP, TALL = 128, 10, 92, 52  # of a box and between boxes, in pixels
MOST_BOXES = 200
DEEPEST = 0.42  # of any colour: words on it can still be read, by day and by night


def plot_tree(model: Any, max_depth: int | None = 4) -> Any:
    """Draw a fitted tree down to ``max_depth``: rules, predictions and counts; colours show purity.

    The number of deeper nodes is written below a box. The left branch is where the rule holds.

    >>> from surefit import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> plot_tree(model).to_dict()["title"]["text"]
    'Decision tree with 2 leaves'
    """
    from surefit.models.tree.trees.base import ReadableTree, read_tree

    check_is_fitted(model)
    if not isinstance(model, ReadableTree):
        raise DataError(
            f"plot_tree draws a fitted DecisionTreeClassifier or DecisionTreeRegressor, not a "
            f"{type(model).__name__}."
        )
    nodes, splits, answer = read_tree(model)
    depths = nodes.depths
    shown = np.flatnonzero(depths <= (max_depth if max_depth is not None else depths.max()))
    if len(shown) > MOST_BOXES:
        raise DataError(
            f"{len(shown)} nodes are too many for a chart: draw at most {MOST_BOXES} with a lower max_depth."
        )
    x = _places(nodes, shown)
    left = np.array([x[at] * (BOX + GAP) for at in shown.tolist()])
    top = depths[shown] * STEP * 1.0
    cut_off = np.array([at in splits and depths[at] == depths[shown].max() for at in shown])
    colour, strength = _colours(model, nodes, shown)
    data = {
        "x": left,
        "x2": left + BOX,
        "y": top,
        "y2": top + TALL,
        "middle": left + BOX / 2,
        "answer": [_short(_answer_words(answer(at))) for at in shown.tolist()],
        "rule": [
            _rule(splits[at]) if at in splits and not deep else ""
            for at, deep in zip(shown.tolist(), cut_off, strict=True)
        ],
        "rows": [_rows_words(nodes, at) for at in shown.tolist()],
        "more": [
            f"and {_below(nodes, at)} more nodes" if deep else ""
            for at, deep in zip(shown.tolist(), cut_off, strict=True)
        ],
        "colour": colour,
        "strength": strength,
    }
    return _drawn(data, nodes, shown, bool(cut_off.any()), _subtitle(model, nodes))


def _drawn(data: dict[str, Any], nodes: Any, shown: NDArray[np.intp], deeper: bool, subtitle: str) -> Any:
    """The chart of boxes, links and words; ``deeper``: whether a line below tells of nodes not shown."""
    import altair as alt

    left, top = data["x"], data["y"]
    width = float((left + BOX).max())
    height = float((top + TALL).max() + (18 if deeper else 0))
    across = alt.Scale(domain=[0, width], nice=False)
    down = alt.Scale(domain=[height, 0], nice=False)
    base = alt.Chart(rows_of(data)).encode(
        x=alt.X("x:Q", scale=across, axis=None), y=alt.Y("y:Q", scale=down, axis=None)
    )
    boxes = base.mark_rect(cornerRadius=4, stroke=FADED, strokeWidth=1).encode(
        x2="x2:Q",
        y2="y2:Q",
        color=alt.Color("colour:N", scale=None),
        fillOpacity=alt.FillOpacity("strength:Q", scale=None),
    )
    words = [
        _text(base, "rule", 14, weight="bold"),
        _text(base, "answer", 29),
        _text(base, "rows", 43),
        _text(base, "more", TALL + 12, colour=FADED),
    ]
    layers = [boxes, *words]
    if len(shown) > 1:
        layers.insert(0, _links(nodes, shown, left, top, across, down))
    title = alt.TitleParams(f"Decision tree with {nodes.n_leaves} leaves", subtitle=subtitle)
    return styled(alt.layer(*layers).properties(title=title, width=width, height=height))


def _text(base: Any, field: str, dy: float, weight: str = "normal", colour: str = INK) -> Any:
    mark = base.mark_text(fontSize=10.5, fontWeight=weight, color=colour, dy=dy, baseline="middle")
    return mark.encode(x="middle:Q", text=f"{field}:N")


def _places(nodes: Any, shown: NDArray[np.intp]) -> dict[int, float]:
    """Where each node stands, in boxes: the lowest side by side, the others above their middle."""
    inside = set(shown.tolist())
    place: dict[int, float] = {}
    ends = [at for at in shown.tolist() if not nodes.inner[at] or int(nodes.grown.left[at]) not in inside]
    for k, at in enumerate(ends):  # nodes are numbered in the order of a walk that goes left first
        place[at] = float(k)
    for at in reversed(shown.tolist()):
        if at not in place:
            place[at] = (place[int(nodes.grown.left[at])] + place[int(nodes.grown.right[at])]) / 2
    return place


def _links(nodes: Any, shown: NDArray[np.intp], left: Any, top: Any, across: Any, down: Any) -> Any:
    import altair as alt

    where = {at: k for k, at in enumerate(shown.tolist())}
    pairs = [
        (where[at], where[int(child)])
        for at in shown.tolist()
        if nodes.inner[at]
        for child in (nodes.grown.left[at], nodes.grown.right[at])
        if int(child) in where
    ]
    ends = rows_of(
        {
            "x": [left[a] + BOX / 2 for a, _ in pairs],
            "y": [top[a] + TALL for a, _ in pairs],
            "x2": [left[b] + BOX / 2 for _, b in pairs],
            "y2": [top[b] for _, b in pairs],
        }
    )
    return (
        alt.Chart(ends)
        .mark_rule(color=FADED, strokeWidth=1.2)
        .encode(
            x=alt.X("x:Q", scale=across, axis=None),
            y=alt.Y("y:Q", scale=down, axis=None),
            x2="x2:Q",
            y2="y2:Q",
        )
    )


def _colours(model: Any, nodes: Any, shown: NDArray[np.intp]) -> tuple[list[str], list[float]]:
    """The colour of the heaviest class, by how far it leads; for numbers one, the higher the stronger."""
    value = nodes.value[shown]
    if is_classifier(model) and len(nodes.classes) == 1:
        k = value.shape[1]
        lead = (value.max(axis=1) - 1 / k) / (1 - 1 / k) if k > 1 else np.ones(len(value))
        return [COLOURS[c % len(COLOURS)] for c in value.argmax(axis=1)], (
            0.06 + (DEEPEST - 0.06) * lead
        ).tolist()
    first = value[:, 0]
    low, high = float(nodes.value[:, 0].min()), float(nodes.value[:, 0].max())
    share = (first - low) / (high - low) if high > low else np.ones(len(first))
    return [BLUE] * len(shown), (0.06 + (DEEPEST - 0.06) * share).tolist()


def _answer_words(answer: Any) -> str:
    if isinstance(answer, list):
        return ", ".join(_answer_words(one) for one in answer)
    return number(answer, 4) if isinstance(answer, float) else str(answer)


def _rows_words(nodes: Any, at: int) -> str:
    rows = int(nodes.grown.rows[at])
    if len(nodes.classes) == 1 and nodes.classes[0] <= 4:
        counts = nodes.value[at] * nodes.grown.weight[at]
        return " / ".join(number(round(float(c), 2), 4) for c in counts)
    return f"{rows:,} row{'' if rows == 1 else 's'}"


def _below(nodes: Any, at: int) -> int:
    parents = nodes.parents
    last = at
    for other in range(at + 1, nodes.node_count):  # a branch is one stretch of numbers
        if parents[other] < at:
            break
        last = other
    return last - at


def _subtitle(model: Any, nodes: Any) -> str:
    rows = f"{int(nodes.grown.rows[0]):,} rows, depth {nodes.max_depth}, left where the rule holds"
    labels = getattr(model, "classes_", None)
    if isinstance(labels, np.ndarray) and len(labels) <= 4:
        return f"{rows}; counts of {' / '.join(_short(str(label)) for label in labels)}"
    return rows


def _rule(split: Any) -> str:
    """The rule, with its column's name cut rather than its threshold."""
    rest = split.words(True)[len(split.name) :]
    return _short(f"{_short(split.name, max(6, 23 - len(rest)))}{rest}", 23)


def _short(words: str, most: int = 20) -> str:
    return visible(words, most)
