"""What a programme's solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.trace import Trace
from surefit.solvers.program.certificate import optimality_certificate
from surefit.solvers.program.data import Multipliers, Program


@dataclass(frozen=True, slots=True)
class ProgramSolution:
    """The minimiser, the multipliers of the constraints, and the certificate."""

    x: Vector
    value: float
    multipliers: Multipliers
    certificate: Certificate
    trace: Trace = field(repr=False)
    program: Program = field(repr=False)

    @property
    def slack(self) -> Vector:
        """What is left of each inequality: b_ub - A_ub x."""
        left: Vector = self.program.b_ub - self.program.A_ub @ self.x
        return left

    @property
    def slackness(self) -> Vector:
        """Multiplier times slack of each inequality, all zero at an optimum: that of A_ub, lower, upper."""
        low, high = np.isfinite(self.program.lower), np.isfinite(self.program.upper)
        above = np.where(low, self.x - np.where(low, self.program.lower, 0.0), 0.0)
        below = np.where(high, np.where(high, self.program.upper, 0.0) - self.x, 0.0)
        prices = self.multipliers
        return np.concatenate([prices.ub * self.slack, prices.lower * above, prices.upper * below])

    @property
    def dual_value(self) -> float:
        """The lower bound that the multipliers prove: value minus duality gap."""
        return self.value - self.certificate.parts["duality gap"]

    def verify(self) -> Certificate:
        """Recompute the certificate from data, primal and dual."""
        return optimality_certificate(self.program, self.x, self.multipliers, self.certificate.tolerance)
