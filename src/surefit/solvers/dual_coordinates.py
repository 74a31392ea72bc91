r"""Hinges, tubes and their squares with a squared penalty, one slope at a time: for many columns.

The dual of :math:`\frac1W \sum_i s_i f(y_i, x_i'w) + \tfrac\lambda2 |w|^2` has one slope a row and needs no
square of the columns; see :mod:`surefit.core.native.dual_cd`. The slopes are the proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.dual_cd import DualPlan, dual_cd
from surefit.core.trace import Trace
from surefit.solvers.base import Needs, Solution, Solver, Stop
from surefit.solvers.by_output import solve_by_output
from surefit.solvers.gap import proved
from surefit.solvers.objective import Objective
from surefit.stats.products import pulled, scores

Array = NDArray[np.float64]

EPOCHS = 20  # from one look at the gap to the next, at the most
FIRST = 0.001  # how far off scores may be
TIGHTER, TIGHTEST = 0.03, 1e-5  # how much less next time, at least and at the most
AFRESH = 20  # looks after which coefficients are summed anew, so that rounding does not add up


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
            return f"the {self.name} solver needs squares of single coefficients, and {named} has others."
        if not (squares > 0).all() or (squares != squares[0]).any():
            return f"the {self.name} solver needs one strength for all coefficients, and {named} has others."
        if objective.fit_intercept:
            return f"the {self.name} solver takes no intercept, as no penalty of {named} holds it."
        return None

    def solve(self, objective: Objective, start: Array | None = None, trace: Trace | None = None) -> Solution:
        """Minimise, from slopes of zero or those at a packed point."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        if objective.outputs is not None:
            return solve_by_output(self, objective, start, trace)
        batch = objective.need_rows(f"the {self.name} solver")
        X: Any = batch.X
        if isinstance(X, np.ndarray):
            X = np.ascontiguousarray(X)
        y = np.asarray(batch.y)
        s = np.ones(len(y)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        loss: Any = objective.loss
        squares = objective.penalty.quadratic(objective.columns)
        assert squares is not None
        at, low, high, tube, bend = loss.dual_plan(y)
        plan = DualPlan(tube, bend, float(squares[0]) * float(s.sum()))
        u = (
            np.zeros(len(y))
            if start is None
            else np.array(loss.gradient(y, scores(X, start)), dtype=np.float64)
        )
        u = np.clip(u, low, high)
        w = -pulled(X, s * u) / plan.strength
        total, floor = float(s.sum()), objective.targets.floor / objective.targets.weight
        stopped: Stop = "limit"
        tolerance, best = FIRST, np.inf
        for number in trace.iterations(self.max_iter):
            objective.passes += 1
            options: dict[str, Any] = {"weight": batch.weight, "tolerance": tolerance, "most": EPOCHS}
            first = number == 0 and start is not None  # which may be the answer
            epochs, off = (0, 0.0) if first else dual_cd(X, at, low, high, plan, u, w, seed=number, **options)
            if number % AFRESH == AFRESH - 1:
                w = -pulled(X, s * u) / plan.strength
            z = scores(X, w)
            gap = float(s @ loss.excess(y, z, u)) / total
            value = float(s @ loss.value(y, z)) / total + objective.penalised(w)
            scale = max(objective.scale, value - floor)
            trace.record(objective=value, gap=gap / scale, passes=objective.passes, epochs=epochs)
            # Rows that can be told apart leave little of the loss of a constant: be small beside both.
            wanted = self.tolerance * min(scale, value - floor)
            if gap <= wanted:
                stopped = "certificate"
                break
            if epochs < EPOCHS:  # the gap falls as scores come closer: to where it should be small enough
                tolerance = float(
                    np.clip(0.5 * off * wanted / gap, TIGHTEST * tolerance, TIGHTER * tolerance)
                )
            if tolerance < 1e-15 and gap >= best:
                stopped = "stalled"
                break
            best = min(best, gap)
        proof = proved(value, gap, scale, self.tolerance, slopes=u)
        return self._finish(objective, w, trace, stopped, proof=proof)
