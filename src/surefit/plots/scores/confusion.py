"""Which classes are taken for which."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from surefit.core.errors import DataError
from surefit.metrics.confusion import Confusion, ConfusionMatrix
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import DEEPEST, HEAT, INK, PAPER
from surefit.plots.words import labels, number

MOST_CLASSES = 30  # more cells than can be read


def plot_confusion(
    y: Any,
    prediction: Any,
    *,
    sample_weight: Any = None,
    normalize: Literal["true", "none"] = "true",
    most: int = 480,
) -> Any:
    """Draw the rows of each true class by the class predicted; colours are shares of the true class.

    normalize: "true" writes shares into the cells, "none" the numbers of rows. most: pixels of a side.

    >>> plot_confusion(["cat", "dog", "dog"], ["cat", "dog", "cat"]).to_dict()["title"]["text"]
    '1 of 3 rows are misclassified'
    """
    import altair as alt

    statistic: Confusion = ConfusionMatrix().of(y, prediction, sample_weight)
    names, table = labels(statistic.labels.tolist(), 20), np.asarray(statistic.table, dtype=np.float64)
    if len(names) > MOST_CLASSES:
        raise DataError(f"{len(names)} classes are too many for one chart; take at most {MOST_CLASSES}.")
    totals = table.sum(axis=1, keepdims=True)
    share = np.divide(table, totals, out=np.zeros_like(table), where=totals > 0)
    shown = [
        f"{100 * s:.0f} %" if normalize == "true" else number(c, 6)
        for s, c in zip(share.flat, table.flat, strict=True)
    ]
    data = rows_of(
        {
            "true": np.repeat(names, len(names)),
            "predicted": np.tile(names, len(names)),
            "share": share.ravel(),
            "rows": table.ravel(),
            "words": shown,
        }
    )
    size = max(170, min(most, 110 * len(names)))
    flat = 7 * max(map(len, names)) <= size / len(names)  # pixels of a letter, and of a cell
    axis = alt.Axis(domain=False, ticks=False, labelAngle=0 if flat else -40)
    base = alt.Chart(data).encode(
        x=alt.X("predicted:N", title="Predicted class", sort=names, axis=axis),
        y=alt.Y("true:N", title="True class", sort=names),
        tooltip=["true:N", "predicted:N", "rows:Q", alt.Tooltip("share:Q", format=".1%")],
    )
    depth = alt.FillOpacity("share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.04, DEEPEST]))
    cells = base.mark_rect(color=HEAT, stroke=PAPER, strokeWidth=2).encode(fillOpacity=depth)
    words = base.mark_text(fontSize=13 if len(names) <= 8 else 9, color=INK).encode(text="words:N")
    wrong, total = table.sum() - np.trace(table), table.sum()
    title = alt.TitleParams(
        f"{number(wrong)} of {number(total)} rows are misclassified",
        subtitle=f"{100 * (1 - wrong / total):.1f} % correct; "
        + ("cells are shares of the true class" if normalize == "true" else "cells are numbers of rows"),
    )
    return styled(alt.layer(cells, words).properties(title=title, width=size, height=size))
