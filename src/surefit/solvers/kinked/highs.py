"""Piecewise-linear losses with absolute penalties, by the vertex that HiGHS finds."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.trace import Trace
from surefit.solvers.kinked.face import vertex
from surefit.solvers.kinked.rows import capped
from surefit.solvers.kinked.scaling import Units
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs, Solution, Solver


class Highs(Solver):
    """The linear programme as it stands; exact, and slower than an interior point on many rows.

    >>> from surefit.losses import Absolute
    >>> from surefit.penalties import NoPenalty
    >>> objective = Objective.of_arrays([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0], Absolute(), NoPenalty())
    >>> Highs().solve(objective).certificate.holds
    True
    """

    name = "highs"
    needs = Needs(loss=("convex", "kinks", "conjugate"), penalty=("convex", "table", "conjugate"), rows=True)
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "exact"

    def _refusal(self, objective: Objective) -> str | None:
        if objective.outputs is not None:
            return f"solver {self.name!r} supports a single target, and here there are {objective.outputs}."
        table, named = objective.penalty.table(objective.columns), type(objective.penalty).__name__
        if (table.l2 > 0).any():
            return f"solver {self.name!r} does not support squared (L2) penalties, which {named} has."
        if np.isfinite(table.lower).any() or np.isfinite(table.upper).any():
            return f"solver {self.name!r} does not support bounds, which {named} has."
        return None

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise; a start has no effect."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        units = Units.of(objective)
        best: tuple[Vector, Vector, Certificate] | None = None
        problems = list(capped(units.rows))
        for number in trace.iterations(len(problems)):
            objective.passes += 1
            found = vertex(problems[number])
            if found is None:
                trace.record()
                continue
            w, slopes = units.outer(found[0]), units.slopes(found[1])
            proof = objective.certificate(w, self.tolerance, slopes)
            trace.record(objective=proof.parts["objective"], gap=proof.value, passes=objective.passes)
            if best is None or proof.value < best[2].value:
                best = w, slopes, proof
            if proof.holds:
                break
        if best is None:
            raise RuntimeError(
                f"{self.name}: HiGHS found no optimal vertex; scale the columns to similar sizes."
            )
        return self.finish(objective, best[0], trace, "stalled", slopes=best[1], proof=best[2])
