"""Several targets whose losses add up, solved one after the other and proved together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.trace import Trace
from surefit.data.source import ArraySource
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution, Solver, Stop


def solve_by_output(solver: Solver, objective: Objective, start: Vector | None, trace: Trace) -> Solution:
    """Solve for each output with its own target, and prove the whole with all slopes."""
    batch = objective.need_rows(f"solver {solver.name!r}")
    found = []
    for k in range(objective.outputs or 0):
        one = replace(batch, y=np.ascontiguousarray(np.asarray(batch.y)[:, k]))
        schema = replace(objective.source.schema, targets=1, target_is_flat=True)
        part = Objective(
            ArraySource(schema, one),
            objective.engine,
            objective.loss,
            objective.penalty,
            fit_intercept=objective.fit_intercept,
        )
        part.passes = objective.passes
        found.append(solver.solve(part, None if start is None else start[:, k], trace))
        objective.passes = part.passes
        if trace.asked_to_stop:
            break
    x = np.zeros(objective.shape)
    for k, solution in enumerate(found):
        x[:, k] = solution.x
    slopes = [solution.certificate.witness.get("slopes") for solution in found]
    known = all(each is not None for each in slopes) and len(slopes) == objective.outputs
    together = np.column_stack(slopes) if known else None  # type: ignore[arg-type]
    stopped: Stop = next((each.stopped for each in found if each.stopped != "certificate"), "certificate")
    return solver.finish(objective, x, trace, stopped, slopes=together)
