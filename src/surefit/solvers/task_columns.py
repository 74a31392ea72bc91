r"""Mean squares of several targets with a penalty on whole rows of W: the multi-task lasso and its relatives.

.. math:: \frac{1}{2W} \sum_i s_i \|y_i - V'x_i - b\|^2 + \sum_j l1_j \|V_j\| + \tfrac12 l2_j \|V_j\|^2

Each round goes through all columns once, which gives the slopes and the duality gap, lets in the columns
that are pulled hardest, and solves for the columns let in by their Gram matrix. With more rows than columns
there is one Gram matrix, of all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.blas_threads import one_blas_thread
from surefit.core.native.column_facts import column_facts
from surefit.core.native.column_gram import column_gram
from surefit.core.native.columns_dot import columns_dot, columns_times
from surefit.core.native.task_cd import task_cd
from surefit.core.trace import Trace
from surefit.penalties.table import CoordinateTable
from surefit.solvers.column_order import by_columns
from surefit.stats.moments import Moments

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

_SWEEPS = 20  # between two looks at the gap of the columns let in
_STALLED = 5  # looks without progress after which rounding rules
_FEWEST = 64  # columns of the first working set


@dataclass(frozen=True, slots=True)
class TasksFound:
    """Coefficients (p, k) and intercepts, objective, gap, and the sweeps that it took."""

    coef: Matrix
    intercept: Vector
    primal: float
    gap: float
    converged: bool
    epochs: int
    doubt: float = 0.0


class TaskProblem(ABC):
    """What rows in memory and sums share: rounds over a working set that grows.

    energy: the mean square of the targets, in all. slopes_at_zero: X'Sy / W, (p, k).
    """

    energy: float
    mean_x: Vector
    mean_y: Vector
    slopes_at_zero: Matrix

    @property
    def columns(self) -> int:
        """How many rows the coefficients have."""
        return len(self.slopes_at_zero)

    @abstractmethod
    def _look(self, coef: Matrix) -> tuple[Matrix, float]:
        """Return the slopes at coefficients, (p, k), and the mean square of the residual, in all."""

    @abstractmethod
    def _gram(self, some: Indices) -> Matrix:
        """Return the Gram matrix of some columns over W."""

    def solve(
        self,
        table: CoordinateTable,
        start: Matrix | None = None,
        *,
        tolerance: float = 1e-6,
        max_iter: int = 100,
        trace: Trace | None = None,
    ) -> TasksFound:
        """Return the minimiser to a gap of at most ``tolerance``, in units of the objective."""
        trace = Trace() if trace is None else trace
        with one_blas_thread():
            return self._solve(table.l1, table.l2, start, tolerance, max_iter, trace)

    def path(
        self, tables: Iterable[CoordinateTable], *, tolerance: float = 1e-6, max_iter: int = 100
    ) -> Iterator[TasksFound]:
        """Solve for one table after the other, each from the answer before."""
        coef = None
        for table in tables:
            found = self.solve(table, coef, tolerance=tolerance, max_iter=max_iter)
            coef = found.coef
            yield found

    def _solve(
        self, l1: Vector, l2: Vector, start: Matrix | None, tolerance: float, max_iter: int, trace: Trace
    ) -> TasksFound:
        coef = np.zeros_like(self.slopes_at_zero) if start is None else start.copy()
        epochs, gap, primal, stalled = 0, np.inf, np.inf, 0
        for count, _ in enumerate(trace.iterations(max_iter), 1):
            slopes, rr = self._look(coef)
            before, primal = primal, 0.5 * rr + _penalty(coef, l1, l2)
            gap = row_gap(coef, slopes, l1, l2, rr)
            trace.record(objective=primal, gap=gap, epochs=float(epochs))
            stalled = 0 if primal < before else stalled + 1  # the gap may grow while columns come in
            if gap <= tolerance or count == max_iter or trace.asked_to_stop or stalled == _STALLED:
                break
            coef, swept = self._descend(coef, slopes, l1, l2, max(0.3 * tolerance, 0.02 * gap))
            epochs += swept
        intercept = self.mean_y - self.mean_x @ coef
        return TasksFound(coef, intercept, primal, gap, gap <= tolerance, epochs)

    def _descend(
        self, coef: Matrix, slopes: Matrix, l1: Vector, l2: Vector, tolerance: float
    ) -> tuple[Matrix, int]:
        some = self._choose(coef, slopes, l1)
        gram, W = self._gram(some), np.ascontiguousarray(coef[some])
        # The quadratic of these columns has the pull that would be left if they were all zero.
        C = np.ascontiguousarray(slopes[some] + gram @ W)
        gradient, epochs, stalled, best = np.empty_like(W), 0, 0, np.inf
        outside = self._energy_without(coef, slopes, some, gram)
        while stalled < _STALLED:
            epochs += task_cd(gram, C, l1[some], l2[some], W, gradient, least=0.0, most=_SWEEPS)
            rr = max(outside + float(np.sum(W * (gradient - C))), 0.0)
            gap = row_gap(W, -gradient, l1[some], l2[some], rr)
            if gap <= tolerance:
                break
            stalled = 0 if gap < 0.99 * best else stalled + 1
            best = min(best, gap)
        moved = coef.copy()
        moved[some] = W
        return moved, epochs

    def _energy_without(self, coef: Matrix, slopes: Matrix, some: Indices, gram: Matrix) -> float:
        """Return the mean square that is left when some rows are zero and the others stay."""
        _, rr = self._look(coef)
        W = coef[some]
        return rr + 2 * float(np.sum(W * slopes[some])) + float(np.sum(W * (gram @ W)))

    def _choose(self, coef: Matrix, slopes: Matrix, l1: Vector) -> Indices:
        inside = np.any(coef != 0, axis=1) | (l1 == 0)
        excess = np.linalg.norm(slopes, axis=1) - l1
        excess[inside] = -np.inf
        violating = int(np.count_nonzero(excess > 0))
        room = min(violating, max(_FEWEST, int(inside.sum())))
        if room:
            inside[np.argpartition(-excess, room - 1)[:room]] = True
        return np.flatnonzero(inside)


class TaskColumns(TaskProblem):
    """The problem of rows in memory.

    >>> X, Y = np.array([[1.0, 0.0], [3.0, 1.0], [2.0, 5.0]]), np.array([[2.0, 2.0], [8.0, 2.0], [5.0, 2.0]])
    >>> free = np.full(2, np.inf)
    >>> table = CoordinateTable(np.ones(2), np.zeros(2), -free, free)
    >>> TaskColumns(X, Y).solve(table).coef.round(6)
    array([[1.5, 0. ],
           [0. , 0. ]])
    """

    def __init__(self, X: Any, Y: Any, weight: Any = None, *, fit_intercept: bool = True) -> None:
        Y = np.asarray(Y, dtype=np.float64)
        s = None if weight is None else np.asarray(weight, dtype=np.float64)
        if s is not None and (s == 0).any():  # such rows may hold anything
            X, Y, s = X[s > 0], Y[s > 0], s[s > 0]
        self._X, self._weight = by_columns(X), s
        self._total = float(len(Y)) if s is None else float(s.sum())
        self.mean_y = np.average(Y, axis=0, weights=s) if fit_intercept else np.zeros(Y.shape[1])
        self._Y: Matrix = Y - self.mean_y
        facts = column_facts(self._X, self._Y[:, 0], s, fit_intercept)
        self.mean_x = facts.mean
        self._centre = facts.mean if fit_intercept else None
        self.energy = self._mean_square(self._Y)
        self.slopes_at_zero = self._slopes(self._Y)

    def _mean_square(self, R: Matrix) -> float:
        return (
            float(np.sum(R * R) if self._weight is None else self._weight @ (R * R).sum(axis=1)) / self._total
        )

    def _slopes(self, R: Matrix) -> Matrix:
        scaled = R if self._weight is None else self._weight[:, None] * R
        return np.column_stack([columns_dot(self._X, r, self._centre) for r in scaled.T]) / self._total

    def _look(self, coef: Matrix) -> tuple[Matrix, float]:
        some = np.flatnonzero(np.any(coef != 0, axis=1))
        fitted = [columns_times(self._X, w, self._centre, some) for w in coef[some].T]
        R = self._Y - np.column_stack(fitted)
        return self._slopes(R), self._mean_square(R)

    def _gram(self, some: Indices) -> Matrix:
        gram = np.empty((len(some), len(some)))
        column_gram(self._X, some, gram, 0, self._centre, self._weight, 1.0 / self._total)
        return gram


class TaskSums(TaskProblem):
    """The problem of moments, for many rows and for rows that come in parts."""

    def __init__(self, moments: Moments, *, fit_intercept: bool = True) -> None:
        W = moments.weight
        gram, cross, scatter = moments.gram / W, moments.cross / W, moments.target_scatter / W
        self.mean_x, self.mean_y = moments.mean_x, moments.mean_y
        if not fit_intercept:
            gram = gram + np.multiply.outer(self.mean_x, self.mean_x)
            cross = cross + np.multiply.outer(self.mean_x, self.mean_y)
            scatter = scatter + np.multiply.outer(self.mean_y, self.mean_y)
            self.mean_x, self.mean_y = np.zeros_like(self.mean_x), np.zeros_like(self.mean_y)
        self._whole = gram
        self.energy = float(np.trace(scatter))
        self.slopes_at_zero = cross

    def _look(self, coef: Matrix) -> tuple[Matrix, float]:
        slopes = self.slopes_at_zero - self._whole @ coef
        return slopes, max(self.energy - float(np.sum(coef * (self.slopes_at_zero + slopes))), 0.0)

    def _gram(self, some: Indices) -> Matrix:
        return np.ascontiguousarray(self._whole[np.ix_(some, some)])


def _penalty(coef: Matrix, l1: Vector, l2: Vector) -> float:
    norm = np.linalg.norm(coef, axis=1)
    return float(l1 @ norm + 0.5 * (l2 @ norm**2))


def row_gap(coef: Matrix, slopes: Matrix, l1: Vector, l2: Vector, rr: float) -> float:
    """Return P - D for a multiple of the residual as the dual point; no term of the sum is negative.

    >>> row_gap(np.array([[2.0]]), np.array([[1.0]]), np.ones(1), np.zeros(1), rr=1.0)
    0.0
    """
    size, norm = np.linalg.norm(slopes, axis=1), np.linalg.norm(coef, axis=1)
    held = (l2 == 0) & (size > l1)
    most = float(np.min(l1[held] / size[held], initial=1.0))
    within = float(np.min(l1[size > l1] / size[size > l1], initial=1.0))
    found = []
    for tau in {most, min(most, within)}:
        excess = np.maximum(tau * size - l1, 0.0) ** 2
        conjugate = np.divide(0.5 * excess, l2, out=np.zeros_like(excess), where=l2 > 0)
        rows = l1 * norm + 0.5 * l2 * norm**2 + conjugate - tau * np.sum(coef * slopes, axis=1)
        found.append(0.5 * (1 - tau) ** 2 * rr + float(np.maximum(rows, 0.0).sum()))
    return min(found)
