"""Fisher's scoring: Newton's method with second derivatives that never bend down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.trace import Trace
from surefit.data.batch import Batch
from surefit.data.source import MappedSource, Source
from surefit.losses.family_loss import FamilyLoss
from surefit.solvers.base import Needs, Solution
from surefit.solvers.objective import Objective
from surefit.solvers.proximal_newton import ProximalNewton

Array = NDArray[np.float64]

_TURN = 8  # steps of the first turn
_LIFTS = 10.0 ** -np.arange(1, 10)  # of the mean target, in place of targets of 0


Bend = Literal["expected", "observed", "larger"]
_BENDS: tuple[Bend, ...] = ("expected", "observed", "larger")


class BentFamilyLoss(FamilyLoss):
    """A family's loss with the expected curvature, the second derivative, or the larger of both.

    The expected one leads down from most places; near the answer the second derivative makes each step square
    what is left; the larger one keeps steps short where a mean is much below its target.
    """

    def __init__(self, of: FamilyLoss, bend: Bend) -> None:
        super().__init__(of.family, of.link)
        self._bend = bend

    def curvature(self, y: Any, z: Any) -> NDArray[Any]:
        """Return the curvature asked for."""
        if self._bend == "expected":
            return super().curvature(y, z)
        found = self.observed_curvature(y, z)
        return found if self._bend == "observed" else np.maximum(found, super().curvature(y, z))


@dataclass(frozen=True, slots=True)
class LiftedTargets:
    """Replace targets of 0 by a small number, whose loss keeps the mean away from 0."""

    by: float

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such targets."""
        return replace(batch, y=np.maximum(np.asarray(batch.y, dtype=np.float64), self.by))


class FisherScoring(ProximalNewton):
    r"""Iteratively reweighted least squares with a line search, for generalised linear models of any link.

    The loss is half a deviance, whose expected curvature :math:`\mu'(z)^2 / V(\mu)` is never negative though
    the loss may not be convex: every step goes downhill, to a point that is stationary. The second derivative
    takes its place in turns. Where scores are means or their roots, targets of 0 pull some to 0,
    beyond which there is none: these targets are then lifted a little, by less each time, which leads along
    that wall.

    >>> from surefit.losses.families import Gamma
    >>> from surefit.losses.links import Inverse
    >>> from surefit.penalties import NoPenalty
    >>> loss = FamilyLoss(Gamma(), Inverse())
    >>> objective = Objective.of_arrays([[0.0], [1.0], [2.0]], [1.0, 0.5, 1 / 3], loss, NoPenalty())
    >>> FisherScoring().solve(objective).x.round(6)
    array([1., 1.])
    """

    needs: ClassVar[Needs] = Needs(loss=("smooth", "observed_curvature"), penalty=("convex",))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.name = "fisher_scoring"  # type: ignore[misc]  # not listed: no loss that is chosen by name needs it

    def solve(self, objective: Objective, start: Array | None = None, trace: Trace | None = None) -> Solution:
        """Minimise, from a packed point or from the objective's ``null``."""
        trace = Trace() if trace is None else trace
        found = self._in_turns(objective, objective.source, start, trace)
        if (
            _has_wall(objective)
            and not found.holds
            and not trace.asked_to_stop
            and len(trace) < self.max_iter
        ):
            mean, point = float(np.ravel(objective.targets.total)[0]) / objective.targets.weight, found.x
            for lift in _LIFTS:
                source = MappedSource(objective.source, objective.source.schema, LiftedTargets(lift * mean))
                point = self._in_turns(objective, source, point, Trace()).x
            found = min(found, self._finish(objective, point, trace, "stalled"), key=_order_of)
        trace.limit = self.max_iter  # of all steps together
        return found

    def _in_turns(self, objective: Objective, source: Source, start: Array | None, trace: Trace) -> Solution:
        """Take steps by each kind of curvature in turns, longer than before once all had theirs."""
        assert isinstance(objective.loss, FamilyLoss)
        best: Solution | None = None
        stuck = 0
        for turn in range(self.max_iter * len(_BENDS)):
            bent = BentFamilyLoss(objective.loss, _BENDS[turn % len(_BENDS)])
            rows = Objective(
                source,
                objective.engine,
                bent,
                objective.penalty,
                fit_intercept=objective.fit_intercept,
                outputs=objective.outputs,
            )
            rows.passes = objective.passes
            most = min(_TURN * 2 ** (turn // len(_BENDS)), self.max_iter - len(trace))
            steps = FisherScoring(tolerance=self.tolerance, max_iter=most)
            found = ProximalNewton.solve(steps, rows, start if best is None else best.x, trace)
            objective.passes = rows.passes
            stuck = stuck + 1 if found.stopped == "stalled" else 0
            best = found if best is None else min(found, best, key=_order_of)
            if best.holds or trace.asked_to_stop or len(trace) >= self.max_iter or stuck == len(_BENDS):
                break
        assert best is not None
        return best


def _order_of(found: Solution) -> tuple[bool, float]:
    """What a better answer has less of: no proof, then the objective."""
    return not found.holds, found.value


def _has_wall(objective: Objective) -> bool:
    """Whether targets of 0 can pull means to an end that scores do not pass."""
    loss = objective.loss
    if not isinstance(loss, FamilyLoss) or loss.link.name not in ("identity", "sqrt"):
        return False
    return loss.family.means.low == 0 and loss.family.targets.holds(0.0)
