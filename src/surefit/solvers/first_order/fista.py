r"""Accelerated proximal gradient descent (FISTA): steps from a point ahead of the last one.

.. math:: y = x_k + \beta_k (x_k - x_{k-1})

The momentum grows as long as it helps, and starts afresh once it points uphill.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.solvers.first_order.proximal_gradient import Metric, ProximalGradient, Step


class Fista(ProximalGradient):
    """Proximal gradient steps with momentum; for any smooth loss and any penalty with a proximal step.

    >>> from surefit.losses import Squared
    >>> from surefit.penalties import L1
    >>> from surefit.solvers.objective.base import Objective
    >>> objective = Objective.of_arrays([[0.0], [2.0]], [1.0, 3.0], Squared(), L1(0.5))
    >>> Fista().solve(objective).x.round(4)
    array([0.5, 1.5])
    """

    name = "fista"

    def _ahead(self, metric: Metric) -> Any:
        """Return the momentum."""
        return Momentum(metric)


class Momentum:
    """How far ahead to look, from the steps so far."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._count = 1.0
        self._step = 0.0

    def __call__(self, x: Vector, y: Vector, found: Step) -> Vector:
        """Return the next point to step from: that of the last step was y, and x the one before."""
        forward = found.x - x
        if self._metric.inner(y - found.x, forward) > 0:  # the step went against the momentum
            self._count, self._step = 1.0, found.step
            return found.x
        # A longer step makes the count grow more slowly, a shorter one faster.
        ratio = self._step / found.step if self._step > 0 else 1.0
        count = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * ratio * self._count**2))
        share = (self._count - 1.0) / count
        self._count, self._step = count, found.step
        return np.asarray(found.x + share * forward)
