r"""Losses with kinks, by the method of multipliers: round the kinks off, solve, and round less the next time.

Each rounded problem is smooth and is solved by Newton steps on its quadratic model with the penalty. Its
slopes u are the multipliers of the next one and, in the end, the dual point that proves the answer:

.. math:: \frac1W X'Su \in -\partial pen(w), \qquad u_i \in \partial f(y_i, z_i)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.core.trace import Trace
from surefit.solvers.base import Needs, Solution, Solver, Stop
from surefit.solvers.objective import Objective
from surefit.solvers.ordered_face import OrderedFaces
from surefit.solvers.primal_dual_envelope import Envelope
from surefit.solvers.primal_dual_model import MOST_COLUMNS, Rounded

Array = NDArray[np.float64]

NARROWING = 0.2  # of the width, from one rounded problem to the next
NARROWEST = 1e-7  # of the first width: beyond it, only the slopes are improved
MOST_DAMPING = 1e8  # no step is short enough, so rounding hides the way down
SOLVED = 0.1  # of the gap: how far off the slopes of a rounded problem may be


class PrimalDual(Solver):
    """Multipliers for the kinks, Newton's method for what is left; for any convex penalty.

    >>> from surefit.losses import Absolute
    >>> from surefit.penalties import L1
    >>> objective = Objective.of_arrays([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0], Absolute(), L1(0.1))
    >>> PrimalDual().solve(objective).certificate.holds
    True
    """

    name = "primal_dual"
    needs = Needs(loss=("convex", "prox", "conjugate"), penalty=("convex", "conjugate"), rows=True)

    def _refusal(self, objective: Objective) -> str | None:
        loss = objective.loss.name
        if objective.loss.smooth:
            return f"the {self.name} solver is for losses with kinks, and the {loss} loss has none."
        if objective.columns > MOST_COLUMNS:
            return (
                f"the {self.name} solver keeps the square of the number of columns, "
                f"{MOST_COLUMNS} at most, and there are {objective.columns}."
            )
        return None

    def solve(self, objective: Objective, start: Array | None = None, trace: Trace | None = None) -> Solution:
        """Minimise from a packed point, or from the objective's ``null``."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        x = np.array(objective.null if start is None else start, dtype=np.float64)
        if not np.isfinite(objective.penalised(x)):
            x = objective.prox(x, 1.0)
        rounded = Rounded(objective, x)
        z = rounded.scores(x)
        known, width, damping = np.zeros_like(z), rounded.width, 1e-6
        error, least, gap = SOLVED, np.inf, None
        best, witness, faces = x, known, OrderedFaces(objective)
        stopped: Stop = "limit"
        for _ in trace.iterations(self.max_iter):
            envelope = Envelope(objective.loss, known, width)
            step = rounded.step(envelope, x, z, damping)
            x, z = step.x, rounded.scores(step.x)
            damping = np.clip(damping * step.next_damping, 1e-10, MOST_DAMPING)
            # A model of curvature 1 / width promises width / 2 times the square of what is off in the slopes.
            if step.promised <= error**2 * width * rounded.steepest**2:
                known = envelope.gradient(rounded.y, z)
                gap = objective.certificate(x, self.tolerance, known).value
                if gap < least:
                    least, best, witness = gap, x, known
                exact = faces.solved(x, self.tolerance) if least > self.tolerance else None
                if exact is not None:
                    proof = objective.certificate(exact[0], self.tolerance, exact[1]).value
                    if proof < least:
                        least, best, witness = proof, *exact
                error = SOLVED * min(1.0, max(gap, self.tolerance))
                # Scores are off by their rounding, and slopes by that over the width.
                blur = 8 * rounded.rounding(x, z) / self.tolerance
                width = min(width, max(NARROWING * width, NARROWEST * rounded.width, blur))
            value = rounded.mean(objective.loss.value(rounded.y, z)) + objective.penalised(x)
            trace.record(objective=value, gap=gap, step=step.share, passes=objective.passes)
            if least <= self.tolerance:
                stopped = "certificate"
                break
            if damping == MOST_DAMPING:
                stopped = "stalled"
                break
        return self._finish(objective, best, trace, stopped, slopes=witness)
