r"""Mehrotra's predictor and corrector for convex quadratic programmes.

With slacks :math:`s = h - Gy > 0` and prices :math:`\lambda > 0`, each round solves the conditions of the
optimum, linearised, twice with one factorisation: first straight at them, then with what that step showed of
their curvature and with :math:`s_i \lambda_i` held a little above zero, by as much as the first step left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.trace import Trace
from surefit.solvers.program.kkt_system import System
from surefit.solvers.program.scaling import ScaledProgram

TARGET = 1e-10  # relative; polishing brings the rest, and the proof is measured in the user's units
NEAR, PATIENCE = (
    1e-7,
    6,
)  # rounds in a row that gain less than a tenth: some near the end, four times as many before
SHY = 0.995  # the share of the way to the border
FAR = 1e13  # in balanced units a solution has size 1: whoever comes here is on the way to nowhere


@dataclass(frozen=True, slots=True)
class InteriorSolution:
    """The point where the search ended: y, prices and slacks of all inequalities, prices of the equations."""

    y: Vector
    prices: Vector
    slacks: Vector
    equations: Vector


@dataclass(frozen=True, slots=True)
class Inequalities:
    """The rows of G, then the upper bounds, then the lower ones, as one system Cy ≤ right."""

    problem: ScaledProgram
    high: NDArray[np.intp]
    low: NDArray[np.intp]
    right: Vector

    @classmethod
    def of(cls, problem: ScaledProgram) -> Inequalities:
        """Collect what is finite."""
        high, low = np.flatnonzero(np.isfinite(problem.upper)), np.flatnonzero(np.isfinite(problem.lower))
        right = np.concatenate([problem.h, problem.upper[high], -problem.lower[low]])
        return cls(problem, high, low, right)

    def times(self, y: Vector) -> Vector:
        """Return Cy."""
        return np.concatenate([self.problem.G @ y, y[self.high], -y[self.low]])

    def transposed(self, prices: Vector) -> Vector:
        """Return C'prices."""
        g, high, low = self.split(prices)
        total: Vector = self.problem.G.T @ g + 0.0
        total[self.high] += high
        total[self.low] -= low
        return total

    def split(self, prices: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the parts that belong to G, to upper and to lower bounds."""
        g, high, low = np.split(prices, [len(self.problem.h), len(self.problem.h) + len(self.high)])
        return g, high, low

    def system(self, weights: Vector) -> System:
        """Factorise Q + C' weights C with the equations."""
        g, high, low = self.split(weights)
        bounds = np.zeros(len(self.problem.c))
        bounds[self.high] += high
        bounds[self.low] += low
        return System(self.problem.Q, self.problem.G, self.problem.A, bounds, g)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a point leaves open of each condition of the optimum."""

    dual: Vector
    over: Vector
    missed: Vector
    level: float  # the mean of slack times price
    value: float
    open: float  # the largest of all, relative


def interior_point(problem: ScaledProgram, trace: Trace, max_iter: int) -> InteriorSolution:
    """Search until nothing relative is left, or until no round gains any more; return the best point met."""
    rows = Inequalities.of(problem)
    at = best = _start(problem, rows)
    least, since, reach = np.inf, 0, 0.0
    many = max(len(at.slacks), 1)
    for _ in trace.iterations(max_iter):
        left = _conditions(problem, rows, at)
        trace.record(
            objective=left.value / problem.price,
            gap=left.level * many / problem.price,
            step=reach,
            primal_infeasibility=float(np.abs(left.over).max(initial=0.0)),
            dual_infeasibility=float(np.abs(left.dual).max()),
        )
        since = 0 if left.open < 0.9 * least else since + 1
        best, least = (at, left.open) if left.open < least else (best, least)
        tired = since > (PATIENCE if least < NEAR else 4 * PATIENCE)
        if not left.open > TARGET or tired or not np.isfinite(left.open) or np.abs(at.y).max() > FAR:
            break
        system = rows.system(at.prices / at.slacks)
        product = at.slacks * at.prices
        ahead = _direction(rows, system, at, left, product)
        reach = min(1.0, _reach(at, ahead))
        after = float((at.slacks + reach * ahead.slacks) @ (at.prices + reach * ahead.prices)) / many
        centre = left.level * (after / left.level) ** 3 if left.level > 0 else 0.0
        step = _direction(rows, system, at, left, product + ahead.slacks * ahead.prices - centre)
        reach = min(1.0, SHY * _reach(at, step))
        if reach < 0.1:  # what bent the step may be wrong so far out: back towards the middle instead
            step = _direction(rows, system, at, left, product - 0.5 * left.level)
            reach = min(1.0, SHY * _reach(at, step))
        at = InteriorSolution(
            at.y + reach * step.y,
            at.prices + reach * step.prices,
            at.slacks + reach * step.slacks,
            at.equations + reach * step.equations,
        )
    return best


def _conditions(problem: ScaledProgram, rows: Inequalities, at: InteriorSolution) -> Conditions:
    curved = problem.Q @ at.y
    dual = curved + problem.c + rows.transposed(at.prices) + problem.A.T @ at.equations
    over, missed = rows.times(at.y) + at.slacks - rows.right, problem.A @ at.y - problem.b
    gap = float(at.slacks @ at.prices)
    value = float(0.5 * at.y @ curved + problem.c @ at.y)
    size = max(1.0, float(np.abs(at.y).max()))
    largest = max(
        float(np.abs(over).max(initial=0.0)) / size,
        float(np.abs(missed).max(initial=0.0)) / size,
        float(np.abs(dual).max()) / max(1.0, float(np.abs(at.prices).max(initial=0.0))),
        gap / max(1.0, abs(value)),
    )
    return Conditions(dual, over, missed, gap / max(len(at.slacks), 1), value, largest)


def _direction(
    rows: Inequalities, system: System, at: InteriorSolution, left: Conditions, aim: Vector
) -> InteriorSolution:
    """Return the step that closes every condition, with slack times price lowered by ``aim``."""
    first = -left.dual - rows.transposed((at.prices * left.over - aim) / at.slacks)
    y, equations = system.solve(first, -left.missed)
    prices = (at.prices * (rows.times(y) + left.over) - aim) / at.slacks
    return InteriorSolution(y, prices, -(aim + at.slacks * prices) / at.prices, equations)


def _reach(at: InteriorSolution, step: InteriorSolution) -> float:
    """Return the largest multiple of the step that keeps every slack and price positive."""
    size = np.concatenate([at.slacks, at.prices])
    change = np.concatenate([step.slacks, step.prices])
    falling = change < 0
    return float((-size[falling] / change[falling]).min(initial=np.inf))


def _start(problem: ScaledProgram, rows: Inequalities) -> InteriorSolution:
    """Solve with squared slacks for their constraints, and shift slacks and prices until all are positive."""
    ones = np.ones(len(rows.right))
    y, equations = rows.system(ones).solve(rows.transposed(rows.right) - problem.c, problem.b)
    slacks = rows.right - rows.times(y)
    return InteriorSolution(y, _positive(-slacks), _positive(slacks), equations)


def _positive(values: Vector) -> Vector:
    if not len(values):
        return values
    low = float(values.min())
    return values if low > 0.1 * float(np.abs(values).max()) else values - min(low, 0.0) + 1.0
