r"""The mode of a normal posterior within constraints, with the multipliers that prove it.

.. math:: \min_w \tfrac12 (w - m)' S (w - m), \qquad l \le w \le u, \quad w_a \le w_b \text{ along each group}

With multipliers that leave a slope r unbalanced and are off by a slack s, no point of the set is lower by
more than :math:`s + \tfrac12 r' S^{-1} r`: the duality gap, for which nothing has to be solved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.solvers.squares.active_set import ConstrainedQuadratic
from surefit.solvers.squares.level_limits import LevelLimits


@dataclass(frozen=True, slots=True)
class Quadratic:
    """A convex quadratic: its minimiser m, its Hessian S, and R with RR' the inverse of S.

    scale: what gaps are measured by, in the units of the quadratic.
    """

    mean: Vector
    precision: Matrix
    root: Matrix
    scale: float

    def minimise_within(self, limits: LevelLimits) -> Vector:
        """Return the minimiser within the set."""
        size = np.sqrt(np.diagonal(self.precision))
        right_side = self.precision @ self.mean
        energy = float(np.sum(size * np.abs(self.mean)) ** 2)
        problem = ConstrainedQuadratic(self.precision, right_side, energy, limits)
        return problem.coef(problem.solve(0.0, self.mean))

    def misfit(self, right_side: Vector) -> float:
        """Return how far S m is from a right side, and S RR' from one, in columns of length one."""
        size = np.sqrt(np.diagonal(self.precision))
        if not len(size):
            return 0.0
        reach = float(np.abs(right_side / size).max()) + float(size @ np.abs(self.mean))
        off = float(np.abs((right_side - self.precision @ self.mean) / size).max()) / (reach or 1.0)
        whitened = (self.precision @ self.root) / size[:, None]
        identity = whitened @ (self.root.T * size) - np.eye(len(size))
        condition = float(np.linalg.norm(whitened) * np.linalg.norm(self.root * size[:, None]))
        return max(off, float(np.abs(identity).max()) / max(condition, 1.0))

    def proof(self, limits: LevelLimits, w: Vector, unit: float = 1.0) -> Proof:
        """Prove that a point is the minimiser within the set; multipliers are given times ``unit``."""
        slope = self.precision @ (w - self.mean)
        lower, upper, order = limits.multipliers(w, slope)
        left = slope - limits.slope_of(lower, upper, order)
        pulled = self.root.T @ left
        slack = limits.slack_of(w, lower, upper, order)
        gap = (slack + 0.5 * float(pulled @ pulled)) / max(self.scale, float(np.finfo(float).tiny))
        size = np.sqrt(np.diagonal(self.precision))
        reach = float(size @ (np.abs(w) + np.abs(self.mean))) + np.sqrt(self.scale)
        off = np.abs(left) / size
        balance = float(off.max(initial=0.0) / reach) if reach > 0 else 0.0
        if not limits.holds(w):
            gap = np.inf
        witness = {
            "lower": unit * lower,
            "upper": unit * upper,
            "order": tuple(unit * each for each in order),
        }
        return Proof(gap, balance, witness)


@dataclass(frozen=True, slots=True)
class Proof:
    """The duality gap over the scale, what of the slope no multiplier balances, and the multipliers."""

    gap: float
    stationarity: float
    witness: dict[str, Any]

    @property
    def parts(self) -> dict[str, float]:
        """The numbers, by name."""
        return {"gap": self.gap, "stationarity": self.stationarity}
