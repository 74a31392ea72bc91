"""L-BFGS on any function: BFGS that remembers a few steps in place of a matrix, by the two-loop recursion."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.first_order.lbfgs import Step, two_loops
from surefit.solvers.methods.base import EPS, Method, Move, dot, whole
from surefit.solvers.methods.line import Line
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs


class LimitedMemoryBfgs(Method):
    """Quasi-Newton steps from the last ``memory`` steps; for more variables than a matrix is kept for.

    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> f, slope = lambda x: 0.25 * np.sum((x - 1) ** 4), lambda x: (x - 1) ** 3
    >>> LimitedMemoryBfgs().solve(FunctionObjective(f, np.zeros(1000), gradient=slope)).holds
    True
    """

    name = "lbfgs"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("quadratic",))
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def __init__(self, *, memory: int = 10, **options: Any) -> None:
        super().__init__(**options)
        if not memory >= 1:
            raise ParameterError(f"memory is {memory}: remember at least one step.")
        self.memory = memory

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        steps: deque[Step] = deque(maxlen=self.memory)
        here = whole(objective, x)
        while True:
            line = Line(objective, x, -two_loops(here.gradient, steps), here)
            found = line.strong_wolfe(1.0 if steps else 1.0 / max(float(np.linalg.norm(here.gradient)), 1.0))
            if found is None:
                if not steps:
                    return
                steps.clear()  # once more, along the gradient alone
                continue
            s, new = found.step * line.direction, line.at(found.step)
            y = new.gradient - here.gradient
            if dot(s, y) > EPS * np.linalg.norm(s) * np.linalg.norm(y):
                steps.append(Step(s, y, 1.0 / dot(s, y)))
            x, here = x + s, new
            yield x, found.step
