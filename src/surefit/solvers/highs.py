r"""Losses of straight pieces with absolute penalties as a linear programme, through HiGHS's simplex.

.. math:: \min \sum high \cdot p - low \cdot m, \qquad Xw - p + m = at, \quad p, m \ge 0

Its answer is a vertex, and the prices of its equations are the slopes that prove it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.trace import Trace
from surefit.solvers.base import Needs, Solution, Solver, Stop
from surefit.solvers.kinked_rows import KinkedRows
from surefit.solvers.kinked_units import Units
from surefit.solvers.objective import Objective

Array = NDArray[np.float64]

EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


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
            return f"the {self.name} solver takes one target, and here rows have {objective.outputs}."
        table, named = objective.penalty.table(objective.columns), type(objective.penalty).__name__
        if (table.l2 > 0).any():
            return f"the {self.name} solver knows no squares, and {named} has some."
        if np.isfinite(table.lower).any() or np.isfinite(table.upper).any():
            return f"the {self.name} solver knows no bounds, and {named} has some."
        return None

    def solve(self, objective: Objective, start: Array | None = None, trace: Trace | None = None) -> Solution:
        """Minimise; a start has no effect."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        units = Units.of(objective)
        stopped: Stop = "stalled"
        for _ in trace.iterations(1):
            objective.passes += 1
            w, u = _vertex(units.rows)
            proof = objective.certificate(units.outer(w), self.tolerance, units.slopes(u))
            trace.record(objective=proof.parts["objective"], gap=proof.value, passes=objective.passes)
        return self._finish(objective, units.outer(w), trace, stopped, slopes=units.slopes(u), proof=proof)


def _vertex(rows: KinkedRows) -> tuple[Array, Array]:
    from scipy.optimize import linprog

    at, low, high = rows.flat_kinks()
    (kinks, _), size, count = rows.at.shape, len(rows.l1), len(at)
    X: Any = sparse.csr_array(rows.X)
    if rows.fit_intercept:
        X = sparse.hstack([X, np.ones((rows.rows, 1))], format="csr")
    ones = sparse.csr_array(sparse.eye_array(size, format="csr")[rows.kinked])
    A = sparse.vstack([*[X] * kinks, ones], format="csr")
    unit = sparse.eye_array(count, format="csr")
    free = [(None, None)] * size + [(0, None)] * (2 * count)
    found = linprog(
        np.concatenate([np.zeros(size), high, -low]),
        A_eq=sparse.hstack([A, -unit, unit], format="csr"),
        b_eq=at,
        bounds=free,
        method="highs-ds",
        options=EXACT,
    )
    if found.x is None:
        raise RuntimeError(f"highs: {found.message}")
    return np.asarray(found.x[:size]), -np.asarray(found.eqlin.marginals)
