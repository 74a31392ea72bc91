r"""Mehrotra's predictor and corrector for convex quadratic programmes.

With slacks :math:`s = h - Gy > 0` and prices :math:`\lambda > 0`, each round solves the conditions of the
optimum, linearised, twice with one factorisation: first straight at them, then with what that step showed of
their curvature and with :math:`s_i \lambda_i` held a little above zero, by as much as the first step left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.core.trace import Trace
from surefit.solvers.program.data import Vector
from surefit.solvers.program.kkt import System
from surefit.solvers.program.scaling import Balanced

TARGET = 1e-12  # relative; what is reached is measured afterwards, in the user's units
FAR = 1e13  # in balanced units a solution has size 1: whoever comes here is on the way to nowhere


@dataclass(frozen=True, slots=True)
class Inside:
    """The point where the search ended: y, prices and slacks of all inequalities, prices of the equations."""

    y: Vector
    prices: Vector
    slacks: Vector
    equations: Vector


@dataclass(frozen=True, slots=True)
class Inequalities:
    """The rows of G, then the upper bounds, then the lower ones, as one system Cy ≤ right."""

    problem: Balanced
    high: NDArray[np.intp]
    low: NDArray[np.intp]
    right: Vector

    @classmethod
    def of(cls, problem: Balanced) -> Inequalities:
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


def interior_point(problem: Balanced, trace: Trace, max_iter: int) -> Inside:
    """Search until nothing relative is left, or until no round gains any more; return the best point met."""
    rows = Inequalities.of(problem)
    y, equations, slacks, prices = _start(problem, rows)
    best, least, since = Inside(y, prices, slacks, equations), np.inf, 0
    many = max(len(slacks), 1)
    for _ in trace.iterations(max_iter):
        curved = problem.Q @ y
        dual = curved + problem.c + rows.transposed(prices) + problem.A.T @ equations
        over = rows.times(y) + slacks - rows.right
        missed = problem.A @ y - problem.b
        level = float(slacks @ prices) / many
        value = float(0.5 * y @ curved + problem.c @ y)
        size = max(1.0, float(np.abs(y).max()))
        open_ = max(
            float(np.abs(over).max(initial=0.0)) / size,
            float(np.abs(missed).max(initial=0.0)) / size,
            float(np.abs(dual).max()) / max(1.0, float(np.abs(prices).max(initial=0.0))),
            level * many / max(1.0, abs(value)),
        )
        trace.record(
            objective=value / problem.price,
            gap=level * many / problem.price,
            primal_infeasibility=float(np.abs(over).max(initial=0.0)),
            dual_infeasibility=float(np.abs(dual).max()),
        )
        if open_ < least:
            since = 0 if open_ < 0.9 * least else since + 1
            best, least = Inside(y, prices, slacks, equations), open_
        else:
            since += 1
        if not open_ > TARGET or since > 12 or not np.isfinite(open_) or size > FAR:
            break
        system = rows.system(prices / slacks)

        def direction(aim: Vector) -> tuple[Vector, Vector, Vector, Vector]:
            """Solve for a step that brings slack times price to what it is less ``aim``."""
            first = -dual - rows.transposed((prices * over - aim) / slacks)  # noqa: B023
            dy, d_equations = system.solve(first, -missed)  # noqa: B023
            d_prices = (prices * (rows.times(dy) + over) - aim) / slacks  # noqa: B023
            return dy, d_equations, d_prices, -(aim + slacks * d_prices) / prices  # noqa: B023

        _, _, d_prices, d_slacks = direction(slacks * prices)
        reach = min(_reach(slacks, d_slacks), _reach(prices, d_prices))
        after = float((slacks + reach * d_slacks) @ (prices + reach * d_prices)) / many
        centre = level * (after / level) ** 3 if level > 0 else 0.0
        dy, d_equations, d_prices, d_slacks = direction(slacks * prices + d_slacks * d_prices - centre)
        reach = min(1.0, 0.995 * min(_reach(slacks, d_slacks, np.inf), _reach(prices, d_prices, np.inf)))
        y, equations = y + reach * dy, equations + reach * d_equations
        slacks, prices = slacks + reach * d_slacks, prices + reach * d_prices
    return best


def _reach(size: Vector, change: Vector, limit: float = 1.0) -> float:
    """Return the largest share of the change that keeps everything positive."""
    falling = change < 0
    return float(min(limit, (-size[falling] / change[falling]).min(initial=np.inf)))


def _start(problem: Balanced, rows: Inequalities) -> tuple[Vector, Vector, Vector, Vector]:
    """Solve with squared slacks for their constraints, and shift slacks and prices until all are positive."""
    ones = np.ones(len(rows.right))
    y, equations = rows.system(ones).solve(rows.transposed(rows.right) - problem.c, problem.b)
    slacks = rows.right - rows.times(y)
    return y, equations, _positive(slacks), _positive(-slacks)


def _positive(values: Vector) -> Vector:
    if not len(values):
        return values
    low = float(values.min())
    return values if low > 0.1 * float(np.abs(values).max()) else values - min(low, 0.0) + 1.0
