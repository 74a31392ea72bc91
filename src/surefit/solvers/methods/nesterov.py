r"""Nesterov's acceleration: gradient steps from a point ahead, :math:`y = x + \beta (x - x^-)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import Method, Move, dot, whole
from surefit.solvers.methods.lipschitz import smoothness_near
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs


class Nesterov(Method):
    r"""The gap falls as :math:`2L \|x_0 - x^*\|^2 / (k + 1)^2`, where gradient descent's falls as 1/k.

    The momentum grows as :math:`(k - 1) / (k + 2)`. ``restart=True`` begins it anew when it points uphill,
    which makes the rate linear on strongly convex functions. Without a ``step``, it is 1 over the curvature
    at the start, halved whenever the function curves more.

    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> f, slope = lambda x: 0.5 * x[0] ** 2 + 50 * x[1] ** 2, lambda x: x * [1.0, 100.0]
    >>> Nesterov().solve(FunctionObjective(f, [10.0, 1.0], gradient=slope)).holds
    True
    """

    name = "nesterov"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("quadratic",))
    falls: ClassVar[bool] = False

    def __init__(self, *, step: float | None = None, restart: bool = True, **options: Any) -> None:
        super().__init__(**options)
        if step is not None and not step > 0:
            raise ParameterError("step must be positive, or None to choose it by itself.")
        self.step, self.restart = step, restart

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        step = 1.0 / smoothness_near(objective, x) if self.step is None else self.step
        count, ahead = 1, x
        while True:
            here = whole(objective, ahead)
            new = ahead - step * here.gradient
            while self.step is None and not _below(objective, here.value, ahead, here.gradient, new, step):
                step *= 0.5
                new = ahead - step * here.gradient
            if self.restart and dot(here.gradient, new - x) > 0:
                count = 1
            count += 1
            ahead = new + (count - 2) / (count + 1) * (new - x)
            x = new
            yield x, step


def _below(
    objective: Objective, value: float, ahead: Vector, gradient: Vector, new: Vector, step: float
) -> bool:
    """Whether the function stays below the parabola that the step is made for, up to rounding."""
    moved = new - ahead
    room = dot(moved, moved) / (2 * step)
    found = whole(objective, new, 0).value
    return step < 1e-300 or bool(found <= value + dot(gradient, moved) + room + 1e-14 * abs(value))
