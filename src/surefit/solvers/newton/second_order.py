r"""The loop that Newton's method and its proximal form share.

Around a packed point w, P is modelled by

.. math:: m(x) = g'(x - w) + \tfrac12 (x - w)'(H + \mu D)(x - w) + pen(x),

whose minimiser is the next point, after a line search on P itself. The second derivatives are taken at the
trial point at once, so that a step which is accepted costs one pass. :math:`\mu` is 0 while H determines the
step; it grows where H is singular, where the model promises more than there is to gain, and where a line
search had to go back.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.trace import Trace
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.newton.quadratic_model import grounded
from surefit.solvers.objective.base import At, Objective
from surefit.solvers.objective.centred_hessian import SecondDerivatives
from surefit.solvers.objective.solver import CLOSE, Needs, Solution, Solver, Stop, is_close
from surefit.solvers.objective.subsample import MANY, alike, sample_of, solve_sample

LARGEST = 5000  # coefficients of all outputs that are coupled: their square is kept
ENOUGH = 1e-4  # share of the promised decrease that a step must keep
HALVINGS = 40
LEAST_DAMPING = 1e-13  # relative to the diagonal: what rounding does to it anyway
MOST_DAMPING = 1e20
COSTLY = 8  # columns from which on second derivatives of many rows cost more than the rest of a pass
NEAR = 0.05  # promised decrease, relative to the scale, from which on second derivatives may be old ones
FLOPS = 32  # columns whose second derivatives cost about as much as their first ones
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class Model:
    """A quadratic model of the loss: one matrix for all outputs if they are coupled, else one an output."""

    objective: Objective
    hessians: tuple[Matrix, ...]
    gradients: tuple[Vector, ...]
    point: Vector

    @classmethod
    def of(cls, objective: Objective, w: Vector, here: At, damping: Vector | None = None) -> Model:
        """Take the derivatives at a point; ``damping`` is what is added to them, a matrix or its diagonal."""
        H, g = here.hessian, here.gradient
        if g.ndim == 1:
            blocks, slopes = [H], [g]
        elif _coupled(H):
            size = g.size
            blocks, slopes = [H.transpose(0, 2, 1, 3).reshape(size, size)], [g.T.ravel()]
        else:
            blocks, slopes = [H[k, k] for k in range(g.shape[1])], list(g.T)
        if damping is not None and damping.shape == blocks[0].shape != g.shape:
            blocks = [block + damping for block in blocks]
        elif damping is not None:
            each = np.array_split(damping.T.ravel(), len(blocks))
            blocks = [block + np.diag(bend) for block, bend in zip(blocks, each, strict=True)]
        return cls(objective, tuple(blocks), tuple(slopes), w)

    def parts(self, w: Vector) -> list[Vector]:
        """Cut a packed point, or a gradient, into one vector for each matrix."""
        return list(np.array_split(w.T.ravel(), len(self.hessians)))

    def joined(self, parts: list[Vector]) -> Vector:
        """Pack the vectors again."""
        whole = np.concatenate(parts)
        shape = self.objective.shape
        return whole if len(shape) == 1 else whole.reshape(shape[::-1]).T.copy()

    @property
    def outputs(self) -> int:
        """How many outputs one matrix is for."""
        return len(self.gradients[0]) // self.objective.shape[0]

    def repeated(self, column: Vector, intercept: float) -> Vector:
        """Return a number a coefficient as one for each coordinate of a matrix, and the intercept's."""
        whole = np.append(column, intercept) if self.objective.fit_intercept else column
        return whole if self.outputs == 1 else np.tile(whole, self.outputs)

    def table(self, found: CoordinateTable | None = None) -> CoordinateTable:
        """The penalty of each coordinate of a matrix, or other numbers; an intercept has none."""
        found = self.objective.penalty.table(self.objective.columns) if found is None else found
        return CoordinateTable(
            self.repeated(found.l1, 0.0),
            self.repeated(found.l2, 0.0),
            self.repeated(found.lower, -np.inf),
            self.repeated(found.upper, np.inf),
        )


def _coupled(H: Matrix) -> bool:
    outputs = len(H)
    return any(H[a, b].any() for a in range(outputs) for b in range(a + 1, outputs))


class SecondOrder(Solver):
    """Base of the solvers that work with second derivatives; a class below minimises the model."""

    needs: ClassVar[Needs] = Needs(loss=("smooth", "convex"), penalty=("convex",))
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    @abstractmethod
    def minimise_model(self, model: Model) -> Vector | None:
        """Return the minimiser of model plus penalty; None where it is not unique."""

    def _damping(self, second: SecondDerivatives, w: Vector, bends: Vector, strength: float) -> Matrix:
        """Return what is added to second derivatives, a matrix or its diagonal; ``bends`` are theirs."""
        return strength * bends

    def _refusal(self, objective: Objective) -> str | None:
        size = objective.shape[0] * (objective.outputs or 1)
        if size <= LARGEST:
            return None
        return (
            f"solver {self.name!r} forms a Hessian of at most {LARGEST} coefficients, and there are {size}."
        )

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from a packed point or from the objective's ``null``."""
        self.require(objective)
        run = _Run(self, objective, Trace() if trace is None else trace)
        if start is not None:
            return run.from_point(start)
        convex = objective.loss.convex and objective.penalty.convex
        sample = sample_of(objective) if convex else None
        return run.from_point(objective.null) if sample is None else run.from_sample(sample)


