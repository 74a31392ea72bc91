r"""Hinges, tubes and their squares with a squared penalty, one slope at a time: for many columns.

The dual of :math:`\frac1W \sum_i s_i f(y_i, x_i'w) + \tfrac\lambda2 |w|^2` has one slope a row and needs no
square of the columns; see :mod:`surefit.core.native.linear.dual_cd`. Once it is plain which slopes are at
an end of their range, conjugate gradients take the others to where their scores are met, all cores at work.
The slopes are the proof; the coefficients that they make are taken by the best factor, which lifts all
scores that fall short a little.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native.linear.dual_cd import DualPlan, dual_cd
from surefit.core.trace import Trace
from surefit.solvers.newton.row_system import RowSystem, Slopes
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.by_output import solve_by_output
from surefit.solvers.objective.gap import proved
from surefit.solvers.objective.solver import Needs, Solution, Solver, Stop

EPOCHS = 20  # from one look at the gap to the next, at the most
FIRST, FIRST_SMOOTH = 0.03, 0.001  # how far off scores may be; the gap of a smooth loss falls by their square
TIGHTER, TIGHTEST = 0.03, 1e-5  # how much less next time, at least and at the most
AFRESH = 20  # looks after which coefficients are summed anew, so that rounding does not add up
TURNS = 30  # conjugate gradients at a time
PAYS = 0.1  # share of the gap that they may leave to be tried again
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
CUTS = 25  # of the range of the factor


class DualCoordinates(Solver, abstract=True):  # not listed: few pairs have no intercept and one strength
    """Coordinate ascent on the dual, rows that are settled left out; no intercept that is free of penalty.

    >>> from surefit.losses import Hinge
    >>> from surefit.penalties import L2
    >>> rows = [[1.0], [-1.0]]
    >>> objective = Objective.of_arrays(rows, [1, -1], Hinge(), L2(2.0), fit_intercept=False)
    >>> DualCoordinates().solve(objective).x
    array([0.5])
    """

    name = "dual_coordinates"
    needs = Needs(loss=("convex", "dual_plan", "conjugate"), penalty=("convex", "quadratic"), rows=True)

    def _refusal(self, objective: Objective) -> str | None:
        squares = objective.penalty.quadratic(objective.columns)
        named = type(objective.penalty).__name__
        if squares is None or squares.ndim != 1 or not len(squares):
            return f"solver {self.name!r} needs a separable L2 penalty, which {named} is not."
        if not (squares > 0).all() or (squares != squares[0]).any():
            return (
                f"solver {self.name!r} needs the same L2 strength for all coefficients, unlike this {named}."
            )
        if objective.fit_intercept:
            return f"solver {self.name!r} does not support an unpenalised intercept."
        return None

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from slopes of zero or those at a packed point."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        if objective.outputs is not None:
            return solve_by_output(self, objective, start, trace)
        dual = _Dual(objective, f"solver {self.name!r}", start)
        floor = objective.targets.floor / objective.targets.weight
        stopped: Stop = "limit"
        tolerance, best, off = FIRST_SMOOTH if objective.loss.smooth else FIRST, np.inf, 1.0
        gap = wanted = value = scale = factor = np.inf
        pays, on_face = True, False
        for number in trace.iterations(self.max_iter):
            objective.passes += 1
            epochs, before = 0, gap
            if on_face:
                off = dual.meet_scores(0.5 * wanted / gap)
            elif number > 0 or start is None:  # a start may be the answer
                epochs, off = dual.descend(tolerance, number)
            factor, gap = (1.0, dual.gap(1.0)) if objective.loss.smooth else dual.best_factor(off)
            value = dual.value(factor)
            scale = max(objective.scale, value - floor)
            trace.record(objective=value, gap=gap / scale, passes=objective.passes, epochs=epochs)
            # Rows that can be told apart leave little of the loss of a constant: be small beside both.
            wanted = self.tolerance * min(scale, value - floor)
            if gap <= wanted:
                stopped = "certificate"
                break
            if on_face:
                pays = gap <= PAYS * before
            elif epochs < EPOCHS:  # the gap falls as scores come closer: to where it should be small enough
                tolerance = float(
                    np.clip(0.5 * off * wanted / gap, TIGHTEST * tolerance, TIGHTER * tolerance)
                )
            if tolerance < 1e-15 and gap >= best:
                stopped = "stalled"
                break
            on_face = pays and not on_face and 0 < epochs < EPOCHS
            best = min(best, gap)
        proof = proved(value, gap, scale, self.tolerance, slopes=dual.u)
        return self.finish(objective, factor * dual.at.coef, trace, stopped, proof=proof)


class _Dual:
    """Slopes u, the coefficients and scores that they make, and two ways to better ones."""

    def __init__(self, objective: Objective, who: str, start: Vector | None) -> None:
        batch = objective.need_rows(who)
        X: Any = batch.X
        if isinstance(X, np.ndarray):
            X = np.ascontiguousarray(X)
        self.X, self.y, self.loss = X, np.asarray(batch.y), objective.loss
        self.weight = batch.weight
        self.s = np.ones(len(self.y)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        self.objective = objective
        squares = objective.penalty.quadratic(objective.columns)
        assert squares is not None
        loss: Any = objective.loss
        self.total = float(self.s.sum())
        self.ends, self.low, self.high, tube, bend = loss.dual_plan(self.y)
        self.plan = DualPlan(tube, bend, float(squares[0]) * self.total)
        self.system = RowSystem(X, np.full(objective.columns, 1.0 / self.plan.strength))
        slope = np.zeros(len(self.y)) if start is None else loss.gradient(self.y, self.system.linear(start))
        self.u = np.clip(np.array(slope, dtype=np.float64), self.low, self.high)
        self.at = self.system.slopes(self.s * self.u)
        self.looks = 0

    def descend(self, tolerance: float, seed: int) -> tuple[int, float]:
        """Go over the rows one by one; return the epochs, and how far off the worst score was."""
        w = self.at.coef.copy()
        rows = self.X, self.ends, self.low, self.high, self.plan, self.u, w
        done = dual_cd(*rows, weight=self.weight, tolerance=tolerance, most=EPOCHS, seed=seed)
        self.looks += 1
        alpha = self.s * self.u
        if self.looks % AFRESH == 0:
            self.at = self.system.slopes(alpha)
        else:
            self.at = Slopes(alpha, w, self.system.linear(w))
        return done

    def meet_scores(self, closer: float) -> float:
        """Take the slopes between their ends to where scores are met, as far as their ends allow.

        Returns how far off the worst of their scores is then.
        """
        u, s, plan = self.u, self.s, self.plan
        free = self._free(u)
        own = np.divide(plan.bend, s, out=np.zeros_like(s), where=free)
        found, root = self.at, free.astype(np.float64)
        turns = self.system.descend(found, own, root, self._missed(u, found, free), level=False)
        for _, (better, left) in zip(range(TURNS), turns, strict=False):
            found = better
            if left <= closer:
                break
        moved = np.divide(found.alpha, s, out=u.copy(), where=free)
        kept = np.clip(moved, self.low, self.high)
        if plan.tube > 0:
            kept = np.where(free & (np.sign(kept) != np.sign(u)), 0.0, kept)
        if (kept != moved).any():
            found = self.system.slopes(s * kept)
        if self._cost(kept, found) < self._cost(u, self.at):
            self.u, self.at = kept, found
        return float(np.abs(self._missed(self.u, self.at, self._free(self.u))).max(initial=0.0))

    def _free(self, u: Vector) -> NDArray[np.bool_]:
        """Return which slopes can move either way without meeting an end or the tube's kink."""
        free = (self.s > 0) & (u > self.low) & (u < self.high)
        return np.asarray(free & (u != 0) if self.plan.tube > 0 else free)

    def _missed(self, u: Vector, at: Slopes, free: NDArray[np.bool_]) -> Vector:
        """Return how far scores of free slopes are from where these want them."""
        wanted = self.ends + self.plan.tube * np.sign(u) + self.plan.bend * u
        return np.where(free, at.linear - wanted, 0.0)

    def _cost(self, u: Vector, at: Slopes) -> float:
        """Return the dual objective, to be minimised."""
        each = u * self.ends + self.plan.tube * np.abs(u) + 0.5 * self.plan.bend * u**2
        return float(self.s @ each) + 0.5 * self.plan.strength * float(at.coef @ at.coef)

    def gap(self, factor: float, square: float = 0.0) -> float:
        """Return the gap of a multiple of the coefficients, whose penalty is ``square``."""
        loss: Any = self.loss
        left = float(self.s @ loss.excess(self.y, factor * self.at.linear, self.u))
        return (left + square * (factor - 1.0) ** 2) / self.total

    def best_factor(self, reach: float) -> tuple[float, float]:
        """Return the multiple of the coefficients with the least gap, within ``reach`` or so, and the gap."""
        low, high = 1.0 - min(0.5, 4.0 * reach), 1.0 + min(0.5, 4.0 * reach)
        inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
        square = 0.5 * self.plan.strength * float(self.at.coef @ self.at.coef)
        gaps = [self.gap(inner[0], square), self.gap(inner[1], square)]
        for _ in range(CUTS):
            if gaps[0] <= gaps[1]:
                high, inner[1], gaps[1] = inner[1], inner[0], gaps[0]
                inner[0] = high - GOLDEN * (high - low)
                gaps[0] = self.gap(inner[0], square)
            else:
                low, inner[0], gaps[0] = inner[0], inner[1], gaps[1]
                inner[1] = low + GOLDEN * (high - low)
                gaps[1] = self.gap(inner[1], square)
        return min([(1.0, self.gap(1.0)), *zip(inner, gaps, strict=True)], key=lambda each: each[1])

    def value(self, factor: float) -> float:
        """Return the objective at a multiple of the coefficients."""
        each = self.loss.value(self.y, factor * self.at.linear)
        return float(self.s @ each) / self.total + self.objective.penalised(factor * self.at.coef)
