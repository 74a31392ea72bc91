r"""Mean squares of several targets with a penalty on whole rows, each within bounds and levels in order.

.. math:: \frac{1}{2W} \sum_i s_i \|y_i - V'x_i - b\|^2 + \sum_j l1_j \|V_j\| + \tfrac12 l2_j \|V_j\|^2,
          \quad lower_j \le V_{jk} \le upper_j, \quad V \text{ not falling along groups of levels}

A round looks at all columns, lets in those that are pulled hardest, and splits the problem of these; few
columns are all let in at once. Columns that must not be zero, and ordered levels, are always in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.errors import RefusalError
from surefit.core.trace import Trace
from surefit.penalties.group_l1 import GroupL1
from surefit.penalties.group_l1_within import GroupL1Within
from surefit.solvers.tasks.columns import TaskProblem
from surefit.solvers.tasks.face import TaskQuadratic
from surefit.solvers.tasks.gap import TaskSlopes, task_gap
from surefit.solvers.tasks.order import LevelOrder, Multipliers
from surefit.solvers.tasks.splitting import TaskSplitting

Indices = NDArray[np.intp]

_LARGEST = 5000  # columns whose square is held in memory
_FEW = 400  # columns that are all let in at once
_FEWEST = 64  # columns of the first working set
_ITERATIONS = 500  # of splitting, between two looks at the whole
_STALLED = 8  # rounds without progress after which rounding rules
_PROGRESS = 0.99
_EASY_ROUNDS = 3  # for each stronger penalty on the way
_NEXT = 0.01  # of the gap allowed along a path: the answer leads to the next one, and need not be exact
_EXACT = 4 * np.finfo(float).eps  # of the objective: rounding allows no less


@dataclass(frozen=True, slots=True)
class ConstrainedTaskSolution:
    """Coefficients (p, k), intercepts, the order's multipliers, the gap proved, and the iterations."""

    coef: Matrix
    intercept: Vector
    multipliers: Multipliers
    gap: float
    epochs: int


