r"""Firth's bias-reduced logistic regression: the likelihood times the root of the information's determinant.

.. math:: \ell(\beta) + \tfrac12 \log\det I(\beta), \qquad
          U^*(\beta) = X' \left( s (y - p) + h (\tfrac12 - p) \right), \qquad
          h_i = s_i p_i (1 - p_i) x_i' I^{-1} x_i

Its maximiser is finite whatever the classes. Columns that depend on each other leave directions that the data
say nothing of: they are held at zero, and the determinant is that of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from scipy import linalg

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.trace import Trace
from surefit.losses.logistic import Logistic
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.centred_hessian import SecondDerivatives
from surefit.solvers.objective.solver import Solution, Solver, Stop
from surefit.stats.firth_score import FirthScore

HALVINGS = 40
RANK = 1e-11  # of eigenvalues beside a diagonal of ones: rounding makes up the smaller ones
EPS = float(np.finfo(float).eps)


class Firth(Solver, abstract=True):
    """Scoring steps :math:`I^{-1} U^*` with step halving, two passes each.

    It has no place among the solvers that one can choose: what it minimises is more than the objective that
    it is handed, the logistic loss without a penalty.

    >>> from surefit.penalties import NoPenalty
    >>> objective = Objective.of_arrays([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1], Logistic(), NoPenalty())
    >>> Firth(tolerance=1e-12).solve(objective).x.round(4)
    array([ 1.3099, -0.655 ])
    """

    name = "firth"
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def _refusal(self, objective: Objective) -> str | None:
        if type(objective.loss) is Logistic and objective.outputs is None:
            return None
        return f"Firth's correction is for the logistic loss, and this is the {objective.loss.name} loss."

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from a packed point or from the objective's ``null``."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        problem = _Problem(objective)
        w = problem.held(objective.null if start is None else start)
        here = problem.at(w)
        stopped: Stop = "limit"
        for _ in trace.iterations(self.max_iter):
            score = problem.score(here)
            step, decrement = here.step(score)
            if decrement <= self.tolerance * objective.scale:
                here = problem.at(here.w + step)
                trace.record(objective=here.value, gap=decrement, step=1.0, passes=objective.passes)
                stopped = "certificate"
                break
            length, found = 1.0, None
            for _ in range(HALVINGS):
                trial = problem.at(here.w + length * step)
                if trial.value <= here.value - 1e-4 * length * decrement + 4 * EPS * abs(here.value):
                    found = trial
                    break
                length *= 0.5
            if found is None:
                trace.record(objective=here.value, gap=decrement, step=0.0, passes=objective.passes)
                stopped = "stalled"
                break
            here = found
            trace.record(objective=here.value, gap=decrement, step=length, passes=objective.passes)
        proof = problem.proof(here, self.tolerance)
        return self.finish(objective, problem.second.outer(here.w), trace, stopped, proof=proof)

    @staticmethod
    def certificate(objective: Objective, w: Vector, tolerance: float) -> Certificate:
        """Certify a packed point by what a step from it would gain."""
        problem = _Problem(objective)
        return problem.proof(problem.at(problem.second.inner(w)), tolerance)


@dataclass(frozen=True, slots=True)
class _Point:
    """A point, the mean of minus the corrected likelihood, the slopes of the loss, and a root of I^{-1}."""

    w: Vector
    value: float
    gradient: Vector
    root: Vector
    weight: float

    def step(self, score: Vector) -> tuple[Vector, float]:
        """Return the scoring step and half its slope, the mean gain that it promises."""
        along = self.root.T @ score
        return self.root @ along, 0.5 * float(along @ along) / self.weight


class _Problem:
    """The corrected likelihood of an objective, on the directions that the rows determine."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.second = SecondDerivatives(objective)
        self.weight = objective.targets.weight
        first = self.second.at(self.second.inner(objective.null)).hessian
        size = np.sqrt(np.diagonal(first))
        size = np.where(size > 0, size, 1.0)
        values, axes = linalg.eigh(first / size[:, None] / size, check_finite=False)
        kept = values > RANK * max(float(values.max(initial=0.0)), 1e-300)
        self.basis = axes[:, kept] / size[:, None]

    def held(self, w: Vector) -> Vector:
        """Return the moved point without what the rows do not determine."""
        w = self.second.inner(w)
        if self.basis.shape[1] == len(w):
            return w
        found, *_ = linalg.lstsq(self.basis, w, check_finite=False)
        return np.asarray(self.basis @ found)

    def at(self, w: Vector) -> _Point:
        """Evaluate the corrected likelihood, in one pass; a point without information is infinitely bad."""
        here = self.second.at(w)
        information = self.weight * (self.basis.T @ here.hessian @ self.basis)
        factor, failed = linalg.lapack.dpotrf(information, lower=1, clean=1)
        if failed or not np.isfinite(here.value):
            return _Point(w, np.inf, here.gradient, self.basis, self.weight)
        value = here.value - float(np.log(np.diagonal(factor)).sum()) / self.weight
        root = linalg.solve_triangular(factor, self.basis.T, lower=True, check_finite=False).T
        return _Point(w, value, here.gradient, root, self.weight)

    def score(self, here: _Point) -> Vector:
        """Return the corrected score, in one pass."""
        coef, intercept = self.objective.split(here.w)
        of = partial(FirthScore.of, w=coef, intercept=intercept, root=here.root)
        found: FirthScore = self.second.accumulate(of)
        return np.asarray(found.score - self.weight * here.gradient)

    def proof(self, here: _Point, tolerance: float) -> Certificate:
        """Certify a point by what a step from it would gain."""
        _, decrement = here.step(self.score(here)) if np.isfinite(here.value) else (None, np.inf)
        scale = self.objective.scale
        parts = {"objective": here.value, "decrement": decrement, "scale": scale}
        measure = "predicted decrease of a scoring step, relative to the loss of a constant"
        return Certificate("stationary", measure, decrement / scale, tolerance, parts)
