"""Coordinate descent for least squares with a penalty of single coefficients."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.trace import Trace
from surefit.losses.squared import Squared
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs, Solution, Solver
from surefit.solvers.squares.problems import LARGEST_GRAM, squared_problems
from surefit.stats.moments import Moments

CLOSER = 0.1  # share of the tolerance to go to, as the proof is made of the rows once more


class CoordinateDescent(Solver):
    """Solve for one coefficient after the other, in working sets of columns or from the sums of all rows.

    >>> from surefit.penalties import L1
    >>> X, y = [[1.0, 0.0], [3.0, 1.0], [2.0, 5.0]], [2.0, 8.0, 5.0]
    >>> CoordinateDescent().solve(Objective.of_arrays(X, y, Squared(), L1(1.0))).x.round(6)
    array([1.5, 0. , 2. ])
    """

    name = "coordinate_descent"
    needs: ClassVar[Needs] = Needs(penalty=("convex", "table"))
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "exact"

    def _refusal(self, objective: Objective) -> str | None:
        if type(objective.loss) is not Squared:
            return f"solver {self.name!r} supports the squared loss only, not the {objective.loss.name} loss."
        if objective.rows is None and objective.columns > LARGEST_GRAM:
            return (
                f"solver {self.name!r} forms a Gram matrix of at most {LARGEST_GRAM} columns for a table "
                f"that is read in batches, and there are {objective.columns}."
            )
        return None

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from a packed point or from zero, one output after the other."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        problems = squared_problems(
            objective.rows,
            lambda: objective.accumulate(Moments.of),
            fit_intercept=objective.fit_intercept,
            single_fit=True,
        )
        table = objective.penalty.table(objective.columns)
        begin = None if start is None else objective.split(start)[0].reshape(objective.columns, -1)
        allowed = CLOSER * self.tolerance * objective.scale / len(problems)
        found = [
            problem.solve(
                table,
                None if begin is None else np.ascontiguousarray(begin[:, k]),
                tolerance=allowed,
                max_iter=self.max_iter,
                trace=trace,
            )
            for k, problem in enumerate(problems)
        ]
        objective.passes += sum(one.passes for one in found)
        x = np.column_stack([one.coef for one in found])
        if objective.fit_intercept:
            x = np.vstack([x, [one.intercept for one in found]])
        ended = len(trace) >= self.max_iter and not all(one.converged for one in found)
        x = x[:, 0] if objective.outputs is None else x
        return self.finish(objective, x, trace, "limit" if ended else "stalled")
