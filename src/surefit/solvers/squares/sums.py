"""Mean squares + table from sums alone: for many rows and few columns, and for rows that come in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.trace import Trace
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.solvers.squares.gram_descent import minimise_quadratic
from surefit.solvers.squares.table_gap import TableGap
from surefit.stats.moments import Moments

NO_WEIGHT_LEFT = (
    "a fold leaves no training row of positive weight: give more rows a positive weight, or use fewer folds."
)


@dataclass(frozen=True, slots=True)
class SquaresSolution:
    """Coefficients, and how far from the best they can be: ``primal - dual <= gap``.

    residual is None where the rows were read only once, into sums. doubt bounds what rounding in sums may
    have done to primal and dual. passes counts the times that all rows were gone through.
    """

    coef: Vector
    intercept: float
    residual: Vector | None
    primal: float
    gap: float
    converged: bool
    epochs: int
    passes: int
    doubt: float = 0.0

    @property
    def dual(self) -> float:
        """The lower bound on the objective that the gap proves."""
        return self.primal - self.gap

    @property
    def support(self) -> NDArray[np.intp]:
        """The numbers of the coefficients that are not zero."""
        return np.flatnonzero(self.coef)


class SquaredSums:
    r"""The sums of :math:`\frac{1}{2W} \sum_i s_i (y_i - x_i'w - b)^2 + \sum_j pen_j(w_j)`, without its rows.

    gram and cross are the scatters over W; energy is that of the target; error is the relative error that
    they may have.

    >>> from surefit.data.batches.batch import Batch
    >>> moments = Moments.of(Batch(np.array([[1.0], [3.0]]), np.array([2.0, 8.0])))
    >>> free = np.full(1, np.inf)
    >>> table = CoordinateTable(np.ones(1), np.zeros(1), -free, free)
    >>> SquaredSums.of(moments).solve(table).coef
    array([2.])
    """

    def __init__(
        self,
        gram: Matrix,
        cross: Vector,
        energy: float,
        mean_x: Vector,
        mean_y: float,
        error: float = 0.0,
    ) -> None:
        spread = np.diagonal(gram)
        constant = np.sqrt(np.maximum(spread, 0.0)) <= 4 * np.finfo(float).eps * np.abs(mean_x)
        if constant.any():
            gram, cross = gram.copy(), cross.copy()
            gram[constant, :] = 0.0
            gram[:, constant] = 0.0
            cross[constant] = 0.0
        self.gram, self.cross, self.energy = np.ascontiguousarray(gram), cross, energy
        self.mean_x, self.mean_y, self.error = mean_x, mean_y, error
        self.rms = np.sqrt(np.maximum(np.diagonal(self.gram), 0.0))

    @classmethod
    def of(cls, moments: Moments, *, target: int = 0, fit_intercept: bool = True) -> SquaredSums:
        """Take them from additive moments, for one of the targets."""
        W = moments.weight
        if not W > 0:
            raise DataError(NO_WEIGHT_LEFT)
        gram, cross = moments.gram / W, moments.cross[:, target] / W
        energy = float(moments.target_scatter[target, target]) / W
        mean_x, mean_y = moments.mean_x, float(moments.mean_y[target])
        if fit_intercept:
            return cls(gram, cross, energy, mean_x, mean_y, moments.error)
        gram += np.multiply.outer(mean_x, mean_x)
        return cls(
            gram, cross + mean_x * mean_y, energy + mean_y**2, np.zeros_like(mean_x), 0.0, moments.error
        )

    def solve(
        self,
        table: CoordinateTable,
        start: Vector | None = None,
        *,
        tolerance: float = 1e-6,
        max_iter: int = 100,
        trace: Trace | None = None,
        polish: bool = True,
    ) -> SquaresSolution:
        """Return the minimiser to a gap of at most ``tolerance``, in units of the objective.

        polish: solve exactly for the coefficients that are not zero, once they are known.
        """
        trace = Trace() if trace is None else trace
        w = np.clip(np.zeros(len(self.cross)) if start is None else start, table.lower, table.upper)
        measure = TableGap(table, self.rms, self.energy)
        epochs, found = 0, self._look(w, self.gram @ w - self.cross, table, measure, tolerance, 0)
        for count, _ in enumerate(trace.iterations(max_iter), 1):
            if not found.converged:
                inner = minimise_quadratic(
                    self.gram, self.cross, self.energy, table, w, 0.5 * tolerance, polish=polish
                )
                epochs += inner.epochs
                w, before = inner.coef, found.gap
                found = self._look(w, self.gram @ w - self.cross, table, measure, tolerance, epochs)
            trace.record(objective=found.primal, gap=found.gap, epochs=float(epochs))
            if found.converged or count == max_iter or found.gap >= before:
                break
        return found

    @property
    def columns(self) -> int:
        """How many coefficients there are."""
        return len(self.cross)

    @property
    def spread(self) -> Vector:
        """The mean square of each column, about its mean when there is an intercept."""
        return np.diagonal(self.gram)

    @property
    def slopes_at_zero(self) -> Vector:
        """The slope of each coefficient where all are zero."""
        return self.cross

    def path(
        self, tables: Iterable[CoordinateTable], *, tolerance: float = 1e-6, max_iter: int = 100
    ) -> Iterator[SquaresSolution]:
        """Solve for one table after the other, each from the answer before."""
        w = np.zeros(len(self.cross))
        for table in tables:
            # One call nearly always does; where it does not, the rounds of ``solve`` go on from there.
            inner = minimise_quadratic(self.gram, self.cross, self.energy, table, w, 0.5 * tolerance)
            w, measure = inner.coef, TableGap(table, self.rms, self.energy)
            found = self._look(w, self.gram @ w - self.cross, table, measure, tolerance, inner.epochs)
            if not found.converged:
                found = self.solve(table, w, tolerance=tolerance, max_iter=max_iter, polish=False)
                w = found.coef
            yield found

    def _look(
        self,
        w: Vector,
        gradient: Vector,
        table: CoordinateTable,
        measure: TableGap,
        tolerance: float,
        epochs: int,
    ) -> SquaresSolution:
        cw = float(self.cross @ w)
        rr = max(0.0, self.energy - cw + float(gradient @ w))
        gap = measure.at(w, -gradient, rr, self.energy - cw).gap
        reach = np.sqrt(self.energy) + float(np.abs(w) @ self.rms)
        return SquaresSolution(
            coef=w,
            intercept=self.mean_y - float(self.mean_x @ w),
            residual=None,
            primal=0.5 * rr + table.value(w),
            gap=gap,
            converged=gap <= tolerance,
            epochs=epochs,
            passes=0,
            doubt=self.error * reach**2,
        )
