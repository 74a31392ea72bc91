"""What a fit by iterations says of its columns: which depend on each other, and what their sizes cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from surefit.core.trace import Trace
from surefit.data.source import ArraySource
from surefit.models.linear.leverage import CHEAP, dependencies
from surefit.solvers.base import Solution, Solver
from surefit.solvers.objective import Objective
from surefit.stats.moments import Moments

MANY = 50  # iterations from which on it is worth asking what they were for
RATIO = 10.0  # of spreads, below which scaling changes little
AGAIN = 2e8  # multiplications that the same fit on scaled columns may cost


def collinearity(objective: Objective) -> dict[str, Any]:
    """Return the directions in which columns cancel, or how much others tell of each; nothing if dear."""
    rows = objective.rows
    if rows is None or rows.X.shape[0] * rows.X.shape[1] ** 2 > CHEAP or rows.X.shape[1] < 2:
        return {}
    moments = Moments.of(replace(rows, y=np.zeros(len(rows)), offset=None))
    null = dependencies(moments.gram)
    if null is None or null.shape[1]:
        return {} if null is None else {"null_space": null, "shortest": False, **_penalised(objective)}
    deviations = np.sqrt(np.diagonal(moments.gram))
    correlation = moments.gram / deviations[:, None] / deviations
    factor, failed = linalg.lapack.dpotrf(correlation, lower=1)
    if failed:
        return {}
    inverse, _ = linalg.lapack.dpotri(factor, lower=1)
    return {
        "inverse_correlation": np.tril(inverse) + np.tril(inverse, -1).T,
        "deviations": deviations,
    }


def _penalised(objective: Objective) -> dict[str, Any]:
    table = objective.penalty.table(objective.columns) if objective.penalty.offers("table") else None
    return {} if table is None or not table.l2.any() else {"penalty": float(table.l2.max())}


def scaling_cost(objective: Objective, solver: Solver, solution: Solution) -> dict[str, Any]:
    """Solve again on columns of one spread, where a method of first order took long, and count."""
    rows, source = objective.rows, objective.source
    if solver.accuracy != "first order" or solution.iterations < MANY or not isinstance(source, ArraySource):
        return {}
    if rows is None or sparse.issparse(rows.X):
        return {}
    X = np.asarray(rows.X)
    if X.size * solution.iterations > AGAIN:
        return {}
    size = np.sqrt(objective.spread.variance)
    varies = np.flatnonzero(size > 0)
    if len(varies) < 2 or size[varies].max() <= RATIO * size[varies].min():
        return {}
    scaled = replace(source, batch=replace(rows, X=X / np.where(size > 0, size, 1.0)))
    again = Objective(
        scaled,
        objective.engine,
        objective.loss,
        objective.penalty,
        fit_intercept=objective.fit_intercept,
        outputs=objective.outputs,
    )
    twin: Any = type(solver)
    count = (
        twin(tolerance=solver.tolerance, max_iter=solution.iterations).solve(again, None, Trace()).iterations
    )
    large, small = varies[np.argmax(size[varies])], varies[np.argmin(size[varies])]
    ratio = float(size[large] / size[small])
    return {"scaling_cost": (solution.iterations, count, ratio, int(large), int(small))}
