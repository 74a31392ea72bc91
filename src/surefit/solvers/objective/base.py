"""What a solver minimises: mean loss plus penalty, with a proof of how far a point is from the best."""

from __future__ import annotations

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.solvers.objective.gap import certificate
from surefit.solvers.objective.mean_loss import At, MeanLoss

__all__ = ["At", "Objective"]


class Objective(MeanLoss):
    """Source, engine, loss, penalty and intercept bound together; the only thing that a solver sees.

    >>> import numpy as np
    >>> from surefit.losses import Squared
    >>> from surefit.penalties import L2
    >>> objective = Objective.of_arrays([[0.0], [2.0]], [1.0, 3.0], Squared(), L2(0.5))
    >>> objective.certificate(np.zeros(2), 1e-6).holds
    False
    """

    def certificate(self, w: Vector, tolerance: float, slopes: Vector | None = None) -> Certificate:
        """Bound how far a packed point is from the minimum; see :mod:`surefit.solvers.objective.gap`."""
        return certificate(self, w, tolerance, slopes)
