r"""Splitting for rows within bounds and in order: squares, penalty and order each have a copy of V.

.. math:: V = (G + \rho \, diag(c d^2))^{-1} (C + \ldots), \quad Z_1 = \operatorname{prox}_{pen},
          \quad Z_2 = \text{nearest rows in order}

The copies agree in the end (alternating directions of multipliers); what each takes of the slope is a
subgradient of the penalty and a combination of the order's multipliers, which make the proof. On the way
they tell which rows are zero, which entries are at a bound and which levels are equal, and Newton's steps
along that face find the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.solvers.task_face import TaskQuadratic, newton_on_face
from surefit.solvers.task_gap import TaskSlopes, balanced, task_gap
from surefit.solvers.task_order import Multipliers

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_LONGER = 1.6  # over-relaxation
_FIRST_LOOK = 8  # iterations before the first face is tried; twice as many each time,
_LATEST_LOOK = 200  # up to so many
_UNEVEN = 10.0  # of the two residuals: then the weight of agreement changes
_LEVELS = 1e-14  # of the mean square: what a Gram matrix rounds slopes by
FIRST_WEIGHT = 0.3  # of agreement, beside a diagonal of ones


@dataclass(frozen=True, slots=True)
class Split:
    """Rows that are allowed, the order's multipliers, the gap they prove, and the iterations so far."""

    V: Matrix
    multipliers: Multipliers
    gap: float
    iterations: int


class TaskSplitting:
    """The iterates of one problem; ``energy`` is the mean square of the residual at V = 0, in all."""

    def __init__(
        self, problem: TaskQuadratic, energy: float, start: Matrix, multipliers: Multipliers
    ) -> None:
        self._problem, self._energy = problem, energy
        G, of, order = problem.G, problem.penalty.numbers(len(problem.G)), problem.order
        squares = np.diagonal(G) + of.l2
        squares = np.where(squares > 0, squares, np.min(squares, where=squares > 0, initial=1.0))
        for group in order.groups:  # an order is one of numbers in the same units
            squares[group] = squares[group].mean()
        self._squares, self._noise = squares[:, None], _LEVELS * np.sqrt(np.diagonal(G).clip(0.0))
        self._copies = np.ones(len(G))
        self._copies[order.rows] = 2.0
        size = np.sqrt(squares)
        self._scaled, self._size = G / size[:, None] / size, size
        self._weight = FIRST_WEIGHT
        self._factor = self._factored()
        V = newton_on_face(problem, problem.allowed(start))  # a start may show its face already
        self._grows, self._lowest = _FIRST_LOOK, problem.value(V)
        first = balanced(problem.penalty, order, V, problem.slopes(V), multipliers)
        self._begin(V, first)
        self.best = Split(V, first, self._gap(V, first), 0)

    def run(self, tolerance: float, most: int) -> Split:
        """Iterate until a gap of ``tolerance`` is proved, or for so many iterations."""
        count = self.best.iterations
        end, look = count + most, count + self._grows
        while self.best.gap > tolerance and count < end:
            uneven = self._iterate()
            count += 1
            if count >= look:
                self._look(count)
                self._grows = min(2 * self._grows, _LATEST_LOOK)
                look = count + self._grows
                self._reweigh(uneven)
        self.best = Split(self.best.V, self.best.multipliers, self.best.gap, count)
        return self.best

    def _begin(self, V: Matrix, multipliers: Multipliers) -> None:
        """Let all copies be at V; its slope is what penalty and order take together."""
        order, weight = self._problem.order, self._weight * self._squares
        taken = order.pull(multipliers, V.shape)
        self._Z1, self._Z2 = V, V[order.rows]
        self._U1 = (self._problem.slopes(V) + taken) / weight
        self._U2 = -(taken / weight)[order.rows]

    def _factored(self) -> Matrix:
        matrix = self._scaled + np.diag(self._weight * self._copies)
        factor, _ = linalg.lapack.dpotrf(matrix, lower=1)
        return np.asarray(factor)

    def _iterate(self) -> tuple[float, float]:
        """Do one round; return how far the copies are apart, and how far they moved."""
        rows, weight = self._problem.order.rows, self._weight * self._squares
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
        self._factor = self._factored()

    def _look(self, count: int) -> None:
        """Find the best point of the face that the copies show, and what it proves."""
        problem, order = self._problem, self._problem.order
        taken = np.zeros_like(self._Z1)
        taken[order.rows] = self._U2 * (self._weight * self._squares)[order.rows]
        near = order.multipliers(taken)
        V = newton_on_face(problem, self._shown())
        for multipliers in (balanced(problem.penalty, order, V, problem.slopes(V), near), near):
            gap = self._gap(V, multipliers)
            if gap < self.best.gap:
                self.best = Split(V, multipliers, gap, count)
            if not order.groups:
                break
        value = problem.value(V)
        if value < self._lowest:  # the copies go on from the best point so far
            self._lowest = value
            self._begin(V, self.best.multipliers if self.best.V is V else near)

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
