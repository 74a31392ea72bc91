"""Least absolute deviations: the linear median, which outliers do not pull."""

from __future__ import annotations

from typing import Literal

from surefit.core.parameters import Count, Tolerance
from surefit.data.schema import Schema
from surefit.losses.absolute import Absolute
from surefit.losses.base import Loss
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.robust.quantile import QuantileRegression
from surefit.penalties.base import Penalty
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.kinked.frisch_newton import MOST_COLUMNS
from surefit.solvers.kinked.reweighting import Reweighting
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solver


class LADRegressor(QuantileRegression):
    r"""Minimise :math:`\frac1W \sum_i s_i |y_i - w'x_i - b|`, the likelihood of Laplace noise.

    solver: "interior_point" ends in an exact vertex, a line through as many rows as it has coefficients;
    "highs" finds such a vertex by HiGHS's simplex; "irls" reweights least squares over and over, as it is
    taught, which gets close slowly. "auto" takes the first. tol: the duality gap allowed, relative to the
    loss of a constant. warm_start: begin at the coefficients of the fit before. constraints: as in
    :class:`~surefit.LinearModel`, with "auto". Rows that are read piece by piece are held in memory.

    >>> from surefit import LADRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 20.0]
    >>> LADRegressor().fit(X, y).predict([[5.0]]).round(6)
    array([5.])
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        solver: Literal["auto", "interior_point", "highs", "irls"] = "auto",
        tol: Tolerance = 1e-8,
        max_iter: Count = 1000,
        warm_start: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.constraints = constraints

    def _loss(self, schema: Schema) -> Loss:
        return Absolute()

    def _penalty(self, objective: Objective) -> Penalty:
        return NoPenalty()

    def _solver(self, objective: Objective) -> Solver:
        if self.constraints is not None and self.solver == "auto":
            return self._solver_called("auto", objective)
        if self.solver == "irls":
            return Reweighting(tolerance=self.tol, max_iter=self.max_iter)
        simplex = self.solver == "highs" or (self.solver == "auto" and objective.columns > MOST_COLUMNS)
        return self._solver_called("highs" if simplex else "frisch_newton", objective)
