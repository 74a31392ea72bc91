r"""Proximal gradient descent: a step down the slope of the loss, then one of the penalty alone.

.. math:: x^+ = \operatorname{prox}_{t \, pen} \left( x - t \nabla f(x) \right)

The step t is the longest for which the loss stays below the parabola that the step was made for; it is
halved until it does, and tried a little longer each time.

The lengths in which a proximal step is short: columns of like size, and an intercept at their means.

.. math:: \|(w, b)\|^2 = \sum_j d_j^2 w_j^2 + (b + m'w)^2

With m the means and d the spreads of the columns, a table in other units gives the same steps. An intercept
is free of penalty, so means can always be taken out; a spread for each column only where the penalty can take
a step of its own for each coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.trace import Trace
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs, Solution, Solver, Stop


@dataclass(frozen=True, slots=True)
class Metric:
    """Squared spreads d^2 and means m of the columns, and a step to begin with.

    table: the penalty's numbers, where it has them; without, the greatest spread stands for all.
    """

    objective: Objective
    squares: Vector
    means: Vector
    table: CoordinateTable | None
    first_step: float

    @classmethod
    def of(cls, objective: Objective) -> Metric:
        """Read the means and spreads of the columns in one pass."""
        found = objective.spread
        centred = objective.fit_intercept
        squares = found.variance if centred else found.variance + found.mean**2
        varies = squares > 1e-24 * found.mean**2  # else by rounding alone, and is left to the penalty
        largest = float(squares[varies].max(initial=0.0)) or 1.0
        means = found.mean if centred else np.zeros_like(found.mean)
        bend = objective.loss.smoothness or 1.0
        penalty, p = objective.penalty, objective.columns
        if penalty.offers("table"):
            squares = np.where(varies, squares, np.where(found.mean != 0, found.mean**2, 1.0))
            return cls(objective, squares, means, penalty.table(p), 1.0 / bend)
        return cls(objective, np.full(p, largest), means, None, 1.0 / bend)

    def length(self, step: Vector) -> float:
        """Return the squared length of a difference of packed points."""
        coef, intercept = self.objective.split(step)
        total = float(np.sum(_rows(self.squares, coef) * coef**2))
        return total if intercept is None else total + float(np.sum((intercept + self.means @ coef) ** 2))

    def inner(self, one: Vector, two: Vector) -> float:
        """Return the inner product that belongs to the length."""
        (coef, intercept), (other, last) = self.objective.split(one), self.objective.split(two)
        total = float(np.sum(_rows(self.squares, coef) * coef * other))
        if intercept is None:
            return total
        return total + float(np.sum((intercept + self.means @ coef) * (last + self.means @ other)))

    def step(self, point: Vector, gradient: Vector, step: float) -> Vector:
        """Return the proximal point of a gradient step."""
        coef, intercept = self.objective.split(point)
        slope, last = self.objective.split(gradient)
        squares = _rows(self.squares, coef)
        if intercept is not None:
            slope = slope - np.multiply.outer(self.means, last)
        aim = coef - step * slope / squares
        moved: Any
        if self.table is not None:
            moved = self.table.prox(aim, step / squares)
        else:
            moved = self.objective.penalty.prox(aim, step / float(self.squares.max(initial=1e-300)))
        if intercept is None:
            return np.asarray(moved)
        level = intercept - step * last + self.means @ (coef - moved)
        return np.concatenate([moved, np.asarray(level)[None]])


def _rows(column: Vector, coef: Vector) -> Vector:
    return column if coef.ndim == 1 else column[:, None]


GROWTH = 1.1
HALVINGS = 200  # from the largest step to the smallest that any scale of columns asks for
# Below this part of the value its differences are rounding, and those of gradients tell better.
TELLING = 1e-7


@dataclass(frozen=True, slots=True)
class Step:
    """Where a proximal step led, the mean loss there, and the step that was short enough."""

    x: Vector
    value: float
    step: float
    length: float  # squared, in the metric


class ProximalGradient(Solver):
    """Steps of the loss and of the penalty in turn; slow and simple, and for penalties that are not convex.

    >>> from surefit.losses import Squared
    >>> from surefit.penalties import L1
    >>> objective = Objective.of_arrays([[0.0], [2.0]], [1.0, 3.0], Squared(), L1(0.5))
    >>> ProximalGradient().solve(objective).x.round(4)
    array([0.5, 1.5])
    """

    name = "proximal_gradient"
    needs = Needs(loss=("smooth",), penalty=("prox",))
    functions = True

    def __init__(self, *, tolerance: float = 1e-6, max_iter: int = 10_000) -> None:
        super().__init__(tolerance=tolerance, max_iter=max_iter)

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise from a packed point, or from the objective's ``null``."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        metric = Metric.of(objective)
        x = y = np.array(objective.null if start is None else start, dtype=np.float64)
        ahead, step, stopped = self._ahead(metric), metric.first_step, _limit()
        gap, pull, due = None, np.inf, 1
        for iteration in trace.iterations(self.max_iter):
            found = descend(objective, metric, y, step)
            if found is None:
                stopped = "stalled"
                trace.record(objective=None, gap=gap, step=step, passes=objective.passes)
                break
            speed = np.sqrt(found.length) / found.step
            still = found.length == 0.0 and bool((y == x).all())
            if iteration >= due or speed <= 0.1 * pull or still:
                # A proof takes passes of its own: it is asked for on news, and less and less often.
                gap, pull, due = objective.certificate(found.x, self.tolerance).value, speed, _next(iteration)
            trace.record(
                objective=found.value + objective.penalised(found.x),
                gap=gap,
                step=found.step,
                passes=objective.passes,
                learned=partial(np.array, found.x),
            )
            x, y = found.x, ahead(x, y, found)
            step = GROWTH * found.step if found.step >= step else found.step
            if gap is not None and gap <= self.tolerance and pull == speed:
                stopped = "certificate"
                break
            if still:
                stopped = "stalled"
                break
        return self.finish(objective, x, trace, stopped)

    def _ahead(self, metric: Metric) -> Any:
        """Return how the next point to step from follows from the last ones."""
        return lambda x, y, found: found.x


def descend(objective: Objective, metric: Metric, point: Vector, step: float) -> Step | None:
    """Step down from a point, halving the step until the loss stays below its parabola; None if none does."""
    at = objective.at(point, 1)
    for _ in range(HALVINGS):
        x = metric.step(point, at.gradient, step)
        moved = x - point
        length = metric.length(moved)
        room = 0.5 * length / step
        telling = room > TELLING * abs(at.value)
        there = objective.at(x, 0 if telling else 1)
        if telling:
            below = there.value - at.value - float(np.sum(at.gradient * moved)) <= room
        else:
            below = bool(np.sum((there.gradient - at.gradient) * moved) <= 2 * room)
        if below and np.isfinite(there.value):
            return Step(x, there.value, step, length)
        step *= 0.5
    return None


def _next(iteration: int) -> int:
    return iteration + max(10, iteration // 10)


def _limit() -> Stop:
    return "limit"
