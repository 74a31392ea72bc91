"""Directions that do not bend, along which a loss that is not convex may fall for a long way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.solvers.decrement import NEARLY, bent_axes
from surefit.solvers.objective import Objective
from surefit.solvers.offset import SecondDerivatives

Array = NDArray[np.float64]

LENGTHS = 10.0 ** np.arange(-3, 9, 0.5)  # in units where columns bend by 1
FELL = 1e-8  # of the objective: what is worth another round


def lower_along_flat(objective: Objective, w: Array) -> Array | None:
    """Go along directions of no curvature, however far that leads down; None where it does not.

    Nearly dependent columns have such directions: a slope of next to nothing may fall for a long way.
    """
    second = SecondDerivatives(objective)
    found = bent_axes(objective, second, w)
    if found is None:
        return None
    start, lowest = second.inner(w), second.at(second.inner(w), 1).value + objective.penalised(w)
    best, enough = None, lowest - FELL * abs(lowest)
    for k in np.flatnonzero(found.flat(NEARLY)):
        down = -np.sign(found.slopes[k]) * found.axes[:, k]
        for length in LENGTHS if found.slopes[k] else ():
            there = start + length * down
            value = second.at(there, 1).value + objective.penalised(there)
            if value < min(lowest, enough):
                best, lowest = there, value
    return None if best is None else second.outer(best)
