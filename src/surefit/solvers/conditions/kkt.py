"""The five conditions of Karush, Kuhn and Tucker at a point with multipliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefit.solvers.conditions.lagrangian import lagrangian_gradient
from surefit.solvers.conditions.problem import ConstrainedProblem


@dataclass(frozen=True, slots=True)
class KKTResiduals:
    """By how much each condition fails, each the largest entry of its kind."""

    stationarity: float  # ∇f + u'∇g + v'∇h
    equalities: float  # |h|
    inequalities: float  # what of g is above 0
    multipliers: float  # what of u is below 0
    slackness: float  # |u g|

    @property
    def largest(self) -> float:
        """The largest of the five."""
        return max(self.stationarity, self.equalities, self.inequalities, self.multipliers, self.slackness)

    def hold(self, tolerance: float = 1e-8) -> bool:
        """Whether all five are within the tolerance: then x is optimal if the problem is convex."""
        return self.largest <= tolerance


def kkt_residuals(
    problem: ConstrainedProblem, x: ArrayLike, u: ArrayLike | None = None, v: ArrayLike | None = None
) -> KKTResiduals:
    """Measure the conditions; multipliers u of inequalities must be 0 or more, v are free.

    >>> nearest = ConstrainedProblem(lambda x: x @ x, lambda x: 4 - 2 * x[0] - 2 * x[1])
    >>> kkt_residuals(nearest, [1.0, 1.0], [1.0]).hold()
    True
    """
    point = np.atleast_1d(np.array(x, dtype=np.float64))
    prices, _ = problem.prices(u, v, point)
    above = problem.above(point)
    return KKTResiduals(
        float(np.abs(lagrangian_gradient(problem, point, u, v)).max()),
        float(np.abs(problem.off(point)).max(initial=0.0)),
        float(above.max(initial=0.0)),
        float(-prices.min(initial=0.0)),
        float(np.abs(prices * above).max(initial=0.0)),
    )
