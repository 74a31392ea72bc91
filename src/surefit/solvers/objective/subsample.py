"""A start near the answer: the answer for a sample of the rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Vector
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solver

MANY = 20_000  # rows from which on a sample saves more than it costs
SHARE = 16
ROUGH = 1e-3  # the gap asked of a sample: its rows are not the answer's


def start_from_sample(solver: Solver, objective: Objective) -> Vector | None:
    """Return the solution for one row in sixteen; None where rows are few, or not in memory.

    Where the solver learns a scale as well, the objective's loss is left at the sample's.
    """
    sample = sample_of(objective)
    if sample is None:
        return None
    found = solve_sample(solver, sample)
    objective.loss = sample.loss
    return found


def solve_sample(solver: Solver, sample: Objective) -> Vector:
    """Return the minimiser over a sample, no closer than its rows are worth."""
    rough = type(solver)(tolerance=max(ROUGH, solver.tolerance), max_iter=solver.max_iter)
    return rough.solve(sample, None, Trace()).x


def sample_of(objective: Objective) -> Objective | None:
    """Return the same objective over one row in sixteen; None where rows are few, or not in memory."""
    batch = objective.rows if objective.tabular else None
    if batch is None or len(batch) < max(MANY, 20 * SHARE * objective.shape[0]):
        return None
    rng = np.random.Generator(np.random.Philox(0))
    some = np.sort(rng.choice(len(batch), len(batch) // SHARE, replace=False))
    if batch.weight is not None and not batch.weight[some].any():
        return None
    return objective.over_rows(_taken(batch, some))


def every_nth(objective: Objective, wanted: int) -> Objective:
    """Return the objective over about so many rows at equal distances, whatever it is read from.

    It is itself where rows are in memory and few, or where none of those taken has weight.
    """
    step = -(-objective.spread.rows // wanted)
    if step == 1 and objective.rows is not None:
        return objective
    parts = objective.engine.map(partial(_nth, step=step), objective.source)
    batch = _joined([part for part in parts if len(part)])
    return objective if batch.weight is not None and not batch.weight.any() else objective.over_rows(batch)


def _nth(batch: Batch, step: int) -> Batch:
    return _taken(batch, np.flatnonzero((batch.start + np.arange(len(batch))) % step == 0))


def _taken(batch: Batch, some: NDArray[np.intp]) -> Batch:
    X: Any = batch.X
    y, weight, offset = (
        None if each is None else np.asarray(each)[some] for each in (batch.y, batch.weight, batch.offset)
    )
    return Batch(X[some], y, weight, 0, offset)


def _joined(parts: list[Batch]) -> Batch:
    X: list[Any] = [part.X for part in parts]
    y, weight, offset = (
        None if getattr(parts[0], name) is None else np.concatenate([getattr(part, name) for part in parts])
        for name in ("y", "weight", "offset")
    )
    stacked = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
    return Batch(stacked, y, weight, 0, offset)


def alike(sample: Objective, objective: Objective) -> bool:
    """Whether every column has about the same mean square in the sample as in all rows."""
    few, all_ = sample.spread, objective.spread
    some, whole = few.variance + few.mean**2, all_.variance + all_.mean**2
    return bool((some <= 2.0 * whole).all() and (whole <= 2.0 * some).all())
