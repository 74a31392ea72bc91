"""An objective along a line, with the points seen so far."""

from __future__ import annotations

from surefit.core.arrays import Vector
from surefit.solvers.first_order.wolfe_line_search import Along, strong_wolfe
from surefit.solvers.methods.base import dot, whole
from surefit.solvers.objective.base import At, Objective


class Line:
    """x + t d, for one search.

    >>> import numpy as np
    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> objective = FunctionObjective(lambda x: x @ x, [2.0], gradient=lambda x: 2 * x)
    >>> line = Line(objective, np.array([2.0]), np.array([-4.0]), objective.at(np.array([2.0])))
    >>> line.phi(0.5)
    (0.0, 0.0)
    """

    def __init__(self, objective: Objective, x: Vector, direction: Vector, here: At) -> None:
        self.objective, self.x, self.direction, self.here = objective, x, direction, here
        self._seen: dict[float, At] = {0.0: here}

    def at(self, step: float) -> At:
        """Return value and gradient at a step."""
        if step not in self._seen:
            self._seen[step] = whole(self.objective, self.x + step * self.direction)
        return self._seen[step]

    def phi(self, step: float) -> tuple[float, float]:
        """Return value and slope along the line."""
        here = self.at(step)
        return here.value, dot(here.gradient, self.direction)

    def strong_wolfe(self, first: float = 1.0) -> Along | None:
        """Return a step that meets the strong Wolfe conditions; None where the line does not lead down."""
        value, slope = self.phi(0.0)
        return strong_wolfe(self.phi, value, slope, first) if slope < 0 else None
