r"""Newton's method with one unknown a row, for squared penalties of more columns than rows.

At the minimum of :math:`\frac1W \sum_i s_i f(y_i, x_i'w + b) + \tfrac12 w'Aw` the coefficients are
:math:`w = -A^{-1} X'\alpha` with weighted slopes :math:`\alpha_i = s_i f'(y_i, z_i) / W` that add up to 0. A
Newton step asks for slopes that follow the scores they make,

.. math:: \alpha = g + Q (z^+ - z), \qquad z^+ = b^+ - K \alpha, \qquad K = X A^{-1} X',

which conjugate gradients find. Scores are known along the whole step then, so that the line search reads no
row, and a step may stop as soon as a new model of the loss serves better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.trace import Trace
from surefit.losses.root_finding import increasing_root
from surefit.solvers.newton.row_system import RowSystem, Slopes
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import proved
from surefit.solvers.objective.solver import Needs, Solution, Solver, Stop

EPS = float(np.finfo(float).eps)
FLAT = 1e-14  # of the greatest curvature: what rounding leaves of 0
ROUGH, FINE = 0.5, 1e-3  # share of the residual that a step may leave: at first, and at the least
SLOW = 0.5  # share of the last decrease beyond which steps should be finer
TURNS = 100  # conjugate gradients of a step, at the most
ENOUGH = 1e-4  # share of the promised decrease that a step must keep
HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Point:
    """Slopes, the intercept that is best for them, scores z, the loss's own weighted slopes g, and P."""

    slopes: Slopes
    intercept: float
    z: Vector
    g: Vector
    value: float


class RowNewton(Solver):
    """Newton steps by conjugate gradients over the rows: as many passes as the rows' likeness asks for.

    >>> from surefit.losses import Logistic
    >>> from surefit.penalties import L2
    >>> objective = Objective.of_arrays([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1], Logistic(), L2(0.1))
    >>> RowNewton(tolerance=1e-9).solve(objective).x.round(4)
    array([ 1.5077, -0.7538])
    """

    name = "row_newton"
    needs: ClassVar[Needs] = Needs(
        loss=("smooth", "convex", "conjugate"), penalty=("convex", "quadratic"), rows=True
    )
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def _refusal(self, objective: Objective) -> str | None:
        squares = objective.penalty.quadratic(objective.columns)
        if squares is None or squares.ndim != 1 or not (squares > 0).all():
            named = type(objective.penalty).__name__
            return f"solver {self.name!r} needs an L2 penalty on every coefficient, which {named} is not."
        if objective.outputs is not None:
            return f"solver {self.name!r} supports a single output, and there are {objective.outputs}."
        return None

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from slopes of 0 or those at a packed point."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        rows = _Rows(objective, f"solver {self.name!r}")
        here = rows.start(start)
        floor = objective.targets.floor / objective.targets.weight
        stopped: Stop = "limit"
        proof: Certificate | None = None
        closer, promised, ratio, best = ROUGH, np.inf, 1.0, np.inf
        for _ in trace.iterations(self.max_iter):
            # A loss that leaves little of that of a constant asks for more: be small beside both.
            wanted = self.tolerance * min(objective.scale, max(here.value - floor, EPS * objective.scale))
            guess, gap = ratio * rows.guessed_gap(here), None
            if guess <= wanted:
                here, proof = rows.proof(here, self.tolerance)
                gap = proof.parts["gap"]
                ratio *= gap / guess if guess > 0 else 1.0
                if gap <= wanted or not gap < best:
                    trace.record(objective=here.value, gap=proof.value, step=0.0, passes=rows.passes)
                    stopped = "certificate" if proof.holds else "stalled"
                    break
                best = gap
            before = promised
            step, new, promised = rows.step(here, closer)
            relative = None if gap is None or proof is None else proof.value
            trace.record(objective=here.value, gap=relative, step=step, passes=rows.passes)
            if new is None:
                here, proof = rows.proof(here, self.tolerance)
                stopped = "certificate" if proof.holds else "stalled"
                break
            here, proof = new, None
            closer = max(FINE, closer / 4) if promised > SLOW * before else closer
        packed = np.append(here.slopes.coef, here.intercept) if objective.fit_intercept else here.slopes.coef
        objective.passes = rows.passes
        return self.finish(objective, packed, trace, stopped, proof=proof)


