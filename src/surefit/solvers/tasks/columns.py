r"""Mean squares of several targets with a penalty on whole rows of W: the multi-task lasso and its relatives.

.. math:: \frac{1}{2W} \sum_i s_i \|y_i - V'x_i - b\|^2 + \sum_j l1_j \|V_j\| + \tfrac12 l2_j \|V_j\|^2

Each round goes through all columns once, which gives the slopes and the duality gap, lets in the columns
that are pulled hardest, and solves for the columns let in by their Gram matrix. With few columns, or more
rows than columns, there is one Gram matrix, of all of them.

Newton's steps for the rows in use of a penalty on whole rows, where the objective is smooth.

.. math:: H = G \otimes I + \mathrm{diag}_j\left( \frac{l1_j}{|W_j|} (I - u_j u_j') + l2_j I \right),
    \quad u_j = W_j / |W_j|

Sweeps find out which rows are in use; from there they may crawl, when columns are alike, where a few of
these steps are exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from surefit.core.arrays import Matrix, Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.native.columns.column_facts import column_facts
from surefit.core.native.columns.column_gram import column_gram
from surefit.core.native.columns.columns_dot import columns_dot, columns_times
from surefit.core.native.linear.task_cd import row_gap, task_cd
from surefit.core.trace import Trace
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.solvers.linalg.column_order import by_columns
from surefit.solvers.objective.solver import CLOSE, is_close
from surefit.stats.moments import Moments
from surefit.stats.overflow import refuse_overflow

_MOST_NUMBERS = 1200  # in use: beyond, a factorisation costs more than many sweeps
_STEPS = 8
_HALVINGS = 8


def newton_on_rows(G: Matrix, C: Matrix, l1: Vector, l2: Vector, W: Matrix) -> Matrix:
    """Return rows at which tr(W'GW)/2 - <C, W> + sum_j l1_j |W_j| + l2_j/2 |W_j|^2 is no higher than at W.

    >>> G, C = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[3.0, 4.0], [3.5, 4.0]])
    >>> W = newton_on_rows(G, C, np.ones(2), np.zeros(2), np.ones((2, 2)))
    >>> slopes = G @ W - C + W / np.linalg.norm(W, axis=1)[:, None]
    >>> bool(abs(slopes).max() < 1e-12)
    True
    """
    used = np.flatnonzero(W.any(axis=1))
    if not 0 < W[used].size <= _MOST_NUMBERS:
        return W
    G, C, l1, l2 = G[np.ix_(used, used)], C[used], l1[used], l2[used]
    V, value = W[used], _value(G, C, l1, l2, W[used])
    for _ in range(_STEPS):
        step = _step(G, C, l1, l2, V)
        found = None if step is None else _shortened(G, C, l1, l2, V, step, value)
        if found is None:
            break
        V, value = found
        if not V.any(axis=1).all():  # sweeps say whether the row stays out
            break
    moved = W.copy()
    moved[used] = V
    return moved


def _value(G: Matrix, C: Matrix, l1: Vector, l2: Vector, V: Matrix) -> float:
    norm = np.linalg.norm(V, axis=1)
    return float(np.sum(V * (0.5 * (G @ V) - C)) + l1 @ norm + 0.5 * (l2 @ norm**2))


def _step(G: Matrix, C: Matrix, l1: Vector, l2: Vector, V: Matrix) -> Matrix | None:
    m, k = V.shape
    norm = np.linalg.norm(V, axis=1, keepdims=True)
    u, bend = V / norm, l1 / norm[:, 0]
    slopes = G @ V - C + l1[:, None] * u + l2[:, None] * V
    blocks = (bend + l2)[:, None, None] * np.eye(k) - bend[:, None, None] * (u[:, :, None] * u[:, None, :])
    H = np.zeros((m, k, m, k))
    H[:, np.arange(k), :, np.arange(k)] = G
    H[np.arange(m), :, np.arange(m), :] += blocks
    square = H.reshape(m * k, m * k)
    square[np.diag_indices(m * k)] += 1e-13 * np.trace(square) / (m * k)
    try:
        factor = cho_factor(square, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    step: Matrix = -cho_solve(factor, slopes.ravel()).reshape(m, k)
    return step


def _shortened(
    G: Matrix, C: Matrix, l1: Vector, l2: Vector, V: Matrix, step: Matrix, value: float
) -> tuple[Matrix, float] | None:
    """Halve a step until it lowers the value, rows that would turn round stopping at zero; None if none."""
    for halving in range(_HALVINGS):
        there = V + 0.5**halving * step
        there[np.sum(there * V, axis=1) <= 0] = 0.0
        found = _value(G, C, l1, l2, there)
        if found < value:
            return there, found
    return None


Indices = NDArray[np.intp]

_SWEEPS = 100  # before Newton's method has a try
_STALLED = 5  # looks without progress after which rounding rules
_FEWEST = 64  # columns of the first working set
_FEW = 400  # columns that are all let in at once
_NEAR = 10.0  # times the gap allowed, from where on columns are solved for to the last


@dataclass(frozen=True, slots=True)
class TaskSolution:
    """Coefficients (p, k) and intercepts, objective, gap, and the sweeps that it took."""

    coef: Matrix
    intercept: Vector
    primal: float
    gap: float
    converged: bool
    epochs: int
    doubt: float = 0.0


@dataclass(frozen=True, slots=True)
class TaskPoint:
    """Coefficients, the slopes there, (p, k), and the mean square of the residual, in all."""

    coef: Matrix
    slopes: Matrix
    rr: float


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
    def gram_of(self, some: Indices) -> Matrix:
        """Return the Gram matrix of some columns over W."""

    @cached_property
    def gram(self) -> Matrix:
        """The Gram matrix of all columns over W."""
        return self.gram_of(np.arange(self.columns))

    def solve(
        self,
        table: CoordinateTable,
        start: Matrix | None = None,
        *,
        tolerance: float = 1e-6,
        max_iter: int = 100,
        trace: Trace | None = None,
    ) -> TaskSolution:
        """Return the minimiser to a gap of at most ``tolerance``, in units of the objective."""
        with one_blas_thread():
            return self._solve(table, self.at(start), tolerance, max_iter, trace, single=True)[0]

    def path(
        self, tables: Iterable[CoordinateTable], *, tolerance: float = 1e-6, max_iter: int = 100
    ) -> Iterator[TaskSolution]:
        """Solve for one table after the other, each from the answer before."""
        with one_blas_thread():
            at = self.at(None)
        for table in tables:
            with one_blas_thread():
                found, at = self._solve(table, at, tolerance, max_iter)
            yield found

    def at(self, coef: Matrix | None) -> TaskPoint:
        """Return coefficients, zeros for None, with slopes and residual there."""
        if coef is None:
            return TaskPoint(np.zeros_like(self.slopes_at_zero), self.slopes_at_zero, self.energy)
        return TaskPoint(coef, *self._look(coef))

    def _solve(
        self,
        table: CoordinateTable,
        at: TaskPoint,
        tolerance: float,
        max_iter: int,
        trace: Trace | None = None,
        *,
        single: bool = False,
    ) -> tuple[TaskSolution, TaskPoint]:
        """Run the rounds; the answer to a single penalty is to be close beside its own objective."""
        trace, (l1, l2) = Trace() if trace is None else trace, (table.l1, table.l2)
        epochs, gap, primal, stalled = 0, np.inf, np.inf, 0
        for count, _ in enumerate(trace.iterations(max_iter), 1):
            before, primal = primal, 0.5 * at.rr + _penalty(at.coef, l1, l2)
            gap = row_gap(at.coef, -at.slopes, l1, l2, at.rr)
            trace.record(objective=primal, gap=gap, epochs=float(epochs))
            stalled = 0 if primal < before else stalled + 1  # the gap may grow while columns come in
            close = not single or is_close(gap, primal) or stalled > 1
            if (close and gap <= tolerance) or count == max_iter or trace.asked_to_stop:
                break
            if stalled == _STALLED:
                break
            aim = min(tolerance, CLOSE * primal) if single and gap <= _NEAR * tolerance else tolerance
            coef, swept = self._descend(at, l1, l2, 0.3 * aim, gap)
            at, epochs = self.at(coef), epochs + swept
        intercept = self.mean_y - self.mean_x @ at.coef
        return TaskSolution(at.coef, intercept, primal, gap, gap <= tolerance, epochs), at

    def _descend(
        self, at: TaskPoint, l1: Vector, l2: Vector, tolerance: float, gap: float
    ) -> tuple[Matrix, int]:
        if self.columns <= _FEW:
            some: Indices | slice = slice(None)
            gram = self.gram
        else:
            some = self._choose(at.coef, at.slopes, l1)
            gram, tolerance = self.gram_of(some), max(tolerance, 0.02 * gap)  # the next round lets in others
        W, slopes, l1, l2 = np.array(at.coef[some]), at.slopes[some], l1[some], l2[some]
        # The quadratic of these columns has the pull that would be left if they were all zero.
        C = slopes + gram @ W
        outside = at.rr + float(np.sum(W * (slopes + C)))  # what would be left of the mean square
        gradient, epochs, stalled, best = np.empty_like(W), 0, 0, np.inf
        while stalled < _STALLED:
            swept, gap = task_cd(
                gram, C, l1, l2, W, gradient, outside=outside, tolerance=tolerance, most=_SWEEPS
            )
            epochs += swept
            if gap <= tolerance:
                break
            stalled = 0 if gap < 0.99 * best else stalled + 1
            best = min(best, gap)
            W = newton_on_rows(gram, C, l1, l2, W)
        moved = at.coef.copy()
        moved[some] = W
        return moved, epochs

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
        refuse_overflow(facts.scatter, len(facts.scatter), self._total)
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

    def gram_of(self, some: Indices) -> Matrix:
        """Return the Gram matrix of some columns over W."""
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

    def gram_of(self, some: Indices) -> Matrix:
        """Return the Gram matrix of some columns over W."""
        return np.ascontiguousarray(self._whole[np.ix_(some, some)])


def _penalty(coef: Matrix, l1: Vector, l2: Vector) -> float:
    norm = np.linalg.norm(coef, axis=1)
    return float(l1 @ norm + 0.5 * (l2 @ norm**2))
