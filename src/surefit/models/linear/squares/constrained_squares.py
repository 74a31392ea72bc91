r"""Least squares under constraints, for the estimators that otherwise solve squares in ways of their own.

.. math:: \min_w \frac{1}{2W} \sum_i s_i (y_i - w'x_i - b)^2 + pen(w), \qquad w \text{ within its constraints}

Each target is a problem of its own, solved and proved as any mean loss with a penalty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.certificate import Certificate
from surefit.core.trace import Trace
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.losses.squared import Squared
from surefit.models.linear.common.constraints import constrained, multipliers
from surefit.models.linear.squares.separable_penalty import one_target
from surefit.penalties.base import Penalty
from surefit.penalties.l2 import L2
from surefit.penalties.no_penalty import NoPenalty
from surefit.penalties.nonnegative import NonNegative
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import worst
from surefit.solvers.objective.solver import Solution, choose
from surefit.stats.spread import Spread

NOTHING_KEPT = "a fit with constraints makes passes over the rows and keeps no sums"


@dataclass(frozen=True, slots=True)
class ConstrainedFit:
    """Coefficients (p, k), intercepts (k,), gaps and iterations a target, the solver, proof and evidence."""

    coef: Matrix
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]
    iterations: NDArray[np.intp]
    solver: str
    certificate: Certificate
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ConstrainedSquares:
    """What is to be minimised: ``penalty`` makes one of the mean squares of a target, from its weight.

    positive: whether no coefficient may be negative, on top of the constraints.
    """

    who: str
    constraints: Any
    penalty: Callable[[int, float], Penalty]
    fit_intercept: bool
    positive: bool
    tolerance: float
    max_iter: int = 1000

    def objective(self, source: Source, engine: Engine, target: int) -> Objective:
        """Bind one target."""
        rows = one_target(source, target)
        objective = Objective(rows, engine, Squared(), NoPenalty(), fit_intercept=self.fit_intercept)
        objective.penalty = self.within(self.penalty(target, objective.targets.weight), objective.columns)
        return objective

    def within(self, penalty: Penalty, columns: int) -> Penalty:
        """Return a penalty that is infinite where a constraint does not hold."""
        given = [self.constraints] if not isinstance(self.constraints, list | tuple) else self.constraints
        if self.positive:
            given = [*given, NonNegative()]
        return constrained(self.who, penalty, given, columns)

    def solve(
        self, objective: Objective, start: NDArray[np.float64] | None, trace: Trace
    ) -> tuple[str, Solution]:
        """Minimise for one target from a packed point; return the solver's name as well."""
        solver = choose(objective, tolerance=self.tolerance, max_iter=self.max_iter)
        constant = _constant(objective, self.tolerance, trace)
        return solver.name, constant or solver.solve(objective, start, trace)

    def fit(
        self, source: Source, engine: Engine, trace: Trace, start: Matrix | None = None
    ) -> ConstrainedFit:
        """Minimise target by target."""
        found = []
        for k in range(source.schema.targets):
            objective = self.objective(source, engine, k)
            begin = None if start is None else _packed(objective, start[:, k], objective.null[-1])
            name, solution = self.solve(objective, begin, trace)
            found.append((objective, solution, *multipliers(objective, solution.x)))
        objectives, solutions, witnesses, parts = zip(*found, strict=True)
        proofs = [solution.certificate for solution in solutions]
        proof = worst(proofs)
        balanced = max(part["stationarity"] for part in parts)
        proof = replace(
            proof,
            witness={**proof.witness, **_together(witnesses)},
            parts={**proof.parts, "stationarity": balanced},
        )
        split = [
            objective.split(solution.x) for objective, solution in zip(objectives, solutions, strict=True)
        ]
        spread, target = objectives[0].spread, engine.accumulate(partial(Spread.of, part="y"), source)
        return ConstrainedFit(
            np.column_stack([coef for coef, _ in split]),
            np.array([0.0 if intercept is None else intercept for _, intercept in split]),
            np.array([each.value * each.parts.get("scale", 1.0) for each in proofs]),
            np.array([max(solution.iterations, 1) for solution in solutions]),
            name,
            proof,
            {"column_moments": spread.moments, "target_moments": target.moments, "rows": spread.rows},
        )

    def certify(self, source: Source, engine: Engine, coef: Matrix, intercept: Any) -> Certificate:
        """Prove coefficients (p, k) from the data; the worst target's proof counts."""
        offsets = np.broadcast_to(np.asarray(intercept, dtype=np.float64), coef.shape[1])
        proofs = []
        for k in range(coef.shape[1]):
            objective = self.objective(source, engine, k)
            proofs.append(objective.certificate(_packed(objective, coef[:, k], offsets[k]), self.tolerance))
        return worst(proofs)


def squared_penalty(strength: float) -> Penalty:
    """Return the penalty of squares, or none for a strength of 0."""
    return L2(strength) if strength > 0 else NoPenalty()


def _constant(objective: Objective, tolerance: float, trace: Trace) -> Solution | None:
    """Return the constant where it fits every row exactly; None elsewhere."""
    x = np.asarray(objective.null)
    if objective.scale > np.finfo(float).tiny or not np.isfinite(objective.penalised(x)):
        return None
    proof = objective.certificate(x, tolerance)
    return Solution(x, proof.parts["objective"], proof, 1, objective.passes, "certificate", trace)


def _packed(objective: Objective, coef: NDArray[np.float64], intercept: Any) -> NDArray[np.float64]:
    return np.append(coef, intercept) if objective.fit_intercept else np.array(coef)


def _together(witnesses: Any) -> dict[str, Any]:
    """Return the multipliers of all targets: those of one as they are, of several with a column each."""
    if len(witnesses) == 1:
        return dict(witnesses[0])
    bounds = {name: np.column_stack([each[name] for each in witnesses]) for name in ("lower", "upper")}
    order = zip(*(each["order"] for each in witnesses), strict=True)
    return {**bounds, "order": tuple(np.column_stack(group) for group in order)}
