r"""Least squares over and over, each row weighted by how far it was from its kink.

.. math:: w^+ = \arg\min_w \tfrac1{2W} \sum_i s_i \left( c_i (x_i'w - z_i)^2 + 2 u_i (x_i'w - z_i) \right)

with the slopes u and the majorant's curvatures c at the scores z: for the absolute residual, weights of one
over it. The parabola lies above the loss, so that no step raises the objective. Its slopes at the new point
balance, and once they are brought within their ends they prove how far there is to go.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.native.sums.gram import sandwich
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.solvers.newton.quadratic_model import Factor
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs, Solution, Solver, Stop
from surefit.stats.products import scores_of

LEAST = 1e-9  # of the mean distance from the kink: nearer rows get no greater weight


class Reweighting(Solver, abstract=True):  # too slow to be listed beside those that prove what they are asked
    """Iteratively reweighted least squares for losses with kinks; sure and slow.

    >>> from surefit.losses import Absolute
    >>> from surefit.penalties import NoPenalty
    >>> objective = Objective.of_arrays([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0], Absolute(), NoPenalty())
    >>> Reweighting(tolerance=1e-3).solve(objective).certificate.holds
    True
    """

    name = "reweighting"
    needs = Needs(loss=("convex", "kinks", "conjugate"), penalty=("convex", "quadratic"), rows=True)

    def _refusal(self, objective: Objective) -> str | None:
        if objective.outputs is None:
            return None
        return f"solver {self.name!r} supports a single target, and here there are {objective.outputs}."

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise from a packed point, or from least squares."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        rows = objective.need_rows(f"solver {self.name!r}")
        X, y, loss = rows.X, np.asarray(rows.y), objective.loss
        s = np.ones(len(rows)) if rows.weight is None else rows.weight
        squares = _squares(objective)
        coef, intercept = objective.split(objective.null if start is None else start)
        z = scores_of(rows, coef, intercept)
        if start is None:
            x, z = _step(objective, X, s, squares, z, z - y, np.ones(len(y)), objective.null)
        else:
            x = np.array(start)
        apart = LEAST * float(np.mean(np.abs(z - y))) or 1.0
        stopped: Stop = "limit"
        best = x, np.asarray(loss.gradient(y, z), dtype=np.float64), np.inf
        for _ in trace.iterations(self.max_iter):
            objective.passes += 1
            u = np.asarray(loss.gradient(y, z), dtype=np.float64)
            c = np.minimum(np.asarray(loss.curvature(y, z), dtype=np.float64), 1.0 / apart)
            x, new = _step(objective, X, s, squares, z, u, c, x)
            slopes = _within(loss, y, u + c * (new - z))
            z = new
            proof = objective.certificate(x, self.tolerance, slopes)
            if proof.value < best[2]:
                best = x, slopes, proof.value
            trace.record(
                objective=proof.parts["objective"], gap=proof.value, step=1.0, passes=objective.passes
            )
            if proof.holds:
                stopped = "certificate"
                break
        return self.finish(objective, x, trace, stopped, slopes=best[1])


def _squares(objective: Objective) -> Vector:
    """Return the penalty's matrix, an intercept free."""
    squares = objective.penalty.quadratic(objective.columns)
    assert squares is not None
    whole = np.zeros((objective.shape[0], objective.shape[0]))
    whole[: objective.columns, : objective.columns] = np.diag(squares) if squares.ndim == 1 else squares
    return whole


def _step(
    objective: Objective,
    X: Any,
    s: Vector,
    squares: Vector,
    z: Vector,
    u: Vector,
    c: Vector,
    x: Vector,
) -> tuple[Vector, Vector]:
    """Return the minimiser of the parabolas, and its scores."""
    found = sandwich(X, s * c, s * u)
    square, pull = found.gram, found.cross[:, 0]
    if objective.fit_intercept:
        side = found.sums[:, None]
        square = np.block([[square, side], [side.T, np.full((1, 1), s @ c)]])
        pull = np.append(pull, s @ u)
    square, pull = square / s.sum() + squares, pull / s.sum() + squares @ x
    factor = Factor.of(square)
    change = -np.linalg.lstsq(square, pull, rcond=1e-13)[0] if factor is None else -factor.solve(pull)
    coef, intercept = objective.split(change)
    return x + change, z + scores_of(Batch(X), coef, intercept)


def _within(loss: Any, y: Vector, slopes: Vector) -> Vector:
    """Return the slopes times the largest factor that keeps all of them between their ends."""
    kinks = loss.kinks(y)
    low, high = sum(kink.low for kink in kinks), sum(kink.high for kink in kinks)
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = np.where(slopes > 0, slopes / high, slopes / low)
    worst = float(np.max(np.where(slopes == 0, 0.0, beyond), initial=1.0))
    return np.asarray(np.clip(slopes / worst, low, high))
