"""Squared loss with a penalty of single coefficients, from any source: one target after the other.

Whether by columns in memory or by sums of all rows is chosen by ``surefit.solvers.squares.problems``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.core.native.sums.moments import ColumnMoments
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import MappedSource, Source, in_memory
from surefit.engine.base import Engine
from surefit.losses.squared import Squared
from surefit.penalties.base import Penalty
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import proved, worst
from surefit.solvers.squares.problems import LARGEST_GRAM, Problem, squared_problems
from surefit.solvers.squares.sums import SquaredSums
from surefit.stats.moments import Moments

SLIGHT = 1e-4  # of the loss of a constant: what takes less from it is not solved any closer
Points = Sequence[tuple[Objective, Vector]]  # a target each


@dataclass(frozen=True, slots=True)
class Fitted:
    """Coefficients (p, k) and intercepts, each target's gap and rounds, and the worst target's proof."""

    coef: Matrix
    intercept: Vector
    gap: Vector
    rounds: NDArray[np.intp]
    certificate: Certificate
    evidence: Mapping[str, Any] = field(default_factory=dict)


def problems(source: Source, engine: Engine, fit_intercept: bool, *, once: bool = False) -> list[Problem]:
    """Return one problem a target; ``once``: each is solved for one strength."""
    batch, width = in_memory(source), source.schema.width
    if batch is None and width > LARGEST_GRAM:
        raise RefusalError(
            f"a table of {width} columns that is not in memory would need their Gram matrix, which is kept "
            f"up to {LARGEST_GRAM} columns: drop columns, or load the table as one sparse or dense array."
        )
    return squared_problems(
        batch,
        lambda: engine.accumulate(Moments.of, source),
        fit_intercept=fit_intercept,
        single_fit=once,
    )


def within(problem: Any, tolerance: float) -> float:
    """Return the gap to stop at, in units of the objective.

    From sums the last digits cost next to nothing, and leave the tolerance to what rounding did to the sums.
    """
    asked = tolerance * scale_of(problem)
    if isinstance(problem, SquaredSums):
        return max(1e-4 * asked, min(asked, 1e-15 * scale_of(problem)))
    return asked


def scale_of(problem: Any) -> float:
    """Return what a gap is measured by: the loss of the best constant."""
    return max(0.5 * problem.energy, np.finfo(float).tiny)


def fit(
    source: Source,
    engine: Engine,
    penalty: Penalty,
    *,
    fit_intercept: bool,
    tolerance: float,
    max_iter: int,
    start: Matrix | None,
    trace: Trace,
) -> Fitted:
    """Minimise for each target; the gap is held to ``tolerance`` times the loss of the best constant."""
    each = problems(source, engine, fit_intercept, once=True)
    table = penalty.table(source.schema.width)
    found = [
        _solved(problem, table, None if start is None else start[:, k], tolerance, max_iter, trace)
        for k, problem in enumerate(each)
    ]
    proofs = [
        proved(one.primal, one.gap + one.doubt, scale_of(problem), tolerance)
        for one, problem in zip(found, each, strict=True)
    ]
    return Fitted(
        np.column_stack([one.coef for one in found]),
        np.array([one.intercept for one in found]),
        np.array([one.gap for one in found]),
        np.array([one.epochs for one in found]),
        worst(proofs),
        evidence_of(each[0], source.schema.rows),
    )


def _solved(
    problem: Problem,
    table: CoordinateTable,
    start: Vector | None,
    tolerance: float,
    max_iter: int,
    trace: Trace,
) -> Any:
    """Solve to a gap that is small beside the loss of a constant, and beside what coefficients take from it.

    Where columns tell next to nothing of the target, all coefficients may be within the tolerance of none.
    """
    allowed = within(problem, tolerance)
    found = problem.solve(table, start=start, tolerance=allowed, max_iter=max_iter, trace=trace)
    scale = scale_of(problem)
    closer = tolerance * max(scale - found.primal, SLIGHT * scale)
    if found.gap <= closer or found.gap > allowed or trace.asked_to_stop:
        return found
    again = problem.solve(table, start=found.coef, tolerance=closer, max_iter=max_iter, trace=trace)
    return replace(again, epochs=again.epochs + found.epochs) if again.gap < found.gap else found


def evidence_of(problem: Any, rows: int | None) -> dict[str, Any]:
    """Return what the rules of the diagnosis look at; sums do not know the range of a column."""
    unknown = np.full_like(problem.mean_x, np.nan)
    columns = ColumnMoments(1.0, problem.mean_x, problem.spread, unknown, unknown)
    return {} if rows is None else {"column_moments": columns, "rows": rows}


def points(
    source: Source,
    engine: Engine,
    penalty: Penalty,
    coef: Matrix,
    intercept: Vector,
    fit_intercept: bool,
) -> Points:
    """Return the objective of each target, and its coefficients as that packs them."""
    found = []
    for k in range(coef.shape[1]):
        objective = Objective(one_target(source, k), engine, Squared(), penalty, fit_intercept=fit_intercept)
        found.append((objective, np.append(coef[:, k], intercept[k]) if fit_intercept else coef[:, k]))
    return found


def recomputed(each: Points, tolerance: float) -> Certificate:
    """Prove coefficients from the data, one target after the other."""
    return worst([objective.certificate(packed, tolerance) for objective, packed in each])


def one_target(source: Source, k: int) -> Source:
    """Return the source with one of its targets, flat."""
    return MappedSource(source, source.schema, _OneTarget(k))


@dataclass(frozen=True, slots=True)
class _OneTarget:
    k: int

    def __call__(self, batch: Batch) -> Batch:
        y: Any = batch.y
        return batch if y.ndim == 1 else Batch(batch.X, y[:, self.k], batch.weight, batch.start)
