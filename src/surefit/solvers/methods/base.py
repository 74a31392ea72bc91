"""What the methods share: the loop, when to ask for a proof, and the objective with its squares in it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.trace import Trace
from surefit.solvers.objective.base import At, Objective
from surefit.solvers.objective.solver import Solution, Solver, Stop

Move = tuple[Vector, float]  # the next point, and the step that led there

EPS = float(np.finfo(float).eps)
STILL = 20  # iterations that change nothing, after which rounding allows no more


class Method(Solver, kind="method", folder="surefit.solvers.methods"):
    """Base of the methods; a class below writes ``_steps``.

    falls: whether each step lowers the objective; where it does not, the best point is kept. constraints:
    whether it takes those that are functions, without a projection. proves: whether it asks for a proof of
    every point; without, the start is none of its points either.
    """

    functions: ClassVar[bool] = True
    falls: ClassVar[bool] = True
    constraints: ClassVar[bool] = False
    proves: ClassVar[bool] = True

    def __init__(self, *, tolerance: float = 1e-6, max_iter: int = 10_000) -> None:
        super().__init__(tolerance=tolerance, max_iter=max_iter)

    def refusal(self, objective: Objective) -> str | None:
        """Return a sentence that says why this method cannot take the objective; None if it can."""
        if getattr(objective, "constrained", False) and not self.constraints:
            return f"solver {self.name!r} supports constraint sets, but not constraints that are functions."
        return super().refusal(objective)

    @abstractmethod
    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        """Yield points without end, or until no step helps."""

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from a point or from the objective's ``null``."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        x = np.array(objective.null if start is None else start, dtype=np.float64)
        x = x if np.isfinite(objective.penalised(x)) else objective.prox(x, 1.0)
        proofs = _Proofs(objective, self.tolerance)
        if self.proves and proofs.at(x, 0) is not None and proofs.holds:
            return self.finish(objective, x, trace, "certificate", proof=proofs.last)
        best, lowest, still = x, objective.value(x) if self.proves else np.inf, 0
        stopped: Stop = "limit"
        steps = self._steps(objective, x)
        for iteration in trace.iterations(self.max_iter):
            move = next(steps, None)
            new, step = (x, 0.0) if move is None else move
            value = _value(objective, new, self.proves)
            fine = bool(np.isfinite(value)) and move is not None
            proof = proofs.at(new, iteration) if fine and self.proves else None
            gap, residual = _numbers(proof)
            trace.record(
                objective=float(value),
                gap=gap,
                step=step,
                passes=objective.passes,
                learned=partial(np.array, new),
                **residual,
            )
            if not fine:
                stopped = "stalled"
                break
            still = 0 if (new != x).any() else still + 1
            x = new
            if value < lowest or (self.falls and value <= lowest + 4 * EPS * abs(lowest)):
                best, lowest = x, min(value, lowest)
            if proof is not None and proof.holds:
                return self.finish(objective, x, trace, "certificate", proof=proof)
            if still > STILL:
                stopped = "stalled"
                break
        return self.finish(objective, best, trace, stopped)


def _value(objective: Objective, x: Vector, slope: bool) -> float:
    if not np.isfinite(x).all():
        return np.inf
    if slope and not objective.tabular:
        objective.at(x, 1)  # the proof wants the gradient anyway, and the point is remembered
    return objective.value(x)


class _Proofs:
    """Asks for certificates: each time where one is free, less and less often where it takes passes."""

    def __init__(self, objective: Objective, tolerance: float) -> None:
        self._objective, self._tolerance = objective, tolerance
        self._due = 0
        self.last: Certificate | None = None

    @property
    def holds(self) -> bool:
        return self.last is not None and self.last.holds

    def at(self, x: Vector, iteration: int) -> Certificate | None:
        if self._objective.tabular:
            if iteration < self._due:
                return None
            self._due = iteration + max(10, iteration // 10)
        self.last = self._objective.certificate(x, self._tolerance)
        return self.last


def _numbers(proof: Certificate | None) -> tuple[float | None, dict[str, float]]:
    if proof is None:
        return None, {}
    return (proof.value, {}) if proof.claim == "optimal" else (None, {"residual": proof.value})


def whole(objective: Objective, x: Vector, order: Literal[0, 1, 2] = 1) -> At:
    """Evaluate f plus a squared penalty, whose derivatives are known."""
    here = objective.at(x, order)
    squares = objective.penalty.quadratic(objective.columns)
    assert squares is not None
    value = here.value + objective.penalised(x)
    if order == 0 or not squares.any():
        return At(value, here.gradient, here.hessian)
    A = squares if squares.ndim == 2 else np.diag(squares)
    full = np.zeros((objective.shape[0],) * 2)  # an intercept is last and has no penalty
    full[: len(A), : len(A)] = A
    hessian = here.hessian + full if order == 2 else here.hessian
    return At(value, here.gradient + full @ x, hessian)


def dot(one: Vector, two: Vector) -> float:
    """Return the inner product, of matrices too."""
    return float(np.sum(one * two))