class _Rows:
    """The rows of an objective, and what a step over them takes."""

    def __init__(self, objective: Objective, who: str) -> None:
        batch = objective.need_rows(who)
        self.objective, self.loss = objective, objective.loss
        self.y = np.asarray(batch.y)
        weight = np.ones(len(self.y)) if batch.weight is None else np.asarray(batch.weight, np.float64)
        self.s = weight / weight.sum()
        self.offset = np.zeros(len(self.y)) if batch.offset is None else np.asarray(batch.offset, np.float64)
        squares = objective.penalty.quadratic(objective.columns)
        assert squares is not None
        self.squares = np.asarray(squares)
        self.system = RowSystem(batch.X, 1.0 / self.squares)
        self.first = objective.passes

    @property
    def passes(self) -> int:
        """How often the rows were read."""
        return self.first + self.system.products

    def start(self, packed: Vector | None) -> Point:
        """Return the point of slopes 0, or of the loss's slopes at a packed point."""
        objective, system = self.objective, self.system
        n = len(self.y)
        none = Slopes(np.zeros(n), np.zeros(objective.columns), np.zeros(n))
        at_none = self.at(none, float(objective.null[-1]) if objective.fit_intercept else 0.0)
        if packed is None:
            return at_none
        coef, last = objective.split(packed)
        given = self.at(Slopes(none.alpha, coef, system.linear(coef)), 0.0 if last is None else float(last))
        if not np.isfinite(given.g).all():
            return at_none
        found = self.at(system.slopes(given.g), given.intercept)
        return found if found.value < at_none.value else at_none

    def at(self, slopes: Slopes, intercept: float) -> Point:
        """Evaluate, with the intercept that is best for these scores."""
        z = slopes.linear + self.offset
        with np.errstate(over="ignore", invalid="ignore"):  # a trial step may be too long
            if self.objective.fit_intercept:
                intercept = self._best_intercept(z, intercept)
                z = z + intercept
            each, u = self.loss.value_and_gradient(self.y, z)
        value = float(self._counted(each).sum()) - 0.5 * float(slopes.alpha @ slopes.linear)
        return Point(slopes, intercept, z, self._counted(u), value)

    def _counted(self, each: Any) -> Vector:
        """Return what rows add; those of weight 0 may be anything."""
        return np.where(self.s > 0, self.s * each, 0.0)

    def _best_intercept(self, z: Vector, start: float) -> float:
        def slope(b: Any) -> tuple[Any, Any]:
            u, h = self.loss.gradient(self.y, z + b), self.loss.curvature(self.y, z + b)
            return self._counted(u).sum(keepdims=True), self._counted(h).sum(keepdims=True)

        found = float(increasing_root(slope, np.full(1, start))[0])
        return found if np.isfinite(found) else start

    def guessed_gap(self, here: Point) -> float:
        """Return the gap as it would be for rows that share no column."""
        return 0.5 * float(self.system.diagonal @ (here.slopes.alpha - here.g) ** 2)

    def proof(self, here: Point, tolerance: float) -> tuple[Point, Certificate]:
        """Return the point with scores that are no sums of steps, and what its slopes prove."""
        objective, coef = self.objective, here.slopes.coef
        here = self.at(Slopes(here.slopes.alpha, coef, self.system.linear(coef)), here.intercept)
        gap = 0.5 * float(np.sum(self.squares * (coef - self.system.back(here.g)) ** 2))
        with np.errstate(over="ignore"):
            each = self._counted(self.loss.value(self.y, here.z))
        primal = float(each.sum()) + float(objective.penalty.value(coef))
        scale = max(objective.scale, primal - objective.targets.floor / objective.targets.weight)
        left = 0.0
        if objective.fit_intercept:
            length = np.sqrt(np.sum(here.g**2 / np.where(self.s > 0, self.s, 1.0)))
            left = abs(float(here.g.sum())) / length if length > 0 else 0.0
        return here, proved(primal, gap, scale, tolerance, left=left)

    def step(self, here: Point, closer: float) -> tuple[float, Point | None, float]:
        """Return the step towards where the model is least, the point there or None, and what it promised."""
        target, promised = self._target(here, closer)
        ahead = here.slopes.moved(-1.0, target)
        slack = 4 * EPS * max(abs(here.value), self.objective.scale)
        step = 1.0
        for _ in range(HALVINGS if promised > 0 else 0):
            new = self.at(target if step == 1.0 else here.slopes.moved(-step, ahead), here.intercept)
            if new.value <= here.value - ENOUGH * step * promised + slack:
                return step, new, promised
            step *= 0.5
        return 0.0, None, promised

    def _target(self, here: Point, closer: float) -> tuple[Slopes, float]:
        """Return slopes near the model's minimum, and the decrease that it promises for a whole step."""
        at, level = here.slopes, self.objective.fit_intercept
        bend = self._counted(np.asarray(self.loss.curvature(self.y, here.z), dtype=np.float64))
        free = bend > FLAT * bend.max(initial=0.0)
        bend = np.where(free, bend, 0.0)
        # Rows without curvature keep the slope they have; the others make up for it where sums must be 0.
        begin = at
        if (~free & (at.alpha != here.g)).any():
            alpha = np.where(free, at.alpha, here.g)
            if level and free.any():
                alpha = alpha - bend * (alpha.sum() / bend.sum())
            begin = self.system.slopes(alpha)
        root = np.sqrt(bend)
        own = np.divide(begin.alpha - here.g, root, out=np.zeros_like(root), where=free)
        residual = root * (begin.linear - at.linear) - own
        found, promised = begin, self._promised(here, begin)
        turns = self.system.descend(begin, np.ones_like(root), root, residual, level=level)
        for _, (found, left) in zip(range(TURNS), turns, strict=False):
            promised = self._promised(here, found)
            if left <= closer and promised > 0:
                break
        return found, promised

    @staticmethod
    def _promised(here: Point, target: Slopes) -> float:
        return float((here.slopes.alpha - here.g) @ (target.linear - here.slopes.linear))
