r"""Newton's method, pure or damped: :math:`x^+ = x - t \, (H + \mu I)^{-1} \nabla f(x)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.solvers.first_order.backtracking import backtracking
from surefit.solvers.methods.base import EPS, Method, Move, whole
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs

LEAST, MOST, GROWTH = 1e-8, 1e16, 10.0  # of the damping, relative to the Hessian


class DampedNewton(Method):
    r"""Steps to the minimum of the second-order model.

    damping: ``auto`` grows :math:`\mu` until :math:`H + \mu I` is positive definite; a number is added.
    line_search: shorten the step until it falls enough. ``damping=0`` with ``line_search=False`` is the pure
    method: one step on a quadratic, quadratic convergence near a minimum, and no promise elsewhere.

    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> f = lambda x: x[0] ** 2 + x[0] * x[1] + 3 * x[1] ** 2 - 7 * x[1]
    >>> objective = FunctionObjective(f, [5.0, 5.0], hessian=lambda x: np.array([[2.0, 1.0], [1.0, 6.0]]))
    >>> DampedNewton(damping=0, line_search=False).solve(objective).iterations
    1
    """

    name = "newton"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("quadratic",))
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def __init__(
        self, *, damping: float | Literal["auto"] = "auto", line_search: bool = True, **options: Any
    ) -> None:
        super().__init__(**options)
        if damping != "auto" and not (isinstance(damping, (int, float)) and damping >= 0):
            raise ParameterError(f"damping is {damping!r}: give 'auto', or a number of 0 or more.")
        self.damping, self.line_search = damping, line_search
        self.falls = line_search  # type: ignore[misc]

    def _refusal(self, objective: Objective) -> str | None:
        return None if objective.outputs is None else f"solver {self.name!r} supports a single output."

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        while True:
            here = whole(objective, x, 2)
            direction = self._direction(here.hessian, here.gradient)
            if direction is None:
                return
            step: float | None = 1.0
            if self.line_search:
                step = _shortened(objective, x, direction, here.value, float(here.gradient @ direction))
            if step is None:
                return
            x = x + step * direction
            yield x, step

    def _direction(self, H: Matrix, g: Vector) -> Vector | None:
        """Return the model's minimiser, relative to x; None where the matrix does not determine it."""
        if not np.isfinite(H).all():
            return None
        if self.damping != "auto":
            try:
                moved = linalg.solve(H + float(self.damping) * np.eye(len(g)), -g, assume_a="sym")
            except (linalg.LinAlgError, ValueError):
                return None
            return np.asarray(moved)
        size = max(float(np.abs(H).max(initial=0.0)), float(np.finfo(float).tiny))
        mu = 0.0
        while mu <= MOST:
            try:
                factor = linalg.cho_factor(H + mu * size * np.eye(len(g)), check_finite=False)
            except linalg.LinAlgError:
                mu = max(GROWTH * mu, LEAST)
                continue
            if np.diagonal(factor[0]).min() ** 2 <= 16 * len(g) * EPS * size:  # singular up to rounding
                mu = max(GROWTH * mu, LEAST)
                continue
            return -np.asarray(linalg.cho_solve(factor, g, check_finite=False))
        return None


def _shortened(
    objective: Objective, x: Vector, direction: Vector, value: float, slope: float
) -> float | None:
    """Return a step that falls enough, or a full one where values differ by rounding alone."""
    if not slope < 0:
        return None
    if -slope <= EPS * max(abs(value), objective.scale):
        return 1.0
    return backtracking(lambda t: whole(objective, x + t * direction, 0).value, value, slope)
