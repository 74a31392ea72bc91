"""Exact paths of the lasso within constraints, and what proves the point at which one ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.core.trace import Trace
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.losses.squared import Squared
from surefit.models.linear import lars_fit
from surefit.models.linear.constraints import constrained, limits_of, listed, multipliers
from surefit.models.linear.ridge_fit import LARGEST_GRAM
from surefit.models.linear.sparse_fit import one_target
from surefit.penalties.l1 import L1
from surefit.penalties.no_penalty import NoPenalty
from surefit.penalties.nonnegative import NonNegative
from surefit.solvers.homotopy import LassoPath
from surefit.solvers.level_limits import LevelLimits
from surefit.solvers.objective import Objective
from surefit.solvers.path_within import lasso_path_within
from surefit.solvers.squared_sums import SquaredSums
from surefit.stats.moments import Moments

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ConstrainedPath:
    """Whose constraints they are, and whether no coefficient may be negative besides."""

    who: str
    constraints: Any
    positive: bool
    fit_intercept: bool

    @property
    def _asked(self) -> list[Any]:
        return [*listed(self.constraints), *([NonNegative()] if self.positive else [])]

    def limits(self, columns: int) -> LevelLimits:
        """Return bounds and groups of ordered levels."""
        return limits_of(self.who, self._asked, columns)

    def problems(self, source: Source, engine: Engine) -> tuple[list[SquaredSums], dict[str, Any]]:
        """Return one problem a target, and what was learnt of the columns for the diagnosis."""
        if source.schema.width > LARGEST_GRAM:
            raise RefusalError(
                f"{self.who} follows a path within constraints by products of all columns, up to "
                f"{LARGEST_GRAM} of them, and there are {source.schema.width}: take Lasso, or leave some out."
            )
        moments = engine.accumulate(Moments.of, source)
        return [self.of(moments, k) for k in range(moments.targets)], lars_fit.evidence_of(moments)

    def of(self, moments: Moments, target: int = 0) -> SquaredSums:
        """Return the problem of moments."""
        return SquaredSums.of(moments, target=target, fit_intercept=self.fit_intercept)

    def follow(
        self,
        problem: SquaredSums,
        *,
        alpha_min: float = 0.0,
        max_iter: int,
        most_active: int | None = None,
        trace: Trace | None = None,
    ) -> LassoPath:
        """Follow the path of one problem down to a strength."""
        return lasso_path_within(
            problem,
            self.limits(problem.columns),
            alpha_min=alpha_min,
            max_iter=max_iter,
            most_active=most_active,
            trace=trace,
        )

    def freedom(self, path: LassoPath) -> Vector:
        """Return how many numbers each knot is free to choose: equal levels share one, bounds leave none."""
        coefs = path.coefs.toarray()
        limits = self.limits(len(coefs))
        free = (coefs != 0) & (coefs != limits.lower[:, None]) & (coefs != limits.upper[:, None])
        for group in limits.groups:
            rows = np.asarray(group)
            free[rows[1:]] &= np.diff(coefs[rows], axis=0) != 0
        return np.asarray(free.sum(axis=0), dtype=np.float64)

    def proof(
        self, source: Source, engine: Engine, coef: Matrix, intercept: Vector, alphas: Sequence[float]
    ) -> Certificate:
        """Prove coefficients (p, k), each target's at its strength, with multipliers; the worst counts."""
        source, intercept, tolerance = lars_fit.near_zero(
            source, engine, coef, np.asarray(intercept), self.fit_intercept
        )
        proofs, witnesses, left = [], [], []
        for k, alpha in enumerate(alphas):
            penalty = constrained(self.who, L1(alpha) if alpha > 0 else NoPenalty(), self._asked, len(coef))
            objective = Objective(
                one_target(source, k), engine, Squared(), penalty, fit_intercept=self.fit_intercept
            )
            packed = np.append(coef[:, k], intercept[k]) if self.fit_intercept else coef[:, k]
            proofs.append(objective.certificate(packed, tolerance))
            witness, parts = multipliers(objective, packed)
            witnesses.append(witness)
            left.append(parts["stationarity"])
        worst = max(proofs, key=lambda proof: proof.value)
        return replace(
            worst,
            witness={**worst.witness, **_together(witnesses)},
            parts={**worst.parts, "stationarity": max(left)},
        )


def _together(witnesses: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the multipliers of all targets: those of one as they are, of several with a column each."""
    if len(witnesses) == 1:
        return witnesses[0]
    bounds = {side: np.column_stack([each[side] for each in witnesses]) for side in ("lower", "upper")}
    order = zip(*(each["order"] for each in witnesses), strict=True)
    return {**bounds, "order": tuple(np.column_stack(group) for group in order)}
