r"""Newton's steps along a face: rows at zero, entries at bounds and equal levels stay what they are.

There the objective :math:`\tfrac12 tr(V'GV) - \langle C, V \rangle + \sum_j l1_j |V_j| + \tfrac12 l2_j
|V_j|^2` is smooth in one number for each pool of equal levels. A step that would leave the constraints is led
back to them, where further entries join the face.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.penalties.group_l1_within import GroupL1Within
from surefit.solvers.tasks.order import LevelOrder

_MOST_NUMBERS = 1500  # on a face: beyond, a factorisation costs more than many steps of splitting
_STEPS = 30
_HALVINGS = 12
_TELLING = 1e-9  # of the objective: below, differences are rounding, and those of slopes tell better
_DAMPING = 1e-13  # beside a diagonal of ones: of many answers, one of the nearest


@dataclass(frozen=True, slots=True)
class TaskQuadratic:
    """Gram matrix, pulls at zero (p, k), penalty and order of the rows at hand."""

    G: Matrix
    C: Matrix
    penalty: GroupL1Within
    order: LevelOrder

    def slopes(self, V: Matrix) -> Matrix:
        """Return C - GV."""
        return np.asarray(self.C - self.G @ V)

    def value(self, V: Matrix) -> float:
        """Return the objective, without the constant of the squares."""
        return float(np.sum(V * (0.5 * (self.G @ V) - self.C))) + self.penalty.value(V)

    def allowed(self, V: Matrix) -> Matrix:
        """Return V within its bounds and in order; levels of a group have bounds alike."""
        of = self.penalty.numbers(len(V))
        low, high = of.bounds(V)
        return np.asarray(np.clip(self.order.project(V), low, high))


def newton_on_face(problem: TaskQuadratic, V: Matrix, enough: float = 0.0) -> Matrix:
    """Return rows that are allowed, at which the objective is no higher than at V.

    enough: the last step is one that promised no more; as steps square what is left, it leaves far less.

    >>> from surefit.penalties.group_l1 import GroupL1
    >>> penalty = GroupL1Within(GroupL1(1.0), 0.0, 2.0)
    >>> problem = TaskQuadratic(np.eye(1), np.array([[3.0, 1.0]]), penalty, LevelOrder([]))
    >>> V = newton_on_face(problem, np.array([[2.0, 0.5]]))
    >>> bool(abs(problem.slopes(V) - V / np.linalg.norm(V))[0, 1] < 1e-12)
    True
    """
    value = problem.value(V)
    for _ in range(_STEPS):
        face = _Face.of(problem, V)
        if not 0 < face.count <= _MOST_NUMBERS:
            break
        gradient = face.gradient(problem, V)
        step = face.step(problem, V, gradient)
        if step is None:
            break
        promised = 0.5 * float(np.abs(gradient @ step))
        found = _shortened(problem, face, V, step, value, promised, float(np.linalg.norm(gradient)))
        if found is None:
            break
        V, value = found
        if promised <= enough:
            break
    return V


def _shortened(
    problem: TaskQuadratic, face: _Face, V: Matrix, step: Vector, value: float, promised: float, steep: float
) -> tuple[Matrix, float] | None:
    """Halve a step until it lowers the objective, or at its end the slope along the face; None if none."""
    size = abs(value) + float(np.sum(np.abs(problem.C * V)))
    if promised <= _TELLING * size:
        there = face.moved(V, step)
        at = problem.value(there)
        same = bool((there == problem.allowed(there)).all()) and np.isfinite(at)
        lower = same and float(np.linalg.norm(face.gradient(problem, there))) < 0.9 * steep
        return (there, min(at, value)) if lower else None
    for halving in range(_HALVINGS):
        there = face.moved(V, 0.5**halving * step)
        turned = np.repeat((np.sum(there * V, axis=1) <= 0)[:, None], V.shape[1], axis=1)
        there = problem.order.fitted_round(np.where(turned, 0.0, there), turned)
        there = problem.allowed(there)
        found = problem.value(there)
        if found < value:
            return there, found
    return None


@dataclass(frozen=True, slots=True)
class _Face:
    """The pool of each entry that moves, -1 for one that stays; and how many pools there are."""

    pool: NDArray[np.intp]
    count: int

    @classmethod
    def of(cls, problem: TaskQuadratic, V: Matrix) -> _Face:
        of = problem.penalty.numbers(len(V))
        low, high = of.bounds(V)
        zero = (~V.any(axis=1)) & (of.l1 > 0)
        fixed = (low == V) | (high == V) | zero[:, None]
        numbers = problem.order.pools(V)
        stays = np.zeros(V.size, dtype=bool)
        stays[numbers[fixed]] = True
        moves = ~stays[numbers]
        pools, place = np.unique(numbers[moves], return_inverse=True)
        pool = np.full(V.shape, -1)
        pool[moves] = place
        return cls(pool, len(pools))

    def moved(self, V: Matrix, step: Vector) -> Matrix:
        return np.asarray(V + np.append(step, 0.0)[self.pool])

    def gradient(self, problem: TaskQuadratic, V: Matrix) -> Vector:
        of = problem.penalty.numbers(len(V))
        size = of.length(V)
        bend = np.where(size > 0, of.l1 / np.where(size > 0, size, 1.0), 0.0) + of.l2
        slope = bend[:, None] * V - problem.slopes(V)
        moves = self.pool >= 0
        return np.asarray(np.bincount(self.pool[moves], slope[moves], self.count), dtype=np.float64)

    def step(self, problem: TaskQuadratic, V: Matrix, gradient: Vector) -> Vector | None:
        of = problem.penalty.numbers(len(V))
        size = of.length(V)
        bend = np.where(size > 0, of.l1 / np.where(size > 0, size, 1.0), 0.0)
        unit = V / np.where(size > 0, size, 1.0)[:, None]
        rows, targets = np.nonzero(self.pool >= 0)
        H = np.where(targets[:, None] == targets, problem.G[rows[:, None], rows], 0.0)
        H.flat[:: len(H) + 1] += (bend + of.l2)[rows]
        along = unit[rows, targets]
        H -= np.where(rows[:, None] == rows, (bend[rows] * along)[:, None] * along, 0.0)
        if self.count < len(rows):  # equal levels move together
            tied = np.zeros((len(rows), self.count))
            tied[np.arange(len(rows)), self.pool[rows, targets]] = 1.0
            H = tied.T @ H @ tied
        diagonal = np.diagonal(H)
        if not (np.isfinite(diagonal).all() and diagonal.max(initial=0.0) > 0):
            return None
        scale = np.sqrt(np.maximum(diagonal, np.finfo(float).eps * diagonal.max()))
        H = H / scale[:, None] / scale
        H.flat[:: len(H) + 1] += _DAMPING
        for _ in range(6):
            factor, failed = linalg.lapack.dpotrf(H, lower=1)
            if not failed:
                found, _ = linalg.lapack.dpotrs(factor, -gradient / scale, lower=1)
                return np.asarray(found / scale)
            H.flat[:: len(H) + 1] += 1e-11  # rounding made it indefinite
        return None
