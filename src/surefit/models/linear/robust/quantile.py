"""Linear quantiles: the line below which a given share of the targets lies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.certificate import Certificate
from surefit.core.parameters import Count, Strength, Tolerance
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.losses.quantile import Level, Quantile
from surefit.models.linear.common.base import LinearPrediction
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.common.mean_loss import MeanLossModel, plain_intercept
from surefit.models.linear.common.nonsmooth_loss import all_in_memory
from surefit.models.linear.squares.ridge import NoInference
from surefit.penalties.base import Penalty
from surefit.penalties.l1 import L1
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.kinked.frisch_newton import MOST_COLUMNS
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution, Solver
from surefit.stats.products import scores_of

ALGORITHMS = {
    "highs": "frisch_newton",
    "interior-point": "frisch_newton",
    "highs-ds": "highs",
    "highs-ipm": "highs",
    "revised simplex": "highs",
}

ON_THE_LINE = "rows on the line"  # a best line goes through as many as it has coefficients
FEWER = "rows that the line went through and does not go through any more"
NEAR = 1e-9  # of what a residual is a difference of: more than rounding, less than any change of note


@dataclass(frozen=True, slots=True)
class QuantileParameters:
    """Coefficients and intercept, and how many iterations it took."""

    coef: NDArray[np.float64]
    intercept: Any
    n_iter: int


class QuantileRegression(NoInference, LinearPrediction, RegressorMixin, MeanLossModel, abstract=True):
    """What regressions with piecewise-linear losses share."""

    accepts = Accepts(target="number")
    learns = QuantileParameters
    no_errors = (
        "standard errors of quantile regression depend on the density of the noise at the quantile, which "
        "is not estimated; hold rows out and count how many lie below"
    )

    n_iter_: int

    def _rows_of(self, source: Source, engine: Engine) -> Source:
        return all_in_memory(source)

    def _proof(self, objective: Objective, solution: Solution) -> Certificate:
        proof = super()._proof(objective, solution)
        return replace(proof, parts={**proof.parts, ON_THE_LINE: self._touched(objective, solution.x)})

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Prove the gap again; and that the line still goes through as many rows, since where several lines
        are best the objective alone would not tell one from another.
        """
        again = super()._certify(source, engine)
        touched = self._touched(self._objective(source, engine), self._packed())
        again = replace(again, parts={**again.parts, ON_THE_LINE: touched})
        stated = self.certificate_.parts.get(ON_THE_LINE, 0.0)  # older files do not state it
        return again if touched >= stated else replace(again, measure=FEWER, value=stated - touched)

    @staticmethod
    def _touched(objective: Objective, packed: NDArray[np.float64]) -> float:
        """Return how many rows that count lie on the line, but for rounding."""
        coef, intercept = objective.split(packed)
        touched = partial(_on_the_line, coef, 0.0 if intercept is None else float(intercept))
        return float(sum(objective.engine.map(touched, objective.source)))

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> QuantileParameters:
        coef, intercept = objective.split(solution.x)
        return QuantileParameters(coef.copy(), plain_intercept(intercept), max(solution.iterations, 1))


def _on_the_line(coef: NDArray[np.float64], intercept: float, batch: Batch) -> int:
    X: Any = batch.X
    size = np.asarray(abs(X) @ np.abs(coef)) + abs(intercept) + np.abs(np.asarray(batch.y))
    on = np.abs(np.asarray(batch.y) - scores_of(batch, coef, intercept)) <= NEAR * size
    return int(np.count_nonzero(on if batch.weight is None else on & (batch.weight > 0)))


class QuantileRegressor(QuantileRegression):
    r"""Minimise :math:`\frac1W \sum_i s_i \left( q (y_i - z_i)_+ + (1-q) (z_i - y_i)_+ \right) + \alpha
    \|w\|_1`, with :math:`z_i = w'x_i + b`.

    quantile: q, the share of targets to lie below. alpha: the strength of the absolute penalty. solver:
    "highs" and "interior-point" run an interior point that ends in an exact vertex, "highs-ds", "highs-ipm"
    and "revised simplex" HiGHS's dual simplex. solver_options: without effect. tol: the duality gap allowed,
    relative to the loss of a constant. warm_start: begin at the coefficients of the fit before. constraints:
    as in :class:`~surefit.LinearModel`; with them the solver is chosen. Rows that are read piece by piece are
    held in memory.

    >>> from surefit import QuantileRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 20.0]
    >>> model = QuantileRegressor(quantile=0.5, alpha=0).fit(X, y)
    >>> model.coef_.round(6), model.certificate_.holds
    (array([1.]), True)
    """

    def __init__(
        self,
        *,
        quantile: Level = 0.5,
        alpha: Strength = 1.0,
        fit_intercept: bool = True,
        solver: Literal["highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex"] = "highs",
        solver_options: dict | None = None,
        tol: Tolerance = 1e-8,
        max_iter: Count = 1000,
        warm_start: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.constraints = constraints

    def _loss(self, schema: Schema) -> Loss:
        return Quantile(self.quantile)

    def _penalty(self, objective: Objective) -> Penalty:
        return L1(self.alpha) if self.alpha > 0 else NoPenalty()

    def _solver(self, objective: Objective) -> Solver:
        if self.constraints is not None:
            return self._solver_called("auto", objective)
        name = ALGORITHMS[self.solver]
        if name == "frisch_newton" and objective.columns > MOST_COLUMNS:
            name = "highs"
        return self._solver_called(name, objective)
