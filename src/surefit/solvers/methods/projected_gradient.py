r"""Projected gradient: :math:`x^+ = P_C(x - t \nabla f(x))`; with any penalty in place of a set, its prox."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import EPS, Method, Move, dot
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs

HALVINGS, ENOUGH, GROWTH, MEMORY = 100, 1e-4, 2.0, 10


class ProjectedGradient(Method):
    """Steps along minus the gradient, projected to the set; every point is feasible.

    A fixed ``step`` is taken as it is. Without one, steps follow the curvature that the last one met, and are
    halved until the objective falls below the highest of the last few values.

    >>> from surefit.penalties import L2Ball
    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> far = FunctionObjective(lambda x: (x - [3, 4]) @ (x - [3, 4]), [0.0, 0.0], penalty=L2Ball(1.0))
    >>> ProjectedGradient().solve(far).x.round(6)
    array([0.6, 0.8])
    """

    name = "projected_gradient"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("prox",))

    def __init__(self, *, step: float | None = None, **options: Any) -> None:
        super().__init__(**options)
        if step is not None and not step > 0:
            raise ParameterError("step must be positive, or None to choose it by itself.")
        self.step = step

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        g = objective.at(x, 1).gradient
        step = self.step or max(float(np.linalg.norm(x)), 1.0) / max(float(np.linalg.norm(g)), 1e-300)
        values = [objective.value(x)]
        while True:
            new = objective.prox(x - step * g, step)
            if self.step is None:
                for _ in range(HALVINGS):
                    d = new - x
                    room = ENOUGH * dot(d, d) / step
                    if objective.value(new) <= max(values) - room + 4 * EPS * abs(max(values)):
                        break
                    step *= 0.5
                    new = objective.prox(x - step * g, step)
                else:
                    return
            slope = objective.at(new, 1).gradient
            s, y = new - x, slope - g
            values = [*values[1 - MEMORY :], objective.value(new)]
            taken = step
            if self.step is None:
                step = dot(s, s) / dot(s, y) if dot(s, y) > EPS * dot(s, s) else GROWTH * step
            x, g = new, slope
            yield x, taken
