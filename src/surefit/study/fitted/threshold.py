"""The probability from which on to say yes, for what the two kinds of mistakes cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError, RefusalError
from surefit.study.record import ThresholdRecord

Costs = tuple[float, float]  # of a false positive and of a false negative


def check_costs(costs: Any) -> Costs | None:
    """The costs of a false positive and of a false negative, refused unless they are two such numbers."""
    if costs is None:
        return None
    try:
        one, two = (float(cost) for cost in costs)
    except (TypeError, ValueError):
        raise ParameterError(
            f"costs={costs!r} must be two numbers: of a false positive and of a false negative."
        ) from None
    if not (0 <= one < np.inf and 0 <= two < np.inf and one + two > 0):
        raise ParameterError(f"costs={costs!r} must not be negative, and not both zero.")
    return one, two


def best_threshold(
    positive: Any,
    truth: NDArray[Any],
    probability: Vector | None,
    folds: NDArray[Any],
    costs: Costs,
    weight: Vector | None = None,
) -> ThresholdRecord:
    """Choose the threshold of least cost for rows left out, and say what it costs.

    The cost stated is not that of the rows that the threshold was chosen on: each fold's rows are judged by
    the threshold that is best for all others.

    >>> truth = np.array(["no", "no", "yes", "yes"] * 2)
    >>> share = np.array([0.1, 0.4, 0.3, 0.8] * 2)
    >>> found = best_threshold("yes", truth, share, np.repeat([0, 1], 4), (1.0, 3.0))
    >>> found.value, found.cost, found.cost_at_half
    (0.3, 0.25, 0.75)
    """
    if probability is None:
        raise RefusalError(
            "the model chosen gives no probabilities, so that costs cannot move a threshold: leave them out, "
            "or choose by a metric of probabilities, such as log_loss."
        )
    yes = truth == positive
    mass = np.ones(len(yes)) if weight is None else weight
    cost = 0.0
    for fold in np.unique(folds):
        out = folds == fold
        cut = _cheapest(yes[~out], probability[~out], mass[~out], costs)
        cost += _cost(yes[out], probability[out], mass[out], cut, costs)
    whole = _cheapest(yes, probability, mass, costs)
    half = _cost(yes, probability, mass, 0.5, costs)
    return ThresholdRecord(str(positive), whole, *costs, cost / float(mass.sum()), half / float(mass.sum()))


def _cost(yes: NDArray[Any], probability: Vector, mass: Vector, cut: float, costs: Costs) -> float:
    said = probability >= cut
    return float(costs[0] * mass[said & ~yes].sum() + costs[1] * mass[~said & yes].sum())


def _cheapest(yes: NDArray[Any], probability: Vector, mass: Vector, costs: Costs) -> float:
    """The probability, among those that occur, from which on yes is cheapest; above all to say no."""
    order = np.argsort(-probability, kind="stable")
    ranked, hits = probability[order], np.where(yes[order], mass[order], 0.0)
    saved = np.cumsum(costs[1] * hits - costs[0] * (mass[order] - hits))
    last = np.append(ranked[1:] != ranked[:-1], True)  # rows of one probability go together
    saved = np.where(last, saved, -np.inf)
    best = int(np.argmax(saved))
    return float(ranked[best]) if saved[best] > 0 else 1.0
