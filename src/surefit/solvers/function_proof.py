r"""What can be proved of a point of a function and a penalty, from one gradient there.

Where f is declared convex, its tangent lies below it, bent by the strong convexity :math:`\mu \ge 0`:

.. math:: F(x) - \min F \le \max_y \; g'(x - y) - \tfrac\mu2 \|x - y\|^2 + pen(x) - pen(y) .

For :math:`\mu > 0` the maximiser is a proximal step of length :math:`1 / \mu`; for :math:`\mu = 0` the
maximum is :math:`g'x + pen(x) + pen^*(-g)`, finite over a bounded set. Elsewhere what is measured is the
length of a proximal gradient step, 0 exactly at points that are stationary. Both are relative to the start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.solvers.conditions.optimality import first_order_residual
from surefit.solvers.function import FunctionObjective

Array = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)


def certificate(objective: FunctionObjective, x: Array, tolerance: float) -> Certificate:
    """Certify a point: optimal within a bound where one is finite, else stationary.

    >>> from surefit.solvers.function import Shape
    >>> shape = Shape(convex=True, strong_convexity=2.0)
    >>> objective = FunctionObjective(lambda x: x @ x, [3.0], gradient=lambda x: 2 * x, shape=shape)
    >>> round(certificate(objective, np.array([1e-3]), 1e-6).parts["gap"], 9)
    1e-06
    """
    value = objective.value(x)
    from_start = gap_bound(objective, objective.start)
    if np.isfinite(from_start):
        gap = gap_bound(objective, x)
        size = max(from_start, EPS * abs(objective.value(objective.start)), TINY)
        parts = {"objective": value, "gap": gap, "scale": size}
        return Certificate("optimal", "gap over that of the start", gap / size, tolerance, parts)
    first, size = residual(objective, objective.start), _least_slope(objective)
    left = residual(objective, x)
    parts = {"objective": value, "residual": left, "scale": max(first, size)}
    return Certificate("stationary", _measure(objective), left / parts["scale"], tolerance, parts)


def gap_bound(objective: FunctionObjective, x: Array) -> float:
    """Return a bound of how far F(x) is above its minimum; infinite where there is none."""
    shape, penalty = objective.loss, objective.penalty
    here = objective.at(x, 1)
    g, own = here.gradient, objective.penalised(x)
    if not (shape.convex and penalty.convex and np.isfinite(own) and np.isfinite(g).all()):
        return np.inf
    bound, bend = np.inf, float(getattr(shape, "strong_convexity", 0.0))
    if bend > 0:
        y = np.asarray(penalty.prox(x - g / bend, 1.0 / bend))
        d = x - y
        bound = float(g @ d) - 0.5 * bend * float(d @ d) + own - float(penalty.value(y))
    if penalty.offers("conjugate"):
        bound = min(bound, float(g @ x) + own + float(penalty.conjugate(-g)))
    return max(bound, 0.0)


def residual(objective: FunctionObjective, x: Array) -> float:
    """Return the length of a proximal gradient step at x, over its step: without a penalty, the slope's."""
    g = objective.at(x, 1).gradient
    if not np.isfinite(g).all():
        return np.inf
    return first_order_residual(x, g, objective.penalty, _unit_step(objective))


def _unit_step(objective: FunctionObjective) -> float:
    """A step that moves the start about as far as it is from the origin."""
    slope = float(np.linalg.norm(objective.at(objective.start, 1).gradient))
    return max(float(np.linalg.norm(objective.start)), 1.0) / slope if slope > 0 else 1.0


def _least_slope(objective: FunctionObjective) -> float:
    """Below this a slope is lost in the rounding of values; for a start that is stationary already."""
    size = max(float(np.linalg.norm(objective.start)), 1.0)
    return max(float(EPS**0.5) * abs(objective.value(objective.start)) / size, TINY)


def _measure(objective: FunctionObjective) -> str:
    free = objective.penalty.name == "none"
    return f"{'gradient' if free else 'proximal step'} over that of the start"
