"""What a score finds and at which price: ROC and precision-recall curves of one model or several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit import metrics
from surefit.core.errors import DataError
from surefit.plots.base import MOST_ROWS, below, rows_of, styled
from surefit.plots.theme import COLOURS, FADED
from surefit.plots.words import labels

SIZE = 360


def plot_roc(y: Any, scores: Any, *, sample_weight: Any = None, size: int = SIZE) -> Any:
    """Draw the ROC curve of scores, or of several models' scores by name, with the area under each.

    y: one column of labels, or one by each name, as for classes that are each held against the rest.

    >>> plot_roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).to_dict()["title"]["text"]
    'ROC curve'
    """
    import altair as alt

    curves = {}
    for name, (truth, score) in _named(y, scores).items():
        fpr, tpr, _ = metrics.roc_curve(truth, score, sample_weight)
        curves[f"{name}  {metrics.roc_auc_score(truth, score, sample_weight):.3f}"] = np.array([fpr, tpr])
    chance = alt.Chart(rows_of({"x": [0.0, 1.0], "y": [0.0, 1.0]})).mark_line(color=FADED, strokeDash=[5, 4])
    said = f"{_figure('Area', curves)}; dashed: chance"
    title = alt.TitleParams("ROC curve", subtitle=said)
    return _drawn(curves, "False positive rate", "True positive rate", "Area", chance, title, size)


def plot_precision_recall(y: Any, scores: Any, *, sample_weight: Any = None, size: int = SIZE) -> Any:
    """Draw precision against recall of scores, or of several models' scores by name, with average precision.

    >>> plot_precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).to_dict()["title"]["text"]
    'Precision-recall curve'
    """
    import altair as alt

    curves = {}
    for name, (_, score) in _named(y, scores).items():
        precision, recall, _ = metrics.precision_recall_curve(y, score, sample_weight)
        average = metrics.average_precision_score(y, score, sample_weight, pos_label=np.unique(y)[-1])
        curves[f"{name}  {average:.3f}"] = np.array([recall, precision])[:, ::-1]
    share = float(np.average(np.asarray(y) == np.unique(y)[-1], weights=sample_weight))
    chance = alt.Chart(rows_of({"x": [0.0, 1.0], "y": [share, share]})).mark_line(
        color=FADED, strokeDash=[5, 4]
    )
    said = f"{_figure('Average precision', curves)}; dashed: the share of positive rows, {100 * share:.3g} %"
    title = alt.TitleParams("Precision-recall curve", subtitle=said)
    return _drawn(curves, "Recall", "Precision", "Average precision", chance, title, size)


def _named(y: Any, scores: Any) -> dict[str, tuple[Any, Any]]:
    found = dict(scores) if isinstance(scores, Mapping) else {"scores": scores}
    if len(found) > len(COLOURS):
        raise DataError(f"{len(found)} curves are too many for one chart; draw at most {len(COLOURS)}.")
    truths = [y[name] if isinstance(y, Mapping) else y for name in found]
    parts = zip(truths, map(_positive, map(np.asarray, found.values())), strict=True)
    return dict(zip(labels(list(found)), parts, strict=True))


def _figure(what: str, curves: dict[str, Any]) -> str:
    """The one number of a single curve; that of several stands in the legend."""
    return f"{what} {next(iter(curves)).split()[-1]}" if len(curves) == 1 else f"With {what.lower()}"


def _positive(score: NDArray[Any]) -> NDArray[Any]:
    return score[:, -1] if score.ndim == 2 and score.shape[1] == 2 else score


def _drawn(curves: dict[str, Any], x: str, y: str, legend: str, chance: Any, title: Any, size: int) -> Any:
    import altair as alt

    most = MOST_ROWS // (len(curves) + 1)
    kept = {name: curve[:, _corners(curve, most)] for name, curve in curves.items()}
    data = rows_of(
        {
            "x": np.concatenate([curve[0] for curve in kept.values()]),
            "y": np.concatenate([curve[1] for curve in kept.values()]),
            "order": np.concatenate([np.arange(curve.shape[1]) for curve in kept.values()]),
            "model": np.repeat(list(kept), [curve.shape[1] for curve in kept.values()]),
        }
    )
    scale = alt.Scale(domain=[0, 1], nice=False)
    colours = alt.Scale(domain=list(kept), range=COLOURS[: len(kept)])
    lines = (
        alt.Chart(data)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=x, scale=scale, axis=alt.Axis(tickCount=5)),
            y=alt.Y("y:Q", title=y, scale=scale, axis=alt.Axis(tickCount=5)),
            order="order:Q",
            color=alt.Color("model:N", title=legend, sort=list(kept), scale=colours, legend=below(len(kept))),
        )
    )
    base = chance.encode(x="x:Q", y="y:Q")
    return styled(alt.layer(base, lines).properties(title=title, width=size, height=size))


def _corners(curve: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Points evenly spaced along the curve, its ends among them."""
    if curve.shape[1] <= most:
        return np.arange(curve.shape[1])
    length = np.r_[0.0, np.cumsum(np.abs(np.diff(curve, axis=1)).sum(axis=0))]
    places = np.searchsorted(length, np.linspace(0, length[-1], most))
    return np.unique(np.minimum(places, curve.shape[1] - 1))