class _Run:
    """One solution, as it goes on."""

    def __init__(self, solver: SecondOrder, objective: Objective, trace: Trace) -> None:
        self.solver, self.objective, self.trace = solver, objective, trace
        self.second = SecondDerivatives(objective)
        self.damping = 0.0
        rows = objective.rows
        # Without a penalty errors and tests are asked for, which want the digits of whole Newton steps.
        penalised = not isinstance(objective.penalty, NoPenalty)
        self.may_lag = penalised and rows is not None and len(rows) >= MANY and objective.columns >= COSTLY
        self.lagged = False
        self.bends = np.zeros(objective.shape)
        self.best: tuple[Vector, Certificate] | None = None
        self.asked = False

    def from_point(self, start: Vector) -> Solution:
        w = np.array(self.second.inner(start), dtype=np.float64)
        if not np.isfinite(self.objective.penalised(w)):
            w = self.objective.prox(w, 1.0)  # a start outside a constraint
        return self._from(w, self.second.at(w))

    def from_sample(self, sample: Objective) -> Solution:
        """Begin at the answer for a sample and with its second derivatives, where both serve all rows."""
        objective = self.objective
        point = solve_sample(self.solver, sample)
        few = SecondDerivatives(sample)
        moved = few.by.any() or self.second.by.any()
        self.lagged = bool(
            self.may_lag and not moved and len(objective.shape) == 1 and alike(sample, objective)
        )
        w = np.array(self.second.inner(point), dtype=np.float64)
        here = self.second.at(w, 1 if self.lagged else 2)
        of_none = objective.scale + objective.targets.floor / objective.targets.weight
        if not here.value + objective.penalised(w) <= of_none:
            self.lagged = False
            return self.from_point(objective.null)
        if self.lagged:
            here = replace(here, hessian=few.at(point).hessian)
        return self._from(w, here)

    def _from(self, w: Vector, here: At) -> Solution:
        objective, solver = self.objective, self.solver
        value = here.value + objective.penalised(w)
        before = np.inf
        for _ in self.trace.iterations(solver.max_iter):
            target, promised = self._target(w, here, value)
            if self.lagged and self._is_slow(promised, before):
                here, self.lagged = self.second.at(w), False
                target, promised = self._target(w, here, value)
            gap = None
            left = promised / before if before > 0 else 0.0
            if promised <= solver.tolerance * objective.scale and self._may_prove(w, here, left):
                proof = objective.certificate(self.second.outer(target), solver.tolerance)
                gap, least = proof.value, self.best[1].value if self.best else np.inf
                if gap < least:
                    self.best = target, proof
                close = self._close(proof, promised) or gap > 0.5 * least
                if proof.holds and close:
                    self._record(proof.parts["objective"], gap, 1.0)
                    return self._finish(w, "certificate")
                if gap > 0.5 * least and promised <= 16 * EPS * max(abs(value), objective.scale):
                    self._record(value, gap, 0.0)
                    return self._finish(w, "stalled")
            before = promised
            found = self._line_search(w, value, target, promised, here)
            if found is None:
                self._record(value, gap, 0.0)
                return self._finish(w, "stalled")
            step, w, here, value = found
            self._record(value, gap, step)
        return self._finish(w, "limit")

    def _close(self, proof: Certificate, promised: float) -> bool:
        """Whether the gap is small beside the objective; a first bound may be loose, and is no verdict."""
        room = self._room(proof.parts["objective"])
        gap = proof.parts.get("gap", proof.parts.get("decrement", promised))
        found = gap <= CLOSE * room or (self.asked and is_close(gap, room))
        self.asked = True
        return found

    def _is_slow(self, promised: float, before: float) -> bool:
        """Whether steps by old second derivatives would cost more passes than new ones do."""
        wanted = self.solver.tolerance * self.objective.scale
        if promised <= wanted or not np.isfinite(before):
            return False
        if promised >= before:
            return True
        return bool(
            np.log(promised / wanted) > np.log(before / promised) * (3 + self.objective.columns / FLOPS)
        )

    def _may_prove(self, w: Vector, here: At, share: float) -> bool:
        """Whether a proof is worth its passes: a step by old second derivatives leaves some of the slopes."""
        penalty, wanted = self.objective.penalty, self.solver.tolerance * self.objective.scale
        if not self.lagged or not penalty.offers("conjugate"):
            return True
        (coef, _), (slopes, _) = self.objective.split(w), self.objective.split(here.gradient)
        dual = -float(penalty.dual_scaling(-slopes)) * slopes
        held = penalty.value(coef) + penalty.conjugate(dual) - float(np.sum(dual * coef))
        return bool(np.sqrt(max(share, 0.0)) * held <= wanted)  # slopes shrink as its root

    def _record(self, value: float, gap: float | None, step: float) -> None:
        self.trace.record(
            objective=value, gap=gap, step=step, passes=self.objective.passes, damping=self.damping
        )

    def _finish(self, w: Vector, stopped: Stop) -> Solution:
        """End at the point with the best proof; where none was asked for, at the last one."""
        point, proof = self.best if self.best and stopped != "limit" else (w, None)
        return self.solver.finish(self.objective, self.second.outer(point), self.trace, stopped, proof=proof)

    def _target(self, w: Vector, here: At, value: float) -> tuple[Vector, float]:
        """Return the model's minimiser and the decrease it promises, damped until both make sense."""
        objective = self.objective
        self.bends = np.maximum(self.bends, _diagonal(here.hessian, objective.shape))
        bent = self.bends > 0
        bends = self.bends if bent.all() else np.where(bent, self.bends, self._column_bends())
        room = self._room(value)
        while True:
            beyond = 10.0
            added = self.solver._damping(self.second, w, bends, self.damping) if self.damping > 0 else None
            with np.errstate(over="ignore", invalid="ignore"):  # without damping it may lie too far out
                target = self.solver.minimise_model(Model.of(objective, w, here, added))
            if target is not None:
                change = target - w
                promised = -float(np.sum(here.gradient * change)) - (
                    objective.penalised(target) - objective.penalised(w)
                )
                if np.isfinite(promised) and promised <= 4.0 * room:
                    return target, promised
                beyond = promised / room if room > 0 else np.inf
                beyond = np.inf if np.isnan(beyond) else beyond  # no number tells by how much
            if self.damping > MOST_DAMPING:
                return w, 0.0
            self.damping = max(float(np.clip(beyond, 10.0, 1e4)) * self.damping, LEAST_DAMPING)

    def _room(self, value: float) -> float:
        """Return what is left to gain at the most."""
        targets = self.objective.targets
        return max(value - targets.floor / targets.weight, 0.0) + EPS * abs(value)

    def _column_bends(self) -> Vector:
        """The curvature of columns where the loss has shown none: as for least squares."""
        spread = self.objective.spread
        squares = spread.variance + (spread.mean - self.second.by) ** 2
        squares = grounded(squares, spread.mean)
        whole = np.append(squares, 1.0) if self.objective.fit_intercept else squares
        return np.array(
            np.broadcast_to(whole.reshape(-1, *[1] * (len(self.objective.shape) - 1)), self.objective.shape)
        )

    def _line_search(
        self, w: Vector, value: float, target: Vector, promised: float, here: At
    ) -> tuple[float, Vector, At, float] | None:
        """Go back from the target until P falls by a share of what was promised; return the step, the point
        and P there.

        Near the answer second derivatives hardly change, and those of many rows cost most of a step: the old
        ones serve, corrected by what gradients tell along each step, as long as steps fall fast.
        """
        step, change = 1.0, target - w
        self.lagged = self.may_lag and promised <= NEAR * self.objective.scale
        for _ in range(HALVINGS):
            trial = target if step == 1.0 else w + step * change
            there = self.second.at(trial, 1 if self.lagged else 2)
            if self.lagged:
                there = replace(there, hessian=here.hessian)
            new = there.value + self.objective.penalised(trial)
            slack = 4 * EPS * max(abs(value), self.objective.scale)
            if np.isfinite(new) and new <= value - ENOUGH * step * promised + slack:
                self._adapt(step)
                if self.lagged:
                    there = replace(there, hessian=_corrected(here, there, trial - w))
                return step, trial, there, new
            step = _shorter(step, promised, new - value)
        return None

    def _adapt(self, step: float) -> None:
        if step == 1.0:
            self.damping = 0.1 * self.damping if self.damping > LEAST_DAMPING else 0.0
        elif step < 0.25:
            self.damping = max(10.0 * self.damping, 1e-6)


def _shorter(step: float, promised: float, risen: float) -> float:
    """Return the minimiser of the parabola through what is known, between a tenth and a half of the step."""
    if not np.isfinite(risen):
        return 0.1 * step
    return float(np.clip(0.5 * promised * step**2 / (risen + promised * step), 0.1 * step, 0.5 * step))


def _corrected(here: At, there: At, step: Vector) -> Vector:
    """Return old second derivatives that agree with the gradients along a step (Broyden, Fletcher, ...)."""
    H, turned = here.hessian, there.gradient - here.gradient
    if H.ndim != 2:
        return H
    along, pull = float(step @ turned), H @ step
    bent = float(step @ pull)
    if not (bent > 0 and along > EPS * float(np.linalg.norm(step) * np.linalg.norm(turned))):
        return H
    return np.asarray(H + np.outer(turned / along, turned) - np.outer(pull / bent, pull))


def _diagonal(hessian: Matrix, shape: tuple[int, ...]) -> Vector:
    if hessian.ndim == 2:
        return np.array(np.diagonal(hessian))
    return np.column_stack([np.diagonal(hessian[k, k]) for k in range(shape[1])])
