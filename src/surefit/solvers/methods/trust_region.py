r"""The trust-region method: the second-order model is minimised in a ball, as large as the model is good.

.. math:: p = \arg\min_{\|p\| \le r} \; g'p + \tfrac12 p'Hp, \qquad
          \rho = \frac{f(x) - f(x + p)}{-(g'p + \tfrac12 p'Hp)}

A step with :math:`\rho` near 1 lets the ball grow, one with :math:`\rho` near 0 halves it and is not taken. H
need not be positive definite: the minimiser in a ball always exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg, optimize

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import EPS, Method, Move, whole
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs

TAKEN, GOOD = 1e-4, 0.75  # shares of the predicted fall from which a step is taken, and the ball may grow
POOR = 0.25
SHRINK, GROW = 0.25, 2.0


class TrustRegion(Method):
    """Steps to the model's minimum in a ball of ``radius``, which follows how well the model predicts.

    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> rosenbrock = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    >>> TrustRegion(tolerance=1e-9).solve(FunctionObjective(rosenbrock, [-1.2, 1.0])).x.round(6)
    array([1., 1.])
    """

    name = "trust_region"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("quadratic",))
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def __init__(self, *, radius: float = 1.0, **options: Any) -> None:
        super().__init__(**options)
        if not (np.isfinite(radius) and radius > 0):
            raise ParameterError(f"radius is {radius!r}: give a positive number.")
        self.radius = radius

    def _refusal(self, objective: Objective) -> str | None:
        return None if objective.outputs is None else f"solver {self.name!r} supports a single output."

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        radius, here = float(self.radius), whole(objective, x, 2)
        while np.isfinite(here.hessian).all():
            p = step_in_ball(here.hessian, here.gradient, radius)
            predicted = -float(here.gradient @ p + 0.5 * p @ here.hessian @ p)
            length, least = float(np.linalg.norm(p)), EPS * max(abs(here.value), objective.scale)
            if not predicted > 0:
                return
            fall = here.value - whole(objective, x + p, 0).value
            # A fall below what rounding can tell says nothing: near the minimum the model is believed.
            share = 1.0 if predicted <= least and fall >= -least else fall / predicted
            if not share >= POOR:
                radius = SHRINK * length
            elif share > GOOD and length > 0.9 * radius:
                radius *= GROW
            if share > TAKEN:
                x = x + p
                here = whole(objective, x, 2)
            elif radius <= EPS * float(np.linalg.norm(x)):
                return
            yield x, length


def step_in_ball(H: Matrix, g: Vector, radius: float) -> Vector:
    """Return the p of length at most ``radius`` with the least g'p + p'Hp/2, whatever the signs of H.

    >>> step_in_ball(np.diag([2.0, 4.0]), np.array([-2.0, -4.0]), 9.0)
    array([1., 1.])
    >>> np.abs(step_in_ball(np.diag([-1.0, 1.0]), np.zeros(2), 3.0))
    array([3., 0.])
    """
    values, axes = linalg.eigh(H)
    slopes = axes.T @ g
    size = float(np.abs(values).max(initial=0.0))
    floor = max(0.0, -float(values[0]))
    inside = values[0] > len(g) * EPS * size
    if inside and np.linalg.norm(slopes / values) <= radius:
        return np.asarray(axes @ (-slopes / values))

    def length(shift: float) -> float:
        return float(np.linalg.norm(slopes / (values + shift)))

    tiny = max(
        EPS * max(size, 1e-300), float(np.linalg.norm(slopes)) / radius * EPS, float(np.finfo(float).tiny)
    )
    low, high = floor + tiny, floor + float(np.linalg.norm(slopes)) / radius + tiny
    if length(low) < radius:  # the hard case: along the lowest axis the model falls whichever way
        p = -slopes / (values + low)
        left = np.sqrt(max(radius**2 - float(p @ p), 0.0))
        p[0] += left if slopes[0] <= 0 else -left
        return np.asarray(axes @ p)
    shift = optimize.brentq(lambda s: 1.0 / radius - 1.0 / length(s), low, high, xtol=0.0 + 4 * tiny)
    return np.asarray(axes @ (-slopes / (values + shift)))
