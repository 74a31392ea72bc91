r"""Splitting for rows within bounds and in order: squares, penalty and order each have a copy of V.

.. math:: V = (G + \rho \, diag(c d^2))^{-1} (C + \ldots), \quad Z_1 = \operatorname{prox}_{pen},
          \quad Z_2 = \text{nearest rows in order}

The copies agree in the end (alternating directions of multipliers); what each takes of the slope is a
subgradient of the penalty and a combination of the order's multipliers, which make the proof. On the way
they tell which rows are zero, which entries are at a bound and which levels are equal, and Newton's steps
along that face find the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix
from surefit.solvers.tasks.face import TaskQuadratic, newton_on_face
from surefit.solvers.tasks.gap import TaskSlopes, balanced, task_gap
from surefit.solvers.tasks.order import Multipliers

_LONGER = 1.6  # over-relaxation
_FIRST_LOOK = 8  # iterations before the first face is tried; twice as many each time,
_LATEST_LOOK = 200  # up to so many
_STILL = 0.1  # of the tolerance: a face that is lower by no more is no news
_UNEVEN = 10.0  # of the two residuals: then the weight of agreement changes
_LEVELS = 1e-14  # of the mean square: what a Gram matrix rounds slopes by
FIRST_WEIGHT = 0.3  # of agreement, beside a diagonal of ones


@dataclass(frozen=True, slots=True)
class Split:
    """Rows that are allowed, the order's multipliers, the gap they prove, the objective, and iterations."""

    V: Matrix
    multipliers: Multipliers
    gap: float
    value: float
    iterations: int


