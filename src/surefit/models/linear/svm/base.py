"""What linear support vector machines share: a penalised intercept, and which solver suits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.trace import Trace
from surefit.data.source import ArraySource, Source, in_memory
from surefit.engine.base import Engine
from surefit.models.linear.common.mean_loss import MeanLossModel
from surefit.models.linear.common.nonsmooth_loss import all_in_memory
from surefit.models.linear.common.penalised_intercept import with_constant_column
from surefit.models.linear.squares.ridge import NoInference
from surefit.penalties.base import Penalty
from surefit.penalties.l1 import L1
from surefit.penalties.l2 import L2
from surefit.solvers.kinked.frisch_newton import MOST_COLUMNS
from surefit.solvers.kinked.mean_reflection import MeanReflection
from surefit.solvers.newton.second_order import SecondOrder
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import SECOND_ORDER_LARGEST, Solution, Solver
from surefit.solvers.objective.subsample import start_from_sample
from surefit.solvers.svm.dual_coordinates import DualCoordinates

GAP = 0.01  # of tol: scikit-learn's bounds a gradient, ours the objective
MANY = 20_000  # columns beyond which none is diagnosed
CLOSEST = 1e-14  # gap: what is below is rounding
FEW = 1000  # columns whose square costs less than epochs over the rows


class LinearSVM(NoInference, MeanLossModel, abstract=True):
    """Minimise the sum of losses times C plus half the squares, or the absolute values, of all coefficients.

    The intercept is the coefficient of a column of ``intercept_scaling``, and penalised as such.
    """

    no_errors = (
        "its penalty shrinks the coefficients towards zero, and its loss is not a likelihood; use "
        "LogisticRegression or LinearRegression without a penalty"
    )

    C: float
    intercept_scaling: float

    def _squares(self) -> bool:
        """Whether coefficients are penalised by their squares."""
        return True

    @abstractmethod
    def _kinked(self) -> bool:
        """Whether the loss has kinks."""

    def _with_intercept(self, source: Source) -> Source:
        if self._kinked():
            source = all_in_memory(source)
        return with_constant_column(source, self.intercept_scaling) if self.fit_intercept else source

    def _intercept_is_free(self) -> bool:
        return False

    def _penalty(self, objective: Objective) -> Penalty:
        strength = 1.0 / (self.C * objective.targets.weight)
        return L2(strength) if self._squares() else L1(strength)

    def _solver(self, objective: Objective) -> Solver:
        columns, kinked = objective.columns, self._kinked()
        if self.constraints is not None:
            return self._solver_called("auto", objective, tolerance=GAP * self.tol)
        wide = objective.rows is not None and columns > (FEW if kinked else SECOND_ORDER_LARGEST)
        if self._squares() and wide:
            return DualCoordinates(tolerance=GAP * self.tol, max_iter=self.max_iter)
        name = "frisch_newton" if kinked and columns <= MOST_COLUMNS else "auto"
        return self._solver_called(name, objective, tolerance=GAP * self.tol)

    def _solved(self, objective: Objective, solver: Solver, trace: Trace) -> Solution:
        if not isinstance(solver, SecondOrder) or objective.rows is None or self.constraints is not None:
            return closer(super()._solved(objective, solver, trace), objective, solver)
        turned = MeanReflection.of(objective)
        if turned is None:
            return closer(super()._solved(objective, solver, trace), objective, solver)
        inner, start = turned.objective(objective), super()._start(objective)
        start = None if start is None else turned.inner(start)
        found = closer(solver.solve(inner, start, trace), inner, solver)
        w = turned.outer(found.x)
        return replace(found, x=w, certificate=objective.certificate(w, found.certificate.tolerance))

    def _start(self, objective: Objective) -> NDArray[np.float64] | None:
        start = super()._start(objective)
        if start is not None:
            return start
        second_order = objective.columns <= SECOND_ORDER_LARGEST and not self._kinked()
        return start_from_sample(self._solver(objective), objective) if second_order else None

    def _evidence(self, objective: Objective, solution: Solution) -> Mapping[str, Any]:
        if objective.columns > MANY and objective.rows is not None:
            return {}  # the moments of so many columns would cost as much as the fit
        moments = objective.spread.moments
        if self.fit_intercept:  # the last column is ours, and constant on purpose
            cut = {e.name: getattr(moments, e.name)[:-1] for e in fields(moments) if e.name != "weight"}
            moments = replace(moments, **cut)
        return {"column_moments": moments, "rows": objective.spread.rows}

    def _split(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return coefficients (k, p) and intercepts (k,) of a packed point."""
        packed = x[:, None] if x.ndim == 1 else x
        if not self.fit_intercept:
            return np.ascontiguousarray(packed.T), np.zeros(packed.shape[1])
        return np.ascontiguousarray(packed[:-1].T), self.intercept_scaling * packed[-1]

    def _joined(self, coef: Any, intercept: Any, flat: bool) -> NDArray[np.float64]:
        """Return the packed point of coefficients (k, p) and intercepts (k,)."""
        packed = np.asarray(coef).T
        if self.fit_intercept:
            packed = np.vstack([packed, np.atleast_1d(intercept) / self.intercept_scaling])
        return packed[:, 0] if flat else packed


def closer(found: Solution, objective: Objective, solver: Solver) -> Solution:
    """Go on until the gap is small beside the objective, too, which may be far below the loss of a constant.

    Many columns, or a great C, leave next to no loss, and half the squares are all that is left to compare.
    """
    share = found.value / objective.scale
    if not found.holds or not 0 < share < 1 or found.certificate.value <= solver.tolerance * share:
        return found
    asked, solver.tolerance = solver.tolerance, max(solver.tolerance * share, CLOSEST)
    again = solver.solve(objective, found.x, Trace())
    if not again.certificate.value < found.certificate.value:
        return found
    proof = again.certificate if again.holds else replace(again.certificate, tolerance=asked)
    return replace(again, certificate=proof, iterations=found.iterations + again.iterations)


def changed_rows(source: Source, engine: Engine, change: Any, schema: Any) -> Source:
    """Return a source whose batches are changed: at once if they are in memory, as they pass if not."""
    from surefit.data.source import MappedSource

    batch = in_memory(source)
    if batch is None:
        return MappedSource(source, schema, change)
    return ArraySource(schema, replace(change(batch), start=batch.start))
