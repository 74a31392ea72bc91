"""Mean squares + table by working sets of columns: the lasso, the elastic net and their relatives in memory.

Each round goes through all columns once, which gives the slopes and the duality gap; lets in the columns that
are pulled hardest; and solves for the columns let in, by their Gram matrix (``gram_descent``) or, when that
would cost more than the columns' entries, by the residual. X is not copied in Fortran order or as CSC.

The Gram matrix of the columns that a fit has looked at, kept while it grows and reused along a path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.errors import DataError
from surefit.core.native.columns.column_facts import column_facts
from surefit.core.native.columns.column_gram import column_gram
from surefit.core.native.columns.columns_dot import columns_dot, columns_times
from surefit.core.native.linear.column_cd import column_cd
from surefit.core.native.linear.quad_cd import Descent
from surefit.core.native.sums.gram import centred_gram
from surefit.core.trace import Trace
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.solvers.linalg.column_order import by_columns, is_tall, passes_pay
from surefit.solvers.objective.solver import CLOSE, is_close
from surefit.solvers.squares.gram_descent import minimise_quadratic
from surefit.solvers.squares.sums import SquaredSums, SquaresSolution
from surefit.solvers.squares.table_gap import TableGap, rounding_slopes
from surefit.solvers.squares.working_set import FEWEST, admissible_slopes, next_columns, safe_to_drop

Indices = NDArray[np.int64]
_LEAST_BYTES = 2**22
_SHARE = 0.08  # of the size of X that the matrix may take


class GramCache:
    """Rows and columns of A'SA/W in the order in which columns came, up to ``room`` of them."""

    def __init__(self, X: Any, centre: Vector | None, weight: Vector | None, total: float) -> None:
        self._X, self._centre, self._weight, self._factor = X, centre, weight, 1.0 / total
        size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
        self.room = min(X.shape[1], int(np.sqrt(max(_LEAST_BYTES, _SHARE * size) / 8)))
        self.columns: Indices = np.empty(0, dtype=np.int64)
        self._held = np.zeros(X.shape[1], dtype=bool)
        self._matrix: Matrix | None = None

    @property
    def matrix(self) -> Matrix:
        """The matrix, with room at its end; memory that no column has reached yet is never touched."""
        if self._matrix is None:
            self._matrix = np.empty((self.room, self.room))
        return self._matrix

    def fits(self, columns: Indices) -> bool:
        """Whether these can be held, perhaps in place of others."""
        return bool(len(columns) <= self.room)

    def hold(self, columns: Indices) -> None:
        """Make sure that these are in it; when there is no room left for them, all others go."""
        fresh = columns[~self._held[columns]]
        if len(self.columns) + len(fresh) > self.room:
            self._keep(np.flatnonzero(np.isin(self.columns, columns)))
        if len(fresh) == 0:
            return
        old = len(self.columns)
        self.columns = np.concatenate([self.columns, fresh])
        self._held[fresh] = True
        column_gram(self._X, self.columns, self.matrix, old, self._centre, self._weight, self._factor)

    def _keep(self, places: NDArray[np.intp]) -> None:
        count = len(places)
        self.matrix[:count, :count] = self.matrix[np.ix_(places, places)]
        self.columns = self.columns[places]
        self._held[:] = False
        self._held[self.columns] = True


_WORTH = 2.0  # a Gram matrix pays up to this many columns for each entry of a column
_SWEEPS = 1000  # over columns, after which their Gram matrix must help
_DEPENDENT = 1e-10  # condition beyond which columns without penalty count as dependent
_LOOSE = 0.03  # share of the gap to which the columns let in are solved for
_BENT = 0.01  # share of a column's mean square from which the curvature of its penalty counts
_STALLED = 5  # rounds without progress after which rounding rules
_NEAR = 10.0  # times the gap allowed, from where on columns are solved for to the last
_EXACT = 1e-4  # share of the gap that leaves the rest to rounding
_QUICK = 1e7  # multiplications of a Gram matrix that take no longer than a round


@dataclass(slots=True)
class _Point:
    """Coefficients with their residual and slopes; ``fresh`` says for which columns the slopes hold."""

    coef: Vector
    residual: Vector
    slopes: Vector
    rr: float
    yr: float
    whole: bool


