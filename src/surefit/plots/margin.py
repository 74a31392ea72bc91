"""What a support vector machine has learnt: its surface, its margin, and the rows that hold it up."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.plots.base import rows_of, styled
from surefit.plots.landscape import contour_segments
from surefit.plots.theme import BLUE, COLOURS, INK, VERMILION, WIDTH
from surefit.plots.words import labels

GRID = 64  # places across and up
SPACE = 0.08  # of the range of the rows, around them
MOST = 1500  # rows that are drawn


def plot_margin(model: Any, X: Any, y: Any, *, names: tuple[str, str] = ("x1", "x2")) -> Any:
    """Draw a fitted support vector machine over the rows of its fit.

    Classes need two columns: shades are the predicted classes, the line is where the score of two classes
    is 0, dashed lines where it is -1 and 1, and rings are support vectors. Numbers need one column: the curve
    is the prediction, dashed lines the tube.

    >>> from surefit import SVC
    >>> from surefit.plots import plot_margin
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 3.0], [4.0, 3.0]], [-1, -1, 1, 1]
    >>> chart = plot_margin(SVC(kernel="linear", C=10.0).fit(X, y), X, y)
    >>> type(chart).__name__
    'LayerChart'
    """
    rows = np.asarray(X, dtype=np.float64)
    wanted = 2 if hasattr(model, "classes_") else 1
    if rows.ndim != 2 or rows.shape[1] != wanted:
        raise DataError(
            f"plot_margin draws {'classes over two columns' if wanted == 2 else 'numbers over one column'}, "
            f"and X has the shape {rows.shape}: fit the machine to such columns."
        )
    chosen = _shown(len(rows), np.asarray(model.support_))
    held = np.isin(np.arange(len(rows)), model.support_)[chosen]
    draw = _classes if wanted == 2 else _numbers
    return draw(model, rows, np.asarray(y), chosen, held, names)


def _shown(n: int, support: Any) -> Any:
    """The rows to draw: support vectors first, then others, evenly."""
    others = np.setdiff1d(np.arange(n), support)
    support = _evenly(support, MOST // 2)
    return np.sort(np.concatenate([support, _evenly(others, MOST - len(support))]))


def _evenly(rows: Any, most: int) -> Any:
    return rows[np.linspace(0, len(rows) - 1, most).astype(int)] if len(rows) > most else rows


def _range(values: Vector) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    space = SPACE * (high - low) or 1.0
    return low - space, high + space


def _axes(rows: Any, y: Vector, names: tuple[str, str]) -> dict[str, Any]:
    import altair as alt

    return {
        "x": alt.X("x:Q", title=names[0], scale=alt.Scale(domain=_range(rows), nice=False, zero=False)),
        "y": alt.Y("y:Q", title=names[1], scale=alt.Scale(domain=_range(y), nice=False, zero=False)),
    }


def _classes(model: Any, rows: Any, y: Any, chosen: Any, held: Any, names: tuple[str, str]) -> Any:
    import altair as alt

    words = labels([str(label) for label in model.classes_])
    colour = alt.Scale(domain=words, range=[COLOURS[k % len(COLOURS)] for k in range(len(words))])
    axes = _axes(rows[:, 0], rows[:, 1], names)
    (left, right), (bottom, top) = _range(rows[:, 0]), _range(rows[:, 1])
    wide, high = (right - left) / GRID, (top - bottom) / GRID
    middles = np.arange(GRID, dtype=np.float64) + 0.5
    across: Vector = np.asarray(left + wide * middles, dtype=np.float64)
    up: Vector = np.asarray(bottom + high * middles, dtype=np.float64)
    grid = np.column_stack([np.tile(across, GRID), np.repeat(up, GRID)])
    codes = np.searchsorted(model.classes_, model.predict(grid))
    shade = rows_of(
        {
            "x": grid[:, 0] - wide / 2,
            "x2": grid[:, 0] + wide / 2,
            "y": grid[:, 1] - high / 2,
            "y2": grid[:, 1] + high / 2,
            "class": np.array(words)[codes],
        }
    )
    fill = alt.Color("class:N", scale=colour, title="class")
    layers = [alt.Chart(shade).mark_rect(opacity=0.18).encode(**axes, x2="x2:Q", y2="y2:Q", color=fill)]
    if len(words) == 2:
        scores = model.decision_function(grid).reshape(GRID, GRID)
        for level, dash, thick in ((-1.0, [5, 4], 1.2), (0.0, [1, 0], 2.0), (1.0, [5, 4], 1.2)):
            found = contour_segments(across, up, scores, np.array([level]))
            if len(found["x"]):
                line = alt.Chart(rows_of(found)).mark_rule(strokeDash=dash, strokeWidth=thick, color=INK)
                layers.append(line.encode(**axes, x2="x2:Q", y2="y2:Q"))
    codes = np.searchsorted(model.classes_, y[chosen])
    points = {"x": rows[chosen, 0], "y": rows[chosen, 1], "class": np.array(words)[codes]}
    layers.append(alt.Chart(rows_of(points)).mark_circle(size=34, opacity=0.95).encode(**axes, color=fill))
    layers.append(_rings(rows[chosen, 0][held], rows[chosen, 1][held], axes))
    title = f"Margin of {type(model).__name__}: {len(model.support_)} of {len(rows)} rows are support vectors"
    return styled(alt.layer(*layers).properties(title=title, width=WIDTH, height=0.75 * WIDTH))


def _rings(x: Vector, y: Vector, axes: dict[str, Any]) -> Any:
    import altair as alt

    ring = alt.Chart(rows_of({"x": x, "y": y})).mark_point(size=110, strokeWidth=1.3, filled=False, color=INK)
    return ring.encode(**axes)


def _numbers(model: Any, rows: Any, y: Any, chosen: Any, held: Any, names: tuple[str, str]) -> Any:
    import altair as alt

    names = (names[0], "y" if names[1] == "x2" else names[1])
    axes = _axes(rows[:, 0], np.asarray(y, dtype=np.float64), names)
    at = np.linspace(*_range(rows[:, 0]), 400)
    curve = model.predict(at[:, None])
    if hasattr(model, "epsilon"):
        tube = float(model.epsilon)
    else:  # the errors of rows on the edge of the tube, whose multipliers are between their bounds
        size = np.abs(model.dual_coef_[0])
        inner = model.support_[size < size.max() * (1 - 1e-9)]
        off = np.abs(np.asarray(y)[inner] - model.predict(rows[inner]))
        tube = float(np.median(off)) if len(off) else 0.0
    layers = []
    for shift, dash, thick in ((-tube, [5, 4], 1.2), (0.0, [1, 0], 2.2), (tube, [5, 4], 1.2)):
        line = alt.Chart(rows_of({"x": at, "y": curve + shift}))
        layers.append(
            line.mark_line(strokeDash=dash, strokeWidth=thick, color=BLUE, clip=True).encode(**axes)
        )
    points = alt.Chart(rows_of({"x": rows[chosen, 0], "y": np.asarray(y, dtype=np.float64)[chosen]}))
    layers.append(points.mark_circle(size=34, color=VERMILION, opacity=0.95).encode(**axes))
    layers.append(_rings(rows[chosen, 0][held], np.asarray(y, dtype=np.float64)[chosen][held], axes))
    title = f"Tube of {type(model).__name__}: {len(model.support_)} of {len(rows)} rows are support vectors"
    return styled(alt.layer(*layers).properties(title=title, width=WIDTH, height=0.7 * WIDTH))
