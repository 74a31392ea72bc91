"""Fisher's scoring: Newton's method with second derivatives that never bend down.

Directions that do not bend, along which a loss that is not convex may fall for a long way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import MappedSource, Source
from surefit.losses.family_loss import FamilyLoss
from surefit.solvers.likelihood.local_minima import few_rows, is_in_reach, lower_local_minima
from surefit.solvers.newton.proximal_newton import ProximalNewton
from surefit.solvers.newton.second_order import Model
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.centred_hessian import SecondDerivatives
from surefit.solvers.objective.newton_decrement import NEARLY, hessian_axes
from surefit.solvers.objective.solver import CLOSE, Needs, Solution

LENGTHS = 10.0 ** np.arange(-3, 9, 0.5)  # in units where columns bend by 1
FELL = 1e-8  # of the objective: what is worth another round


def lower_along_flat(objective: Objective, w: Vector) -> Vector | None:
    """Go along directions of no curvature, however far that leads down; None where it does not.

    Nearly dependent columns have such directions: a slope of next to nothing may fall for a long way.
    """
    second = SecondDerivatives(objective)
    found = hessian_axes(objective, second, w)
    if found is None:
        return None
    start, lowest = second.inner(w), second.at(second.inner(w), 1).value + objective.penalised(w)
    best, enough = None, lowest - FELL * abs(lowest)
    for k in np.flatnonzero(found.flat(NEARLY)):
        down = -np.sign(found.slopes[k]) * found.axes[:, k]
        for length in LENGTHS if found.slopes[k] else ():
            there = start + length * down
            value = second.at(there, 1).value + objective.penalised(there)
            if value < min(lowest, enough):
                best, lowest = there, value
    return None if best is None else second.outer(best)


_TURN = 8  # steps of the first turn
_LIFTS = 10.0 ** -np.arange(1, 11)  # of the mean target
_SETTLED = 0.01 * CLOSE  # of what is left of the loss: steps that square what is left get there at once
_FELL = 0.01 * CLOSE  # of it: a turn that gains less is stuck
_BOLD = 40  # whole steps that may lead across the wall between the two roots of a mean
_ROUNDS = 10  # along flat directions
_LEAST = 1e-12  # of the diagonal: what makes a singular matrix of expected curvatures a regular one

CurvatureKind = Literal["expected", "observed", "larger"]
_CURVATURES: tuple[CurvatureKind, ...] = ("expected", "observed", "larger")
_CURVATURES_INSIDE: tuple[CurvatureKind, ...] = (
    "observed",
    "larger",
    "expected",
)  # where targets keep off the walls


class FamilyLossWithCurvature(FamilyLoss):
    """A family's loss with the expected curvature, the second derivative, or the larger of both.

    The expected one leads down from most places; near the answer the second derivative makes each step square
    what is left; the larger one keeps steps short where a mean is much below its target.
    """

    def __init__(self, of: FamilyLoss, bend: CurvatureKind) -> None:
        super().__init__(of.family, of.link)
        self._bend = bend

    def curvature(self, y: Any, z: Any) -> NDArray[Any]:
        """Return the curvature asked for."""
        if self._bend == "expected":
            return super().curvature(y, z)
        found = self.observed_curvature(y, z)
        return found if self._bend == "observed" else np.maximum(found, super().curvature(y, z))


@dataclass(frozen=True, slots=True)
class ShiftedTargets:
    r"""Move targets off the ends of their range, so that their loss keeps means off the walls.

    Under an identity link a count y that is lifted by t / s adds :math:`-t \log \mu` to the loss of a row of
    weight s: the same wall for every row, however little it weighs. Shares keep off both ends by t.
    """

    by: float
    high: float | None

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such targets."""
        y = np.asarray(batch.y, dtype=np.float64)
        if self.high is not None:
            return replace(batch, y=np.clip(y, self.by, self.high - self.by))
        s = np.ones(len(y)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        return replace(batch, y=y + np.where(s > 0, self.by / np.where(s > 0, s, 1.0), 0.0))


class FisherScoring(ProximalNewton):
    r"""Iteratively reweighted least squares with a line search, for generalised linear models of any link.

    The loss is half a deviance, whose expected curvature :math:`\mu'(z)^2 / V(\mu)` is never negative though
    the loss may not be convex: every step goes downhill, to a point that is stationary. The second derivative
    takes its place in turns, until what another step would gain is small beside the loss. Steps are damped by
    the expected curvature, which one row of great weight does not blind to all others. A loss that is not
    convex is searched for lower :mod:`~surefit.solvers.likelihood.local_minima` and along directions that do
    not bend. Where scores are means, some are pulled to 0, beyond which there is none: targets are then
    lifted, by less each time, which leads along that wall.

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
        self._expected: tuple[Vector, Vector] | None = None

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from a packed point or from the objective's ``null``."""
        trace = Trace() if trace is None else trace
        found = self._in_turns(objective, objective.source, start, trace)
        for again in self._other_ways(objective, found, start):
            if trace.asked_to_stop:
                break
            found = min(found, self.finish(objective, again, trace, "stalled"), key=_order_of)
        trace.limit = self.max_iter  # of all steps together
        return self._along_flat(objective, found, trace)

    def _along_flat(self, objective: Objective, found: Solution, trace: Trace) -> Solution:
        """Go on where a loss that is not convex falls along directions of no curvature."""
        for _ in range(_ROUNDS if not objective.loss.convex else 0):
            flat = found.certificate.parts.get("flat", 0.0) > 0 and not trace.asked_to_stop
            start = lower_along_flat(objective, found.x) if flat else None
            if start is None:
                break
            again = self._in_turns(objective, objective.source, start, Trace()).x
            if is_in_reach(objective, found.x) and not is_in_reach(objective, again):
                break
            found = min(found, self.finish(objective, again, trace, "stalled"), key=_order_of)
        return found

    def _other_ways(self, objective: Objective, found: Solution, start: Vector | None) -> Iterator[Vector]:
        """Go on from elsewhere, where one descent may end at a bound or in a higher local minimum."""
        loss = objective.loss
        assert isinstance(loss, FamilyLoss)
        if _has_wall(loss) and not found.holds:
            yield self._along_walls(objective, start)
        if loss.link.name == "sqrt" and found.value > 0:
            best = _by_full_steps(self, objective, objective.null if start is None else start)
            yield self._in_turns(objective, objective.source, best, Trace()).x
        if not loss.convex and found.value > 0:
            yield from self._other_local_minima(objective, found)

    def _other_local_minima(self, objective: Objective, found: Solution) -> Iterator[Vector]:
        """Look for lower local minima than the known one, on a sample where rows are many."""
        few = few_rows(objective)
        known = found if few is objective else self._in_turns(few, few.source, found.x, Trace())
        anywhere = not is_in_reach(objective, found.x)
        for start in lower_local_minima(few, known.value, anywhere):
            end = self._in_turns(objective, objective.source, start, Trace()).x
            if anywhere or is_in_reach(objective, end):
                yield end

    def _along_walls(self, objective: Objective, start: Vector | None) -> Vector:
        """Minimise with lifted targets, by less each time."""
        assert isinstance(objective.loss, FamilyLoss)
        targets, schema, point = objective.targets, objective.source.schema, start
        mean, high = float(np.ravel(targets.total)[0]) / targets.weight, objective.loss.family.targets.high
        room = mean * targets.weight / objective.spread.rows if high is None else min(mean, high - mean)
        for lift in _LIFTS:
            source = MappedSource(objective.source, schema, ShiftedTargets(lift * room, high))
            point = self._in_turns(objective, source, point, Trace(), _CURVATURES_INSIDE).x
        assert point is not None
        return point

    def _in_turns(
        self,
        objective: Objective,
        source: Source,
        start: Vector | None,
        trace: Trace,
        bends: tuple[CurvatureKind, ...] = _CURVATURES,
    ) -> Solution:
        """Take steps by each kind of curvature in turns, longer than before once all had theirs."""
        assert isinstance(objective.loss, FamilyLoss)
        best: Solution | None = None
        stuck = 0
        for turn in range(self.max_iter * len(bends)):
            bent = FamilyLossWithCurvature(objective.loss, bends[turn % len(bends)])
            rows = objective.over(source, bent)
            rows.passes = objective.passes
            most = min(_TURN * 2 ** (turn // len(bends)), self.max_iter - len(trace))
            steps = FisherScoring(tolerance=self.tolerance, max_iter=most)
            found = ProximalNewton.solve(steps, rows, start if best is None else best.x, trace)
            objective.passes = rows.passes
            left = rows.targets.floor / rows.targets.weight
            fell = best is None or found.value < best.value - _FELL * max(best.value - left, 0.0)
            stuck = 0 if fell and found.stopped != "stalled" else stuck + 1
            best = found if best is None else min(found, best, key=_order_of)
            if _is_settled(best) or trace.asked_to_stop or len(trace) >= self.max_iter or stuck == len(bends):
                break
        assert best is not None
        return best

    def _damping(self, second: SecondDerivatives, w: Vector, bends: Vector, strength: float) -> Matrix:
        """Return a multiple of the matrix of expected curvatures: shorter steps, of the same direction."""
        loss = second.objective.loss
        assert isinstance(loss, FamilyLoss)
        if self._expected is None or self._expected[0] is not w:
            self._expected = w, second.at(w, 2, FamilyLoss(loss.family, loss.link)).hessian
        matrix = self._expected[1]
        added: Matrix = strength * matrix
        ground = np.where(np.diagonal(matrix) > 0, np.diagonal(matrix), bends)
        added.flat[:: len(added) + 1] += min(strength, _LEAST) * ground
        return added


def _by_full_steps(solver: FisherScoring, objective: Objective, start: Vector) -> Vector:
    """Take whole steps by expected curvatures, up or down, and return the best point on the way."""
    second = SecondDerivatives(objective)
    w = best = second.inner(start)
    least = np.inf
    for _ in range(_BOLD):
        here = second.at(w)
        value = here.value + objective.penalised(w)
        if not np.isfinite(value):
            break
        if value < least:
            best, least = w, value
        added = solver._damping(second, w, np.diagonal(here.hessian), _LEAST)
        step = solver.minimise_model(Model.of(objective, w, here, added))
        if step is None:
            break
        w = step
    return second.outer(best)


def _order_of(found: Solution) -> tuple[bool, float]:
    """What a better answer has less of: no proof, then the objective."""
    return not found.holds, found.value


def _is_settled(found: Solution) -> bool:
    """Whether slopes are small, and what another step would gain is small beside the loss."""
    parts = found.certificate.parts
    return found.holds and parts.get("decrement", 0.0) <= _SETTLED * parts.get("scale", 1.0)


def _has_wall(loss: FamilyLoss) -> bool:
    """Whether targets can pull means to an end that scores do not pass."""
    if loss.family.means.low is None:
        return False
    return loss.link.name == "identity" or (loss.family.name == "binomial" and loss.link.name == "log")