class TaskSplitting:
    """The iterates of one problem; ``energy`` is the mean square of the residual at V = 0, in all.

    enough: a step along a face that promises no more is its last.
    """

    def __init__(
        self,
        problem: TaskQuadratic,
        energy: float,
        start: Matrix,
        multipliers: Multipliers,
        enough: float = 0.0,
    ) -> None:
        self._problem, self._energy, self._enough = problem, energy, enough
        G, of, order = problem.G, problem.penalty.numbers(len(problem.G)), problem.order
        squares = np.diagonal(G) + of.l2
        squares = np.where(squares > 0, squares, np.min(squares, where=squares > 0, initial=1.0))
        for group in order.groups:  # an order is one of numbers in the same units
            squares[group] = squares[group].mean()
        self._squares, self._noise = squares[:, None], _LEVELS * np.sqrt(np.diagonal(G).clip(0.0))
        self._copies = np.ones(len(G))
        self._copies[order.rows] = 2.0
        self._size = np.sqrt(squares)
        self._weight = FIRST_WEIGHT
        self._factor: Matrix | None = None
        V = newton_on_face(problem, problem.allowed(start), enough)  # a start may show its face already
        self._grows = _FIRST_LOOK
        first = balanced(problem.penalty, order, V, problem.slopes(V), multipliers)
        self._begin(V, first)
        self.best = self._lowest = Split(V, first, self._gap(V, first), problem.value(V), 0)

    def run(self, tolerance: float, most: int, *, settle: bool = False) -> Split:
        """Iterate until a gap of ``tolerance`` is proved, or for so many iterations.

        settle: end as well where new faces, twice in a row, are lower by far less than the tolerance. Slopes
        are right later than the objective is, so that the proof would cost far more than the answer.
        """
        count, still = self.best.iterations, 0
        end, look = count + most, count + self._grows
        while self.best.gap > tolerance and count < end:
            uneven = self._iterate()
            count += 1
            if count >= look:
                before = self._lowest.value
                self._look(count)
                self._grows = min(2 * self._grows, _LATEST_LOOK)
                look = count + self._grows
                self._reweigh(uneven)
                still = still + 1 if before - self._lowest.value <= _STILL * tolerance else 0
                if settle and still == 2 and self.best.gap > tolerance:
                    self.best = self._lowest
                    break
        self.best = replace(self.best, iterations=count)
        return self.best

    def _begin(self, V: Matrix, multipliers: Multipliers) -> None:
        """Let all copies be at V; its slope is what penalty and order take together."""
        order, weight = self._problem.order, self._weight * self._squares
        taken = order.transposed_differences(multipliers, V.shape)
        self._Z1, self._Z2 = V, V[order.rows]
        self._U1 = (self._problem.slopes(V) + taken) / weight
        self._U2 = -(taken / weight)[order.rows]

    def _factored(self) -> Matrix:
        matrix = self._problem.G / self._size[:, None] / self._size
        matrix.flat[:: len(matrix) + 1] += self._weight * self._copies
        factor, _ = linalg.lapack.dpotrf(matrix, lower=1)
        return np.asarray(factor)

    def _iterate(self) -> tuple[float, float]:
        """Do one round; return how far the copies are apart, and how far they moved."""
        rows, weight = self._problem.order.rows, self._weight * self._squares
        if self._factor is None:  # many a start needs none
            self._factor = self._factored()
        right = self._problem.C + weight * (self._Z1 - self._U1)
        right[rows] += weight[rows] * (self._Z2 - self._U2)
        solved, _ = linalg.lapack.dpotrs(self._factor, right / self._size[:, None], lower=1)
        V = solved / self._size[:, None]
        ahead = _LONGER * V + (1 - _LONGER) * self._Z1
        Z1 = self._problem.penalty.prox(ahead + self._U1, 1.0 / weight[:, 0])
        self._U1 = self._U1 + ahead - Z1
        apart, moved = self._length(V - Z1), self._length(Z1 - self._Z1)
        if len(rows):
            beside = _LONGER * V[rows] + (1 - _LONGER) * self._Z2
            whole = np.zeros_like(V)
            whole[rows] = beside + self._U2
            Z2 = self._problem.order.project(whole)[rows]
            self._U2 = self._U2 + beside - Z2
            apart += self._length(V[rows] - Z2, rows)
            moved += self._length(Z2 - self._Z2, rows)
            self._Z2 = Z2
        self._Z1 = Z1
        return apart, moved

    def _length(self, V: Matrix, rows: NDArray[np.intp] | slice = slice(None)) -> float:
        return float(np.sum(self._squares[rows] * V**2))

    def _reweigh(self, residuals: tuple[float, float]) -> None:
        """Let copies agree sooner, or the objective fall faster, whichever lags behind."""
        apart, moved = residuals[0], self._weight**2 * residuals[1]
        if apart > _UNEVEN * moved:
            factor = min(np.sqrt(np.sqrt(apart / max(moved, 1e-300))), 10.0)
        elif moved > _UNEVEN * apart:
            factor = 1.0 / min(np.sqrt(np.sqrt(moved / max(apart, 1e-300))), 10.0)
        else:
            return
        self._weight *= factor
        self._U1, self._U2 = self._U1 / factor, self._U2 / factor
        self._factor = None

    def _look(self, count: int) -> None:
        """Find the best point of the face that the copies show, and what it proves."""
        problem, order = self._problem, self._problem.order
        taken = np.zeros_like(self._Z1)
        taken[order.rows] = self._U2 * (self._weight * self._squares)[order.rows]
        near = order.multipliers(taken)
        V = newton_on_face(problem, self._shown(), self._enough)
        own, value = balanced(problem.penalty, order, V, problem.slopes(V), near), problem.value(V)
        kinds = (own, near) if order.groups else (own,)
        here = min((Split(V, each, self._gap(V, each), value, count) for each in kinds), key=_gap_of)
        if here.gap < self.best.gap:
            self.best = here
        if value < self._lowest.value:  # the copies go on from the best point so far
            self._lowest = here
            self._begin(V, here.multipliers if here is self.best else near)

    def _shown(self) -> Matrix:
        """Return allowed rows with the zeros, bounds and equal levels that the copies have."""
        problem, order = self._problem, self._problem.order
        of = problem.penalty.numbers(len(self._Z1))
        low, high = of.bounds(self._Z1)
        if not order.groups:
            return self._Z1
        V = self._Z1.copy()
        V[order.rows] = self._Z2
        fixed = (low == self._Z1) | (high == self._Z1) | ~np.any(self._Z1, axis=1, keepdims=True)
        V = np.where(fixed, self._Z1, np.clip(V, low, high))
        # Levels that are equal in the order's copy share what one of them is fixed at.
        whole = np.zeros_like(V)
        whole[order.rows] = self._Z2
        pools = order.pools(whole)
        at = np.full(V.size, np.nan)
        at[pools[fixed]] = V[fixed]
        held = np.isfinite(at[pools])
        V = np.where(held & ~fixed, at[pools], V)
        return problem.allowed(order.fitted_round(V, fixed | held))

    def _gap(self, V: Matrix, multipliers: Multipliers) -> float:
        slopes = self._problem.slopes(V)
        left = max(self._energy - float(np.sum(V * (self._problem.C + slopes))), 0.0)
        reach = float(np.sum(np.abs(V) * np.sqrt(np.diagonal(self._problem.G).clip(0.0))[:, None]))
        at = TaskSlopes(slopes, left, 0.0, self._noise * (np.sqrt(self._energy) + reach))
        return task_gap(self._problem.penalty, self._problem.order, V, at, multipliers)


def _gap_of(found: Split) -> float:
    return found.gap
