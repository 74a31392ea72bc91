"""Exact paths from any source, and what proves the point at which one ends.

Rows in memory that are fewer than the columns are followed by their columns, everything else by its moments,
gathered in one pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.native.moments import ColumnMoments
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.linear import orthogonality, sparse_fit
from surefit.models.linear.passes import in_memory
from surefit.models.linear.ridge_fit import LARGEST_GRAM
from surefit.models.linear.ridge_gap import spread_of_both
from surefit.models.linear.sparse_fit import Problem
from surefit.penalties.l1 import L1
from surefit.solvers.squared_sums import SquaredSums
from surefit.stats.moments import Moments
from surefit.stats.residuals import Residuals

TOLERANCE = 1e-10  # of a gap, relative to the loss of the best constant: a path is exact up to rounding
EQUAL_ANGLES = 1e-8  # of cosines, which are only the root as exact as a gap

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


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
        penalty = L1(alpha, positive=positive)
        return sparse_fit.recomputed(source, engine, penalty, coef, intercept, fit_intercept, TOLERANCE)
    return orthogonality.recomputed(
        source, engine, coef, intercept, fit_intercept=fit_intercept, positive=positive, parts={}
    )


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
    worst = 0.0
    for k, (size, active) in ends.items():
        slopes = np.abs(found.cross[:, k]) / found.weight
        off = np.maximum(slopes - size, 0.0)
        some = np.asarray(active, dtype=np.intp)
        off[some] = np.abs(slopes[some] - size)
        bound = np.sqrt(np.maximum(squares, 0.0) * target_squares[k]) / found.weight
        cosine = np.divide(off, bound, out=np.zeros_like(off), where=bound > 0)
        worst = max(worst, float(cosine.max(initial=0.0)))
    if fit_intercept:
        size = np.sqrt(found.weight * target_squares)
        rounding = 8 * np.finfo(float).eps * (np.abs(centre) @ np.abs(coef) + np.abs(intercept))
        left = np.maximum(np.abs(found.sums) - found.weight * rounding, 0.0)
        drift = np.divide(left, size, out=np.zeros_like(size), where=size > 0)
        worst = max(worst, float(drift.max(initial=0.0)))
    return Certificate("stationary", "largest deviation from equal angles, as a cosine", worst, EQUAL_ANGLES)
