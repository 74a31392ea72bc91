"""Newton's method for coefficients and the scale of their residuals, together."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.trace import Trace
from surefit.losses.absolute import Absolute
from surefit.losses.huber_scale import DampedHuber
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.kinked.frisch_newton import MOST_COLUMNS, FrischNewton
from surefit.solvers.likelihood.constrained_model import ConstrainedModel, numbers, refusal
from surefit.solvers.newton.quadratic_model import Factor
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.centred_hessian import SecondDerivatives
from surefit.solvers.objective.solver import Needs, Solution, Solver, Stop, choose, is_close
from surefit.solvers.objective.subsample import start_from_sample
from surefit.stats.joint_curvature import JointCurvature

ENOUGH = 1e-4  # share of the promised decrease that a step must keep
SOFTER = 10.0
HALVINGS = 40
FALL = 0.1  # of the scale that a step must leave; upwards its inverse
FINER = 1e-3  # of the tolerance: to which absolute residuals are solved for
NONE = 1e-6  # of the objective: a scale that has no part in it
LEAST = 1e-13  # of the first scale: residuals below it are rounding
EPS = float(np.finfo(float).eps)


class ScaledNewton(Solver, abstract=True):  # not listed: it needs a loss whose scale is free
    """One pass a step; the loss of the objective ends up at the scale that was found.

    >>> from surefit.losses.huber_scale import FreeScaleHuber
    >>> from surefit.penalties import L2
    >>> rows, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.1, 0.9, 2.2, 2.9, 30.0]
    >>> objective = Objective.of_arrays(rows, y, FreeScaleHuber(1.35, scale=1.0), L2(1e-5))
    >>> solution = ScaledNewton().solve(objective)
    >>> solution.certificate.holds, solution.found["scale"] < 1
    (True, True)
    """

    name = "scaled_newton"
    needs = Needs(loss=("smooth", "convex", "pieces"), penalty=("convex",))
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def _refusal(self, objective: Objective) -> str | None:
        return refusal(self.name, objective)

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise from a packed point (its loss's scale with it), or from the objective's ``null``."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        start = start_from_sample(self, objective) if start is None else start
        loss: Any = objective.loss
        seconds = SecondDerivatives(objective)
        first = objective.null if start is None else start
        sigma = float(loss.scale) if start is not None else _spread_of(objective)
        least, damping = LEAST * max(sigma, float(np.finfo(float).tiny)), 0.0
        x = np.append(seconds.inner(first), sigma)
        room = ConstrainedModel.of(objective, objective.fit_intercept + 1)
        if room is not None:
            x[:-1] = objective.prox(x[:-1], 1.0)  # a start outside a constraint
        softness = 1.0 if start is None else 0.1
        value, gradient, square = _at(objective, seconds, x, softness)
        stopped: Stop = "limit"
        proof = None
        for _ in trace.iterations(self.max_iter):
            step, promised, damping = _step(square, gradient, x, least, damping, room)
            # Far from the answer rows change sides with every step, near it they hardly do.
            softness = min(softness, SOFTER * promised / max(value, float(np.finfo(float).tiny)))
            share, moved = 1.0, False
            if promised > self.tolerance * EPS * objective.scale:
                for _half in range(HALVINGS):
                    trial = x + share * step
                    there = _at(objective, seconds, trial, softness)
                    if np.isfinite(there[0]) and there[
                        0
                    ] <= value - ENOUGH * share * promised + 4 * EPS * abs(value):
                        x, (value, gradient, square), moved = trial, there, True
                        break
                    share *= 0.5
            gap = proof = None
            if promised <= self.tolerance * value or not moved:
                set_scale(objective, float(x[-1]))
                proof = objective.certificate(seconds.outer(x[:-1]), self.tolerance)
                gap = proof.value
            trace.record(objective=value, gap=gap, step=share, passes=objective.passes)
            if proof is not None and proof.holds and is_close(proof.parts["gap"], value):
                stopped = "certificate"
                break
            if not moved:
                stopped = "stalled"
                break
            damping = (
                10 * damping if share < 0.25 and damping > 0 else 0.1 * damping if damping > 1e-12 else 0.0
            )
        # Beside a scale of next to nothing, one row of nearly all the weight hides what the others pull by.
        if (stopped != "certificate" or x[-1] <= NONE * value) and not trace.asked_to_stop:
            flat = self._without_scale(objective, least)
            if flat is not None:
                return self.finish(objective, flat[0], trace, stopped, slopes=flat[1], found={"scale": least})
        set_scale(objective, float(x[-1]))
        found = {"scale": float(x[-1])}
        return self.finish(objective, seconds.outer(x[:-1]), trace, stopped, proof=proof, found=found)

    def _without_scale(self, objective: Objective, least: float) -> tuple[Vector, Vector] | None:
        """Return the answer where the best scale is none, as for rows on a plane: absolute residuals.

        None where that is not the answer, or rows are not in memory.
        """
        loss: Any = objective.loss
        penalty = objective.penalty
        if objective.rows is None or objective.columns > MOST_COLUMNS:
            return None
        lighter = penalty if isinstance(penalty, NoPenalty) else penalty.scaled(1.0 / loss.threshold)
        absolute = Objective(
            objective.source, objective.engine, Absolute(), lighter, fit_intercept=objective.fit_intercept
        )
        free = penalty.quadratic(objective.columns) is not None
        # The gap is to be small beside what is left of the loss; an exact face costs hardly more.
        solver = (
            FrischNewton(tolerance=FINER * self.tolerance)
            if free
            else choose(absolute, tolerance=self.tolerance)
        )
        found = solver.solve(absolute)
        slopes = loss.threshold * found.certificate.witness.get("slopes", np.zeros(len(objective.rows)))
        set_scale(objective, least)
        proof = objective.certificate(found.x, self.tolerance, slopes)
        return (found.x, slopes) if proof.holds else None


def set_scale(objective: Objective, scale: float) -> None:
    """Let the objective's loss have another scale, and forget what was known at the old one."""
    objective.loss = objective.loss.replaced(scale=scale)
    for known in ("scale", "targets"):
        objective.__dict__.pop(known, None)


