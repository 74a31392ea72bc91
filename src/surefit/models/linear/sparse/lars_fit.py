"""Exact paths from any source, also within constraints, and what proves the point at which one ends.

Rows in memory that are fewer than the columns are followed by their columns, everything else by its moments,
gathered in one pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.core.native.sums.moments import ColumnMoments
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import MappedSource, Source, in_memory
from surefit.engine.base import Engine
from surefit.losses.squared import Squared
from surefit.models.linear.common.constraints import constrained, limits_of, listed, multipliers
from surefit.models.linear.squares import orthogonality
from surefit.models.linear.squares import separable_penalty as sparse_fit
from surefit.models.linear.squares.ridge_fit import LARGEST_GRAM
from surefit.models.linear.squares.ridge_gap import spread_of_both
from surefit.models.linear.squares.separable_penalty import one_target
from surefit.penalties.base import Penalty
from surefit.penalties.l1 import L1
from surefit.penalties.no_penalty import NoPenalty
from surefit.penalties.nonnegative import NonNegative
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import worst
from surefit.solvers.squares.constrained_homotopy import constrained_lasso_path
from surefit.solvers.squares.homotopy import LassoPath
from surefit.solvers.squares.level_limits import LevelLimits
from surefit.solvers.squares.problems import Problem
from surefit.solvers.squares.sums import SquaredSums
from surefit.stats.moments import Moments
from surefit.stats.residuals import Residuals

TOLERANCE = 1e-10  # of a gap, relative to the loss of the best constant: a path is exact up to rounding
_FAR = 1e3  # means over deviations, from which on the products of a pass cancel
EQUAL_ANGLES = 1e-8  # of cosines, which are only the root as exact as a gap


def path_problems(
    source: Source, engine: Engine, fit_intercept: bool
) -> tuple[list[Problem], dict[str, Any]]:
    """Return one problem a target, and what was learnt of the columns for the diagnosis."""
    batch, width = in_memory(source), source.schema.width
    if (batch is not None and len(batch) < width) or width > LARGEST_GRAM:
        columns = sparse_fit.problems(source, engine, fit_intercept)
        weight = float(len(batch) if batch.weight is None else batch.weight.sum()) if batch else np.nan
        return columns, {"rows": source.schema.rows, "weight": weight}
    moments = engine.accumulate(Moments.of, source)
    found: list[Problem] = [
        SquaredSums.of(moments, target=k, fit_intercept=fit_intercept) for k in range(moments.targets)
    ]
    return found, evidence_of(moments)


def evidence_of(moments: Moments) -> dict[str, Any]:
    """Return what the rules of the diagnosis look at."""
    unknown = np.full_like(moments.mean_x, np.nan)  # the sums do not know the range
    columns = ColumnMoments(moments.weight, moments.mean_x, np.diagonal(moments.gram), unknown, unknown)
    return {
        "correlation": moments.correlation(),
        "column_moments": columns,
        "rows": moments.rows,
        "weight": moments.weight,
    }


def proof(
    source: Source,
    engine: Engine,
    coef: Matrix,
    intercept: Vector,
    alpha: float,
    *,
    fit_intercept: bool,
    positive: bool,
) -> Certificate:
    """Prove coefficients (p, k) at a strength from the data: by the duality gap, or as least squares at 0."""
    if alpha > 0:
        return by_gap(source, engine, L1(alpha, positive=positive), coef, intercept, fit_intercept)
    return orthogonality.recomputed(
        source, engine, coef, intercept, fit_intercept=fit_intercept, positive=positive, parts={}
    )


def by_gap(
    source: Source,
    engine: Engine,
    penalty: Penalty,
    coef: Matrix,
    intercept: Vector,
    fit_intercept: bool,
    reach: float = 0.0,
) -> Certificate:
    """Prove coefficients (p, k) by the duality gap, as exactly as rounding allows.

    reach: how long a coefficient may be in a constraint, which a slope's rounding is multiplied by.
    """
    source, intercept, tolerance = near_zero(source, engine, coef, intercept, fit_intercept, reach)
    each = sparse_fit.points(source, engine, penalty, coef, intercept, fit_intercept)
    return sparse_fit.recomputed(each, tolerance)


def near_zero(
    source: Source,
    engine: Engine,
    coef: Matrix,
    intercept: Vector,
    fit_intercept: bool,
    reach: float = 0.0,
) -> tuple[Source, Vector, float]:
    """Return rows so near to zero that nothing cancels, the intercept there, and what rounding allows."""
    spreads: Any = engine.accumulate(spread_of_both, source)
    columns, target = spreads["columns"], spreads["target"]
    rms, size = (np.sqrt(np.maximum(part.scatter / part.weight, 0.0)) for part in (columns, target))
    if not fit_intercept:
        rms, size = np.hypot(rms, columns.mean), np.hypot(size, target.mean)
    sums = np.maximum(rms @ np.abs(coef), reach * rms.max(initial=0.0))
    shares = np.divide(sums, size, out=np.zeros_like(size), where=size > 0)
    # A slope is rounded by a share of column times target, and the gap sums its products with coefficients.
    tolerance = max(TOLERANCE, 64 * np.finfo(float).eps * float(shares.max(initial=0.0)))
    far = bool((np.abs(columns.mean) > _FAR * rms).any() or (np.abs(target.mean) > _FAR * size).any())
    batch = in_memory(source)
    if fit_intercept and far and not (batch is not None and sparse.issparse(batch.X)):
        source = MappedSource(source, source.schema, _Shifted(columns.mean, target.mean))
        intercept = intercept + columns.mean @ coef - target.mean
    return source, intercept, tolerance


@dataclass(frozen=True, slots=True)
class _Shifted:
    """Dense rows moved towards zero, where products do not cancel."""

    x: Vector
    y: Vector

    def __call__(self, batch: Batch) -> Batch:
        X: Any = batch.X
        Y: Any = batch.y
        moved = np.asarray(Y, dtype=np.float64) - (self.y if Y.ndim == 2 else self.y[0])
        return replace(batch, X=X - self.x, y=moved)


def equal_angles(
    source: Source,
    engine: Engine,
    coef: Matrix,
    intercept: Vector,
    ends: Mapping[int, tuple[float, Vector]],
    fit_intercept: bool,
) -> Certificate:
    """Prove least angles: the active columns' slopes are all of one size, and no other is larger.

    ends: for each target the size, and the numbers of the active columns.
    """
    spreads: Any = engine.accumulate(spread_of_both, source)
    columns, target = spreads["columns"], spreads["target"]
    centre = columns.mean if fit_intercept else np.zeros_like(columns.mean)
    found = engine.accumulate(partial(Residuals.of, coef=coef, intercept=intercept, centre=centre), source)
    plain = 0.0 if fit_intercept else 1.0
    squares = columns.scatter + plain * columns.weight * columns.mean**2
    target_squares = target.scatter + plain * target.weight * target.mean**2
    scale = np.maximum(target_squares, found.squares)
    worst = 0.0
    for k, (size, active) in ends.items():
        slopes = np.abs(found.cross[:, k]) / found.weight
        off = np.maximum(slopes - size, 0.0)
        some = np.asarray(active, dtype=np.intp)
        off[some] = np.abs(slopes[some] - size)
        bound = np.sqrt(np.maximum(squares, 0.0) * scale[k]) / found.weight
        cosine = np.divide(off, bound, out=np.zeros_like(off), where=bound > 0)
        worst = max(worst, float(cosine.max(initial=0.0)))
    if fit_intercept:
        size = np.sqrt(found.weight * scale)
        rounding = 8 * np.finfo(float).eps * (np.abs(centre) @ np.abs(coef) + np.abs(intercept))
        left = np.maximum(np.abs(found.sums) - found.weight * rounding, 0.0)
        drift = np.divide(left, size, out=np.zeros_like(size), where=size > 0)
        worst = max(worst, float(drift.max(initial=0.0)))
    return Certificate("stationary", "largest deviation from equal angles, as a cosine", worst, EQUAL_ANGLES)


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
                f"{self.who} follows a constrained path by the Gram matrix of all columns, which is kept up "
                f"to {LARGEST_GRAM} columns, and there are {source.schema.width}: use Lasso, or drop columns."
            )
        moments = engine.accumulate(Moments.of, source)
        return [self.of(moments, k) for k in range(moments.targets)], evidence_of(moments)

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
        return constrained_lasso_path(
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
        source, intercept, tolerance = near_zero(
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
        found = worst(proofs)
        return replace(
            found,
            witness={**found.witness, **_together(witnesses)},
            parts={**found.parts, "stationarity": max(left)},
        )


def _together(witnesses: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the multipliers of all targets: those of one as they are, of several with a column each."""
    if len(witnesses) == 1:
        return witnesses[0]
    bounds = {side: np.column_stack([each[side] for each in witnesses]) for side in ("lower", "upper")}
    order = zip(*(each["order"] for each in witnesses), strict=True)
    return {**bounds, "order": tuple(np.column_stack(group) for group in order)}
