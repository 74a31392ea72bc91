"""A start near the answer: the answer for a sample of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.trace import Trace
from surefit.data.source import ArraySource
from surefit.solvers.base import Solver
from surefit.solvers.objective import Objective

MANY = 20_000  # rows from which on a sample saves more than it costs
SHARE = 16
ROUGH = 1e-3  # the gap asked of a sample: its rows are not the answer's


def start_from_sample(solver: Solver, objective: Objective) -> NDArray[np.float64] | None:
    """Return the solution for one row in sixteen; None where rows are few, or not in memory.

    Where the solver learns a scale as well, the objective's loss is left at the sample's.
    """
    batch = objective.rows
    if batch is None or len(batch) < max(MANY, 20 * SHARE * objective.shape[0]):
        return None
    X: Any = batch.X
    rng = np.random.Generator(np.random.Philox(0))
    some = np.sort(rng.choice(len(batch), len(batch) // SHARE, replace=False))
    if batch.weight is not None and not batch.weight[some].any():
        return None
    y, weight, offset = (
        None if each is None else np.asarray(each)[some] for each in (batch.y, batch.weight, batch.offset)
    )
    few = replace(batch, X=X[some], y=y, weight=weight, offset=offset)
    sample = Objective(
        ArraySource(replace(objective.source.schema, rows=len(some)), few),
        objective.engine,
        objective.loss,
        objective.penalty,
        fit_intercept=objective.fit_intercept,
        outputs=objective.outputs,
    )
    rough = type(solver)(tolerance=max(ROUGH, solver.tolerance), max_iter=solver.max_iter)
    found = rough.solve(sample, None, Trace())
    objective.loss = sample.loss
    return found.x


def good_start(solver: Solver, objective: Objective) -> NDArray[np.float64]:
    """Return the answer for a sample where that is better than no coefficients at all, else these."""
    convex = objective.loss.convex and objective.penalty.convex
    start = start_from_sample(solver, objective) if objective.tabular and convex else None
    if start is None:
        return objective.null
    of_none = objective.scale + objective.targets.floor / objective.targets.weight
    return start if objective.value(start) <= of_none else objective.null
