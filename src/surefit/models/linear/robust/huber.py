"""Huber regression: squares for most rows, absolute values for the few that are far off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.certificate import Certificate
from surefit.core.parameters import Count, Interval, Positive, Strength, Tolerance
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.losses.huber import Huber
from surefit.losses.huber_scale import FreeScaleHuber
from surefit.models.candidate import Candidate
from surefit.models.linear.common.base import LinearPrediction
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.common.mean_loss import MeanLossModel, plain_intercept
from surefit.models.linear.squares.ridge import NoInference
from surefit.penalties.base import Penalty
from surefit.penalties.l2 import L2
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.likelihood.scaled_newton import ScaledNewton, set_scale
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution, Solver
from surefit.stats.products import scores_of

GAP = 0.1  # of tol: scikit-learn's bounds a gradient, ours the objective


@dataclass(frozen=True, slots=True)
class HuberParameters:
    """Coefficients and intercept, the scale of the residuals, which rows are beyond it, and iterations."""

    coef: NDArray[np.float64]
    intercept: Any
    scale: float
    outliers: NDArray[np.bool_]
    n_iter: int


class HuberRegressor(NoInference, LinearPrediction, RegressorMixin, MeanLossModel):
    r"""Minimise :math:`\sum_i s_i \left( \sigma + \sigma H(\tfrac{y_i - w'x_i - b}\sigma) \right) + \alpha
    |w|^2`, where :math:`H(r) = r^2` up to epsilon and :math:`2 \epsilon |r| - \epsilon^2` beyond.

    epsilon: from how many scales on a row is an outlier. alpha: the strength. scale: None learns
    :math:`\sigma` together with the coefficients; a number fixes it, so that a row counts by its square up to
    epsilon times the scale. tol: a tenth of it is the duality gap allowed, relative to the loss of a
    constant. constraints: as in :class:`~surefit.LinearModel`. warm_start: begin at the fit before. Tables
    larger than memory are read once a step.

    >>> from surefit import HuberRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.1, 1.9, 3.0, 30.0]
    >>> model = HuberRegressor().fit(X, y)
    >>> model.coef_.round(1), model.outliers_.tolist(), model.certificate_.holds
    (array([1.1]), [False, False, False, False, True], True)
    """

    accepts = Accepts(target="number")
    learns = HuberParameters
    candidate = Candidate("Huber regression", 13, most_rows=200_000)

    no_errors = (
        "its loss is not a likelihood, so it has no likelihood-based standard errors; use LinearRegression "
        "with covariance='HC3'"
    )

    scale_: float
    outliers_: NDArray[np.bool_]
    n_iter_: int

    def __init__(
        self,
        *,
        epsilon: Annotated[float, Interval(1, None)] = 1.35,
        max_iter: Count = 100,
        alpha: Strength = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: Tolerance = 1e-5,
        scale: Positive | None = None,
        constraints: Constraints = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.scale = scale
        self.constraints = constraints

    def _loss(self, schema: Schema) -> Loss:
        if self.scale is not None:
            return Huber(self.epsilon * self.scale)
        return FreeScaleHuber(self.epsilon, scale=1.0)

    def _penalty(self, objective: Objective) -> Penalty:
        if self.alpha == 0:
            return NoPenalty()
        # Half of the objective above, over the weight; a fixed scale multiplies it as well.
        return L2(self.alpha * (1.0 if self.scale is None else self.scale) / objective.targets.weight)

    def _solver(self, objective: Objective) -> Solver:
        if self.scale is None:
            return ScaledNewton(tolerance=GAP * self.tol, max_iter=self.max_iter)
        return self._solver_called("auto", objective, tolerance=GAP * self.tol)

    def _start(self, objective: Objective) -> NDArray[np.float64] | None:
        start = super()._start(objective)
        if start is not None and self.scale is None:
            set_scale(objective, self.scale_)
        return start

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> HuberParameters:
        coef, intercept = objective.split(solution.x)
        scale = float(solution.found["scale"]) if self.scale is None else float(self.scale)
        outliers = self._beyond(objective, solution.x, scale)
        return HuberParameters(
            coef.copy(), plain_intercept(intercept), scale, outliers, max(solution.iterations, 1)
        )

    def _beyond(self, objective: Objective, packed: NDArray[np.float64], scale: float) -> NDArray[np.bool_]:
        """Return which rows are outliers."""
        far = partial(_outliers, *objective.split(packed), self.epsilon * scale)
        return np.concatenate(list(objective.engine.map(far, objective.source)))

    def _fitted_objective(self, source: Source, engine: Engine) -> Objective:
        objective = super()._fitted_objective(source, engine)
        if self.scale is None:
            set_scale(objective, self.scale_)
        return objective

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        objective = self._fitted_objective(source, engine)
        slopes = self.certificate_.witness.get("slopes")
        again = objective.certificate(self._packed(), self.certificate_.tolerance, slopes)
        outliers = self._beyond(objective, self._packed(), self.scale_)
        same = len(outliers) == len(self.outliers_) and bool((outliers == self.outliers_).all())
        return again if same else replace(again, value=np.inf)


def _outliers(coef: Any, intercept: Any, beyond: float, batch: Batch) -> NDArray[np.bool_]:
    z = scores_of(batch, coef, intercept)
    return np.asarray(np.abs(np.asarray(batch.y) - z) > beyond)
