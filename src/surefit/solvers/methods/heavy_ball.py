r"""Heavy ball: :math:`x^+ = x - t \nabla f(x) + \beta (x - x^-)`: each step keeps a share of the last one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import Method, Move, whole
from surefit.solvers.methods.lipschitz import smoothness_near
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs


class HeavyBall(Method):
    r"""Gradient steps with momentum.

    On a quadratic with curvatures from m to L, the best pair is
    :math:`t = 4 / (\sqrt L + \sqrt m)^2` and :math:`\beta = ((\sqrt L - \sqrt m) / (\sqrt L + \sqrt m))^2`.
    Without a ``step``, it is 1 over the curvature at the start.

    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> f, slope = lambda x: 0.5 * x[0] ** 2 + 50 * x[1] ** 2, lambda x: x * [1.0, 100.0]
    >>> solver = HeavyBall(step=4 / 121, momentum=(9 / 11) ** 2)
    >>> solver.solve(FunctionObjective(f, [10.0, 1.0], gradient=slope)).iterations < 100
    True
    """

    name = "heavy_ball"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("quadratic",))
    falls: ClassVar[bool] = False

    def __init__(self, *, step: float | None = None, momentum: float = 0.9, **options: Any) -> None:
        super().__init__(**options)
        if not 0 <= momentum < 1 or (step is not None and not step > 0):
            raise ParameterError("momentum must be in [0, 1) and step positive, or None.")
        self.step, self.momentum = step, momentum

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        step = 1.0 / smoothness_near(objective, x) if self.step is None else self.step
        last = x
        while True:
            x, last = x - step * whole(objective, x).gradient + self.momentum * (x - last), x
            yield x, step