class ConstrainedTasks:
    """A problem of several targets with the bounds (p,) of its columns and groups of ordered ones.

    >>> from surefit.solvers.tasks.columns import TaskColumns
    >>> X, Y = np.array([[1.0, 0.0], [3.0, 1.0], [2.0, 5.0]]), np.array([[2.0, 2.0], [8.0, 2.0], [5.0, 2.0]])
    >>> problem = ConstrainedTasks(TaskColumns(X, Y), np.zeros(2), np.ones(2), [])
    >>> problem.solve(GroupL1(1.0)).coef
    array([[1., 0.],
           [0., 0.]])
    """

    def __init__(
        self, problem: TaskProblem, lower: Vector, upper: Vector, groups: Iterable[list[int]]
    ) -> None:
        self._problem, self._lower, self._upper = problem, lower, upper
        self._order = LevelOrder(list(groups))
        self._always = (lower > 0) | (upper < 0)
        self._always[self._order.rows] = True
        count = int(np.count_nonzero(self._always))
        if count > _LARGEST:
            raise RefusalError(
                f"{count} columns are ordered or bounded away from zero, and their Gram matrix is formed for "
                f"at most {_LARGEST}: let bounds include zero, or drop columns."
            )

    def solve(
        self,
        penalty: GroupL1,
        start: Matrix | None = None,
        multipliers: Multipliers | None = None,
        *,
        tolerance: float = 1e-6,
        max_iter: int = 100,
        trace: Trace | None = None,
    ) -> ConstrainedTaskSolution:
        """Return the minimiser to a gap of at most ``tolerance``, in units of the objective."""
        with one_blas_thread():
            return self._solve(penalty, start, multipliers, tolerance, max_iter, trace or Trace())

    def path(
        self, penalties: Iterable[GroupL1], *, tolerance: float = 1e-6, max_iter: int = 100
    ) -> Iterator[ConstrainedTaskSolution]:
        """Solve for one penalty after the other, each from the answer before."""
        coef, known = None, None
        for penalty in penalties:
            near, rough = coef is not None, _NEXT * tolerance
            with one_blas_thread():
                found = self._solve(penalty, coef, known, tolerance, max_iter, Trace(), near, rough)
            coef, known = found.coef, found.multipliers
            yield found

    def _solve(
        self,
        penalty: GroupL1,
        start: Matrix | None,
        known: Multipliers | None,
        tolerance: float,
        max_iter: int,
        trace: Trace,
        direct: bool = False,
        rough: float = 0.0,
    ) -> ConstrainedTaskSolution:
        """Run the rounds; direct: the start is near; rough: what the last step along a face may promise."""
        problem, whole = self._problem, GroupL1Within(penalty, self._lower, self._upper)
        shape = problem.slopes_at_zero.shape
        V = np.zeros(shape) if start is None else start
        V = np.clip(self._order.project(V), self._lower[:, None], self._upper[:, None])
        if known is None:
            known = tuple(np.zeros((len(group) - 1, shape[1])) for group in self._order.groups)
        best, stalled, epochs, inside = np.inf, 0, 0, np.zeros(0, dtype=np.intp)
        splitting: TaskSplitting | None = None
        answer = ConstrainedTaskSolution(V, problem.mean_y - problem.mean_x @ V, known, np.inf, 0)
        for _ in trace.iterations(max_iter):
            at = problem.at(V)
            some = self._choose(whole, V, at.slopes)
            if splitting is None or len(some) > len(inside) or not np.isin(some, inside).all():
                inside = some
                splitting = self._splitting(penalty, inside, V, at.slopes, at.rr, known, rough)
            # The next round may let in others, so that a part of the gap is enough for this one.
            least = max(tolerance, _EXACT * (0.5 * at.rr + whole.value(V)))
            enough = least if len(inside) == len(V) else max(least, 0.02 * min(best, 1e300))
            before = splitting.best.iterations
            found = splitting.run(enough, _ITERATIONS, settle=rough > 0)
            iterated = found.iterations - before
            epochs += iterated
            V, known = V.copy(), found.multipliers
            V[inside] = found.V
            gap = found.gap
            if len(inside) < len(V):
                at = problem.at(V)
                open_to = TaskSlopes(at.slopes, at.rr, 0.0, np.zeros(len(V)))
                gap = task_gap(whole, self._order, V, open_to, known)
            stalled = 0 if gap < _PROGRESS * best else stalled + 1
            if gap <= best:
                best = gap
                answer = ConstrainedTaskSolution(V, problem.mean_y - problem.mean_x @ V, known, gap, epochs)
            trace.record(objective=0.5 * at.rr + whole.value(V), gap=gap, epochs=float(epochs))
            settled = rough > 0 and len(inside) == len(V) and iterated < _ITERATIONS
            if best <= least or settled or stalled == _STALLED or trace.asked_to_stop:
                break
            if not direct:  # stronger penalties lead to where this one is near
                direct, splitting = True, None
                for stronger in self._stronger(penalty):
                    step = self._solve(stronger, V, known, tolerance, _EASY_ROUNDS, Trace(), direct=True)
                    V, known, epochs = step.coef, step.multipliers, epochs + step.epochs
        return answer

    def _stronger(self, penalty: GroupL1) -> Iterator[GroupL1]:
        """Yield the penalty with strengths that fall to its own, from where all rows would be zero."""
        largest = penalty.largest(self._problem.slopes_at_zero)
        if not 0 < penalty.strength < largest < np.inf:
            return
        steps = int(np.ceil(np.log10(largest / penalty.strength)))
        for strength in np.geomspace(largest, penalty.strength, steps + 1)[:-1]:
            yield penalty.replace(strength=float(strength))

    def _splitting(
        self,
        penalty: GroupL1,
        some: Indices,
        V: Matrix,
        slopes: Matrix,
        rr: float,
        known: Multipliers,
        rough: float,
    ) -> TaskSplitting:
        problem = self._problem
        gram = problem.gram if len(some) == len(V) else problem.gram_of(some)
        part = GroupL1Within(penalty, self._lower[some], self._upper[some])
        pulls = slopes[some] + gram @ V[some]  # that would be left if these rows were all zero
        energy = rr + float(np.sum(V[some] * (slopes[some] + pulls)))
        quadratic = TaskQuadratic(gram, pulls, part, self._order.among(some))
        return TaskSplitting(quadratic, energy, V[some], known, rough)

    def _choose(self, whole: GroupL1Within, V: Matrix, slopes: Matrix) -> Indices:
        if len(V) <= _FEW:
            return np.arange(len(V))
        inside = self._always | np.any(V != 0, axis=1) | (whole.numbers(len(V)).l1 == 0)
        asked = np.linalg.norm(whole.beyond(V, slopes), axis=1)
        asked[inside] = 0.0
        room = min(int(np.count_nonzero(asked)), max(_FEWEST, int(inside.sum())))
        if room:
            inside[np.argpartition(-asked, room - 1)[:room]] = True
        return np.flatnonzero(inside)
