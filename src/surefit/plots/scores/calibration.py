"""Whether what a model calls probable happens as often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefit import metrics
from surefit.core.errors import DataError
from surefit.evaluate.scoring.row_means import wilson_interval
from surefit.metrics import door
from surefit.metrics.labels import as_labels
from surefit.plots.base import below, rows_of, styled
from surefit.plots.theme import COLOURS, FADED
from surefit.plots.words import labels

SIZE = 360


def plot_calibration(
    y: Any, probabilities: Any, *, n_bins: int = 10, sample_weight: Any = None, size: int = SIZE
) -> Any:
    """Draw the share of positive rows over the probability predicted, in bins, with 95 % Wilson intervals.

    probabilities: of the greater of two labels, or of several models by name. On the dashed line, predicted
    and observed frequencies agree.

    >>> plot_calibration([0, 1, 1, 0], [0.1, 0.9, 0.6, 0.4], n_bins=2).to_dict()["title"]["text"]
    'Observed frequency by predicted probability'
    """
    import altair as alt

    found = dict(probabilities) if isinstance(probabilities, Mapping) else {"model": probabilities}
    if len(found) > len(COLOURS):
        raise DataError(f"{len(found)} curves are too many for one chart; draw at most {len(COLOURS)}.")
    found = dict(zip(labels(list(found)), found.values(), strict=True))
    truth = as_labels(y, "y")
    upper = truth == np.unique(truth)[-1]
    weight = door.weights(sample_weight, len(truth))
    counts = np.ones(len(truth)) if weight is None else weight
    columns: dict[str, list[Any]] = {
        name: [] for name in ("predicted", "share", "low", "high", "rows", "model")
    }
    for name, given in found.items():
        chance = np.asarray(given, dtype=np.float64)
        chance = chance[:, -1] if chance.ndim == 2 else chance
        door.inside_unit(chance)
        error = metrics.expected_calibration_error(truth, chance, weight, n_bins=n_bins)
        place = np.minimum((chance * n_bins).astype(int), n_bins - 1)
        for bin_ in np.unique(place[counts > 0]):
            rows = place == bin_
            total, hits = float(counts[rows].sum()), float(counts[rows] @ upper[rows])
            low, high = wilson_interval(hits, total)
            middle = float(np.average(chance[rows], weights=counts[rows]))
            for key, value in zip(
                columns, (middle, hits / total, low, high, total, f"{name}  {error:.3f}"), strict=True
            ):
                columns[key].append(value)
    names = list(dict.fromkeys(columns["model"]))
    scale = alt.Scale(domain=[0, 1], nice=False)
    colours = alt.Scale(domain=names, range=COLOURS[: len(names)])
    base = alt.Chart(rows_of(columns)).encode(
        x=alt.X("predicted:Q", title="Predicted probability", scale=scale, axis=alt.Axis(tickCount=5)),
        color=alt.Color(
            "model:N", title="Calibration error", sort=names, scale=colours, legend=below(len(names))
        ),
        tooltip=[alt.Tooltip(f"{key}:Q", format=".3~g") for key in list(columns)[:-1]],
    )
    shares = alt.Y("share:Q", title="Observed frequency", scale=scale, axis=alt.Axis(tickCount=5))
    diagonal = alt.Chart(rows_of({"x": [0.0, 1.0], "y": [0.0, 1.0]})).mark_line(
        color=FADED, strokeDash=[5, 4]
    )
    layers = [
        diagonal.encode(x="x:Q", y="y:Q"),
        base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(strokeWidth=1.5, opacity=0.4).encode(y=shares),
        base.mark_point().encode(
            y=shares, size=alt.Size("rows:Q", legend=None, scale=alt.Scale(range=[15, 200]))
        ),
    ]
    error = f"calibration error {names[0].split()[-1]}; " if len(names) == 1 else ""
    said = f"{error}{n_bins} bins of equal width, the larger a point the more rows, 95 % intervals; "
    said += "on the dashed line both agree"
    said = said[:1].upper() + said[1:]
    title = alt.TitleParams("Observed frequency by predicted probability", subtitle=said)
    return styled(alt.layer(*layers).properties(title=title, width=size, height=size))
