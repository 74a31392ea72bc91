"""What a decision costs by the probability from which on the positive class is answered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.metrics import door
from surefit.metrics.labels import as_labels
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import BLUE, FADED, VERMILION, WIDTH
from surefit.plots.words import number


def plot_threshold(
    y: Any,
    probability: Any,
    *,
    costs: tuple[float, float] = (1.0, 1.0),
    threshold: float | None = None,
    sample_weight: Any = None,
    width: int = WIDTH,
) -> Any:
    """Draw the mean cost of a row over the threshold, given the costs of false positives and negatives.

    probability: of the greater of two labels. threshold: one to mark.

    >>> plot_threshold([0, 1, 1, 0], [0.1, 0.9, 0.6, 0.4], threshold=0.5).to_dict()["title"]["text"]
    'Mean cost by threshold'
    """
    import altair as alt

    at, cost = cost_by_threshold(y, probability, costs, sample_weight)
    line = alt.Chart(rows_of({"at": at, "cost": cost})).mark_line(color=BLUE)
    whole, few = alt.Scale(domain=[0, 1], nice=False), alt.Axis(tickCount=5)
    x = alt.X("at:Q", title="Threshold of the probability", scale=whole, axis=few)
    layers = [line.encode(x=x, y=alt.Y("cost:Q", title="Mean cost of a row", axis=few))]
    if threshold is not None:
        mark = alt.Chart(rows_of({"at": [threshold], "words": [number(threshold, 3)]})).encode(x="at:Q")
        right = threshold > 0.8
        side = {"align": "right" if right else "left", "dx": -5 if right else 5}
        layers.append(mark.mark_rule(color=VERMILION, strokeDash=[5, 4]))
        words = mark.mark_text(color=FADED, baseline="top", fontSize=12, **side)
        layers.append(words.encode(y=alt.value(4), text="words:N"))
    said = f"A false positive costs {number(costs[0], 3)}, a false negative {number(costs[1], 3)}"
    title = alt.TitleParams("Mean cost by threshold", subtitle=said)
    return styled(alt.layer(*layers).properties(title=title, width=width, height=260))


def cost_by_threshold(
    y: Any, probability: Any, costs: tuple[float, float], sample_weight: Any = None, steps: int = 101
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return thresholds from 0 to 1 and the mean cost of a row at each.

    >>> at, cost = cost_by_threshold([0, 1], [0.4, 0.6], (1.0, 5.0), steps=3)
    >>> at.tolist(), cost.tolist()
    ([0.0, 0.5, 1.0], [0.5, 0.0, 2.5])
    """
    truth = as_labels(y, "y")
    labels = np.unique(truth)
    if len(labels) != 2:
        raise DataError(
            f"a threshold separates two classes, and y has {len(labels)}: take one against the rest."
        )
    chance = np.asarray(probability, dtype=np.float64)
    door.inside_unit(chance)
    given = door.weights(sample_weight, len(truth))
    weight = np.ones(len(truth)) if given is None else given
    at, upper = np.linspace(0, 1, steps), truth == labels[-1]
    order = np.argsort(chance, kind="stable")
    below = np.searchsorted(chance[order], at, side="left")  # rows whose probability is under the threshold
    missed = np.r_[0.0, np.cumsum((weight * upper)[order])][below]
    spared = np.r_[0.0, np.cumsum((weight * ~upper)[order])][below]
    false_alarms = (weight * ~upper).sum() - spared
    return at, (costs[0] * false_alarms + costs[1] * missed) / weight.sum()
