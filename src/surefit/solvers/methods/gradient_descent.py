r"""Gradient descent: :math:`x^+ = x - t \nabla f(x)`.

How far to go along a direction: fixed, by schedule, exact, by Armijo's condition, or by the last step.

Barzilai and Borwein's step is the curvature that the last step met: :math:`t = s's / s'y` with s the last
step and y the change of the gradient along it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.first_order.backtracking import backtracking
from surefit.solvers.first_order.exact_line_search import exact_step
from surefit.solvers.methods.base import Method, Move, dot, whole
from surefit.solvers.objective.base import At, Objective
from surefit.solvers.objective.solver import Needs

Rule = Literal["armijo", "exact", "barzilai_borwein"]
StepSize = float | Rule | Sequence[float] | Callable[[int], float]

MEMORY = 10  # values that a Barzilai-Borwein step may rise to: it is not a method of descent
GROWTH = 2.0  # of the first step that Armijo's rule tries, over the last one taken


class StepSizes:
    """Chooses steps along minus the gradient, remembering what it must."""

    def __init__(self, size: StepSize, objective: Objective) -> None:
        self.size, self.objective = size, objective
        self.count = 0
        self.last = 1.0
        self.values: list[float] = []
        self.before: tuple[Vector, Vector] | None = None

    def along(self, x: Vector, here: At, direction: Vector) -> float | None:
        """Return the step to take from x; None where none helps."""
        self.count += 1
        slope = dot(here.gradient, direction)
        if callable(self.size):
            return float(self.size(self.count))
        if self.size == "exact":
            return self._exact(x, direction, slope)
        if self.size == "armijo":
            return self._armijo(x, here.value, direction, slope, GROWTH * self.last)
        if self.size == "barzilai_borwein":
            return self._barzilai_borwein(x, here, direction, slope)
        if isinstance(self.size, (int, float)):
            return float(self.size)
        steps = [float(step) for step in self.size]
        return steps[min(self.count, len(steps)) - 1]

    def _exact(self, x: Vector, direction: Vector, slope: float) -> float | None:
        def slope_at(t: float) -> float:
            return dot(whole(self.objective, x + t * direction).gradient, direction)

        found = exact_step(slope_at, slope, self.last) if slope < 0 else None
        self.last = found or self.last
        return found

    def _armijo(self, x: Vector, value: float, direction: Vector, slope: float, first: float) -> float | None:
        if not slope < 0:
            return None
        found = backtracking(lambda t: whole(self.objective, x + t * direction, 0).value, value, slope, first)
        self.last = found or self.last
        return found

    def _barzilai_borwein(self, x: Vector, here: At, direction: Vector, slope: float) -> float | None:
        first = self.last
        if self.before is not None:
            s, y = x - self.before[0], here.gradient - self.before[1]
            turned = dot(s, y)
            first = dot(s, s) / turned if turned > 0 else GROWTH * self.last
        self.before = x, here.gradient
        self.values = [*self.values[1 - MEMORY :], here.value]
        return self._armijo(x, max(self.values), direction, slope, first)


def check_step(size: StepSize) -> None:
    """Refuse what is no step size."""
    named = size in ("armijo", "exact", "barzilai_borwein") if isinstance(size, str) else True
    positive = size > 0 if isinstance(size, (int, float)) else True
    if not (named and positive):
        raise ParameterError(
            f"step is {size!r}: give a positive number, a list of them, a function of the iteration, "
            "or 'armijo', 'exact' or 'barzilai_borwein'."
        )


class GradientDescent(Method):
    """Steps along minus the gradient; ``step`` is a number, a schedule or a line search.

    With a fixed step below 2 / L it converges, L being the greatest curvature; at 2 / L it oscillates,
    and beyond it diverges.

    >>> from surefit.solvers.objective.function import FunctionObjective
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

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        sizes = StepSizes(self.step, objective)
        while True:
            here = whole(objective, x)
            step = sizes.along(x, here, -here.gradient)
            if step is None:
                return
            x = x - step * here.gradient
            yield x, step