class SquaredColumns:
    r"""The problem :math:`\frac{1}{2W} \sum_i s_i (y_i - x_i'w - b)^2 + \sum_j pen_j(w_j)` over a matrix.

    X is an array or a sparse matrix of float32 or float64; b is left out when ``fit_intercept`` is false.

    >>> X, y = np.array([[1.0, 0.0], [3.0, 1.0], [2.0, 5.0]]), np.array([2.0, 8.0, 5.0])
    >>> free = np.full(2, np.inf)
    >>> table = CoordinateTable(np.ones(2), np.zeros(2), -free, free)
    >>> found = SquaredColumns(X, y).solve(table)
    >>> found.coef, round(found.intercept, 6), found.gap <= 1e-6
    (array([1.5, 0. ]), 2.0, True)
    """

    def __init__(self, X: Any, y: Any, weight: Any = None, *, fit_intercept: bool = True) -> None:
        y = np.asarray(y, dtype=np.float64)
        s = None if weight is None else np.asarray(weight, dtype=np.float64)
        if s is not None and not s.any():
            raise DataError("every row has weight 0: give at least one row a positive weight.")
        if s is not None and (s == 0).any():  # such rows may hold anything
            X, y, s = X[s > 0], y[s > 0], s[s > 0]
        self.X = by_columns(X)
        self.weight = None if s is None or (s == s[0]).all() else s
        self.total = float(len(y)) if self.weight is None else float(self.weight.sum())
        self.fit_intercept = fit_intercept
        self.mean_y = float(np.average(y, weights=self.weight)) if fit_intercept else 0.0
        self.target: Vector = y - self.mean_y
        self.energy = self._product(self.target, self.target)
        self._last: _Point | None = None

    def solve(
        self,
        table: CoordinateTable,
        start: Vector | None = None,
        *,
        tolerance: float = 1e-6,
        max_iter: int = 100,
        trace: Trace | None = None,
    ) -> SquaresSolution:
        """Return the minimiser to a gap of at most ``tolerance``, in units of the objective."""
        trace = Trace() if trace is None else trace
        with one_blas_thread():
            if self._narrow and not passes_pay(self.X):
                return self._sums.solve(table, start, tolerance=tolerance, max_iter=max_iter, trace=trace)
            return self._by_sets(table, start, tolerance, max_iter, trace, None)

    @property
    def columns(self) -> int:
        """How many coefficients there are."""
        return int(self.X.shape[1])

    @property
    def mean_x(self) -> Vector:
        """The means of the columns; zeros when there is no intercept to take them away."""
        return np.asarray(self._facts.mean)

    @property
    def spread(self) -> Vector:
        """The mean square of each column, about its mean when there is an intercept."""
        return self._rms**2

    @property
    def slopes_at_zero(self) -> Vector:
        """The slope of each coefficient where all are zero: X'Sy / W, centred."""
        return self._sums.cross if self._narrow else np.asarray(self._facts.cross / self.total)

    def path(
        self, tables: Iterable[CoordinateTable], *, tolerance: float = 1e-6, max_iter: int = 100
    ) -> Iterator[SquaresSolution]:
        """Solve for one table after the other, each from the answer before."""
        if self._narrow:
            with one_blas_thread():
                answers = list(self._sums.path(tables, tolerance=tolerance, max_iter=max_iter))
            yield from answers
            return
        before: CoordinateTable | None = None
        found: SquaresSolution | None = None
        for table in tables:
            start = None if found is None else found.coef
            with one_blas_thread():
                found = self._by_sets(table, start, tolerance, max_iter, Trace(), before or table)
            before = table
            yield found

    def _by_sets(
        self,
        table: CoordinateTable,
        start: Vector | None,
        tolerance: float,
        max_iter: int,
        trace: Trace,
        before: CoordinateTable | None,
    ) -> SquaresSolution:
        """Run the rounds; ``before`` is the table of the step before along a path."""
        measure = TableGap(table, self._rms, self.energy)
        free = np.flatnonzero((table.l1 == 0) & (table.l2 == 0) & (self._rms > 0))
        unbound = free[np.isinf(table.lower[free]) & np.isinf(table.upper[free])]
        alive = self._rms > 0
        epochs, passes, stalled, best, least = 0, 0, 0, np.inf, np.inf
        point = self._start(table, start)
        for count, _ in enumerate(trace.iterations(max_iter), 1):
            if point.residual.size == 0 or not point.whole:
                point = self._look(point.coef, unbound, alive)
                passes += 1
            found = measure.at(point.coef, point.slopes, point.rr, point.yr)
            primal = 0.5 * point.rr + _value(table, point.coef)
            trace.record(objective=primal, gap=found.gap, passes=passes, epochs=float(epochs))
            # Along a path the next step begins here; a single answer is to be close beside its own objective.
            near = before is None and found.gap <= _NEAR * tolerance
            aim = min(tolerance, CLOSE * primal) if near else tolerance
            moving = found.gap < 0.9 * best or primal < least - 0.01 * aim
            stalled = 0 if moving else stalled + 1
            best, least = min(best, found.gap), min(least, primal)
            close = before is not None or stalled > 1 or is_close(found.gap, primal)
            if (close and found.gap <= tolerance) or count == max_iter or trace.asked_to_stop:
                break
            if stalled == _STALLED:
                break
            if before is None:
                alive &= ~safe_to_drop(table, point.slopes, found.factor, self._rms, found.gap)
            chosen = self._choose(table, point, alive, free, before if count == 1 else None)
            if self._narrow and len(chosen) > self.columns // 2:  # all columns cost hardly more than these
                return self._sums.solve(
                    table,
                    point.coef,
                    tolerance=self._closer(tolerance),
                    max_iter=max_iter - count,
                    trace=trace,
                )
            coef, swept = self._descend(table, point, chosen, found.gap, 0.3 * aim)
            epochs += swept
            point = _Point(coef, np.empty(0), point.slopes, 0.0, 0.0, whole=False)
        self._last = point if alive.all() or before is not None else None
        return SquaresSolution(
            coef=point.coef,
            intercept=self.mean_y - float(self._facts.mean @ point.coef),
            residual=point.residual,
            primal=primal,
            gap=found.gap,
            converged=found.gap <= tolerance,
            epochs=epochs,
            passes=passes,
        )

    def _start(self, table: CoordinateTable, start: Vector | None) -> _Point:
        if start is not None and self._last is not None and start is self._last.coef:
            return self._last
        p = self.X.shape[1]
        coef = np.clip(np.zeros(p) if start is None else start, table.lower, table.upper)
        if coef.any() or ((table.l1 == 0) & (table.l2 == 0)).any():
            return _Point(coef, np.empty(0), np.zeros(p), 0.0, 0.0, whole=False)
        slopes = self._facts.cross / self.total
        return _Point(coef, self.target, slopes, self.energy, self.energy, whole=True)

    def _look(self, coef: Vector, free: Indices, alive: NDArray[np.bool_]) -> _Point:
        """Make the residual afresh, then the slopes of the columns that are still alive."""
        support = np.flatnonzero(coef)
        centre = self._facts.mean if self.fit_intercept else None
        residual = self.target - columns_times(self.X, coef[support], centre, support)
        if len(free):
            coef, residual = self._project(coef, residual, free)
        scaled = residual if self.weight is None else self.weight * residual
        if alive.all() or not self._can_choose:
            slopes = columns_dot(self.X, scaled, centre) / self.total
        else:
            some = np.flatnonzero(alive)
            slopes = np.zeros(len(coef))
            slopes[some] = columns_dot(self.X, scaled, centre, some) / self.total
        slopes[self._rms == 0] = 0.0
        rr, yr = self._product(residual, residual), self._product(self.target, residual)
        return _Point(coef, residual, slopes, rr, yr, whole=True)

    def _choose(
        self,
        table: CoordinateTable,
        point: _Point,
        alive: NDArray[np.bool_],
        free: Indices,
        before: CoordinateTable | None,
    ) -> Indices:
        support = np.flatnonzero(point.coef)
        inside = np.zeros(len(alive), dtype=bool)
        inside[support] = True
        inside[free] = True
        if before is not None:  # a slope moves by no more than the strength does, nearly always
            excess = admissible_slopes(table, point.slopes) - (2 * table.l1 - before.l1)
            entering = np.flatnonzero((excess >= 0) & alive & ~inside)
            entering = entering[np.argsort(-excess[entering], kind="stable")]
        else:
            entering = next_columns(
                table, point.slopes, self._rms, alive & ~inside, len(support), self._fewest
            )
        left = self._cache.room - np.count_nonzero(inside)
        by_gram = self._cache.room <= _WORTH * self._stored and not self._bends(table)
        if by_gram and left > len(support) // 8:
            entering = entering[:left]  # the Gram matrix holds no more, and is worth it
        inside[entering] = True
        return np.flatnonzero(inside)

    def _descend(
        self, table: CoordinateTable, point: _Point, chosen: Indices, gap: float, tolerance: float
    ) -> tuple[Vector, int]:
        """Solve for the chosen columns; the residual serves where their Gram matrix would cost more."""
        coef, epochs = point.coef, 0
        loose = max(tolerance, _LOOSE * gap)
        if not self._cache.fits(chosen) or len(chosen) > _WORTH * self._stored:
            done, coef = self._by_residual(table, point, chosen, loose)
            if done.gap <= loose or not self._cache.fits(chosen):
                return coef, done.epochs
            epochs = done.epochs
        if self._narrow:
            tolerance = self._closer(tolerance)
        elif len(chosen) > 1.1 * np.count_nonzero(point.coef):
            tolerance = loose  # with few columns to come, the answer may as well be right at once
        cache = self._cache
        cache.hold(chosen)
        some = cache.columns
        cross = self._facts.cross[some] / self.total
        inner = minimise_quadratic(
            cache.matrix, cross, self.energy, _part(table, some), coef[some], tolerance, polish=self._narrow
        )
        coef = coef.copy()
        coef[some] = inner.coef
        return coef, epochs + inner.epochs

    def _by_residual(
        self, table: CoordinateTable, point: _Point, chosen: Indices, tolerance: float
    ) -> tuple[Descent, Vector]:
        w, residual = point.coef[chosen], point.residual.copy()
        X, which = self.X, chosen
        if isinstance(X, np.ndarray) and not X.flags.f_contiguous:
            X, which = np.asfortranarray(X[:, chosen]), np.arange(len(chosen))
        done = column_cd(
            X,
            which,
            self._facts.mean[chosen],
            self._rms[chosen] ** 2,
            _part(table, chosen),
            w,
            residual,
            weight=self.weight,
            tolerance=tolerance,
            most=_SWEEPS if self._cache.fits(chosen) else 10 * _SWEEPS,
            noise=rounding_slopes(self._rms[chosen], self.energy, w),
        )
        coef = point.coef.copy()
        coef[chosen] = w
        return done, coef

    def _project(self, coef: Vector, residual: Vector, free: Indices) -> tuple[Vector, Vector]:
        """Solve exactly for the columns with neither penalty nor bounds."""
        A = self.X[:, free]
        A = np.asarray(A if isinstance(A, np.ndarray) else A.toarray(), dtype=np.float64)
        A = A - (self._facts.mean[free] if self.fit_intercept else 0.0)
        root = np.ones(len(A)) if self.weight is None else np.sqrt(self.weight)
        scale = 1 / self._rms[free]
        B = A * scale * root[:, None]
        coef = coef.copy()
        for _ in range(2):  # the second time takes out what rounding left
            found = linalg.lstsq(B, root * residual, _DEPENDENT, check_finite=False, lapack_driver="gelsy")
            step = scale * found[0]
            residual = residual - A @ step
            coef[free] += step
        return coef, residual

    def _product(self, a: Vector, b: Vector) -> float:
        return float(a @ b if self.weight is None else (self.weight * a) @ b) / self.total

    @cached_property
    def _facts(self) -> Any:
        return column_facts(self.X, self.target, self.weight, self.fit_intercept)

    @cached_property
    def _rms(self) -> Vector:
        rms = np.sqrt(self._facts.scatter / self.total)
        # What is left of a constant column after centring is rounding.
        return np.where(rms <= 4 * np.finfo(float).eps * np.abs(self._facts.mean), 0.0, rms)

    @cached_property
    def _cache(self) -> GramCache:
        return GramCache(self.X, self._facts.mean if self.fit_intercept else None, self.weight, self.total)

    def _bends(self, table: CoordinateTable) -> bool:
        """Whether the table's own curvature makes a few sweeps enough."""
        return bool((table.l2 >= _BENT * self._rms**2).all())

    @cached_property
    def _stored(self) -> float:
        """Entries of a column, on average."""
        return len(self.target) if isinstance(self.X, np.ndarray) else self.X.nnz / max(1, self.X.shape[1])

    @cached_property
    def _fewest(self) -> int:
        """Columns to let in at first: a look at tall columns, or a round for few rows, costs more."""
        if not isinstance(self.X, np.ndarray):
            return FEWEST
        return self.columns // 4 if self._narrow else max(FEWEST, int(np.sqrt(_QUICK / len(self.target))))

    @property
    def _can_choose(self) -> bool:
        return not isinstance(self.X, np.ndarray) or bool(self.X.flags.f_contiguous)

    @property
    def _narrow(self) -> bool:
        return isinstance(self.X, np.ndarray) and is_tall(self.X)

    def _closer(self, tolerance: float) -> float:
        """Return the gap to go to where the last digits cost next to nothing."""
        return max(_EXACT * tolerance, min(tolerance, 1e-15 * self.energy))

    @cached_property
    def _sums(self) -> SquaredSums:
        found = centred_gram(self.X, self.target, self.weight)
        gram, cross = found.scatter[:-1, :-1] / self.total, found.scatter[:-1, -1] / self.total
        mean = found.mean[:-1]
        if self.fit_intercept:
            return SquaredSums(gram, cross, self.energy, mean, self.mean_y)
        gram = gram + np.multiply.outer(mean, mean)
        cross = cross + mean * found.mean[-1]
        return SquaredSums(gram, cross, self.energy, np.zeros_like(mean), 0.0)


def _value(table: CoordinateTable, coef: Vector) -> float:
    support = np.flatnonzero(coef)
    return _part(table, support).value(coef[support])


def _part(table: CoordinateTable, some: Indices) -> CoordinateTable:
    return CoordinateTable(table.l1[some], table.l2[some], table.lower[some], table.upper[some])
