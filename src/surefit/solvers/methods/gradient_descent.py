r"""Gradient descent: :math:`x^+ = x - t \nabla f(x)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.solvers.base import Needs
from surefit.solvers.methods.base import Method, Move, whole
from surefit.solvers.methods.step_sizes import StepSize, StepSizes, check_step
from surefit.solvers.objective import Objective

Array = NDArray[np.float64]


class GradientDescent(Method):
    """Steps down the slope, as long as ``step`` says: a number, a schedule, a line search.

    With a fixed step below 2 / L it converges, L being the greatest curvature; at 2 / L it swings for ever,
    and beyond it diverges.

    >>> from surefit.solvers.function import FunctionObjective
    >>> objective = FunctionObjective(lambda x: (x[0] - 3) ** 2, [0.0], gradient=lambda x: 2 * (x - 3))
    >>> GradientDescent(step=0.25, max_iter=2).solve(objective).x
    array([2.25])
    """

    name = "gradient_descent"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("quadratic",))

    def __init__(self, *, step: StepSize = "barzilai_borwein", **options: Any) -> None:
        super().__init__(**options)
        check_step(step)
        self.step = step

    def _steps(self, objective: Objective, x: Array) -> Iterator[Move]:
        sizes = StepSizes(self.step, objective)
        while True:
            here = whole(objective, x)
            step = sizes.along(x, here, -here.gradient)
            if step is None:
                return
            x = x - step * here.gradient
            yield x, step