def _spread_of(objective: Objective) -> float:
    """Return the mean distance of the targets from their mean, for want of a better scale."""
    loss, objective.loss = objective.loss, Absolute()
    mean = objective.at(objective.null, 0).value
    objective.loss = loss
    return mean if mean > 1e-300 else 1.0


def _at(
    objective: Objective, seconds: SecondDerivatives, x: Vector, softness: float
) -> tuple[float, Vector, Vector]:
    """Return value, gradient and Hessian of the objective by (w, b, scale)."""
    coef, intercept = objective.split(x[:-1])
    loss: Any = objective.loss
    of = partial(
        JointCurvature.of,
        likelihood=DampedHuber(loss, softness),
        w=coef,
        intercept=intercept,
        v=np.array([x[-1]]),
        order=2,
    )
    with np.errstate(all="ignore"):
        found: JointCurvature = seconds.accumulate(of)
    gradient, square = found.gradient / found.weight, found.hessian / found.weight
    table = numbers(objective)
    assert table is not None
    squares = table.l2
    gradient[: objective.columns] += squares * coef
    square[: objective.columns, : objective.columns] += np.diag(squares)
    return found.value / found.weight + objective.penalised(x[:-1]), gradient, square


def _step(
    square: Matrix, gradient: Vector, x: Vector, least: float, damping: float, room: ConstrainedModel | None
) -> tuple[Vector, float, float]:
    """Return a step that leaves some scale, what it promises, and the damping that it took."""
    diagonal = np.diagonal(square)
    ground = np.where(diagonal > 0, diagonal, max(float(diagonal.max(initial=0.0)), 1e-300))
    if room is not None:
        scale = max(FALL * float(x[-1]), least), float(x[-1]) / FALL
        target = room.minimiser(square + np.diag(damping * ground), gradient, x, scale)
        while target is None and damping < 1e6:
            damping = max(10 * damping, 1e-13)
            target = room.minimiser(square + np.diag(damping * ground), gradient, x, scale)
        step = np.zeros_like(x) if target is None else target - x
        return step, max(-float(gradient @ step), 0.0), damping
    factor = Factor.of(square + np.diag(damping * ground))
    while factor is None and damping < 1e6:
        damping = max(10 * damping, 1e-13)
        factor = Factor.of(square + np.diag(damping * ground))
    step = -gradient if factor is None else -factor.solve(gradient)
    wanted = x[-1] + step[-1]
    allowed = float(np.clip(wanted, max(FALL * float(x[-1]), least), float(x[-1]) / FALL))
    if wanted != allowed:
        # The scale goes as far as it may (no row near by bends it), and the coefficients follow.
        held = allowed - x[-1]
        inner = Factor.of((square + np.diag(damping * ground))[:-1, :-1])
        right = gradient[:-1] + square[:-1, -1] * held
        step = np.append(-right if inner is None else -inner.solve(right), held)
    promised = -float(gradient @ step)
    return (step, promised, damping) if promised > 0 else (np.zeros_like(step), 0.0, damping)
