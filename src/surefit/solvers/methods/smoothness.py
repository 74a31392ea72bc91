"""The greatest curvature of a function around a point, by power iterations on differences of gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.solvers.methods.base import dot, whole
from surefit.solvers.objective import Objective

Array = NDArray[np.float64]

ROUNDS = 20
APART = 1e-5  # how far apart the gradients are taken, relative to the point
SAFETY = 1.1


def smoothness_near(objective: Objective, x: Array) -> float:
    """Return what the loss declares, or an estimate of the curvature at x, a little above.

    >>> from surefit.solvers.function import FunctionObjective
    >>> bowl = FunctionObjective(lambda x: 2 * x @ x, [1.0, 1.0], gradient=lambda x: 4 * x)
    >>> round(smoothness_near(bowl, np.ones(2)), 6)
    4.4
    """
    declared = getattr(objective.loss, "smoothness", None)
    if declared is not None and not objective.tabular:
        return float(declared)
    g = whole(objective, x).gradient
    direction = np.random.default_rng(0).normal(size=x.shape)
    length = APART * max(float(np.linalg.norm(x)), 1.0)
    bend = 0.0
    for _ in range(ROUNDS):
        direction = direction / np.linalg.norm(direction)
        turned = (whole(objective, x + length * direction).gradient - g) / length
        found = abs(dot(turned, direction))
        if not np.linalg.norm(turned) > 0 or abs(found - bend) <= 1e-3 * found:
            bend = max(found, bend)
            break
        bend, direction = found, turned
    return SAFETY * bend if bend > 0 else 1.0
