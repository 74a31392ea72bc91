"""Linear support vector regression."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.parameters import Count, NonNegative, Positive, RandomState, Tolerance, WholeNumber
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.losses.epsilon_insensitive import EpsilonInsensitive
from surefit.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from surefit.models.linear.common.base import LinearPrediction
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.robust.quantile import QuantileParameters
from surefit.models.linear.svm.base import LinearSVM
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution, Solver


class LinearSVR(LinearPrediction, RegressorMixin, LinearSVM):
    r"""Minimise :math:`\tfrac12 |w|^2 + C \sum_i s_i (|y_i - w'x_i| - \epsilon)_+`.

    epsilon: residuals up to it cost nothing. loss: "epsilon_insensitive" as above, or
    "squared_epsilon_insensitive". The intercept is the coefficient of a column of intercept_scaling, and
    penalised like the others. tol: a hundredth of it is the duality gap allowed, relative to the loss of a
    constant. dual, verbose, random_state: without effect; the solver is chosen by the shape of the table. The
    squared loss streams; otherwise rows are held in memory. warm_start: begin at the fit before. constraints:
    as in :class:`~surefit.LinearModel`; the intercept is free of them.

    >>> from surefit import LinearSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 4.0]
    >>> LinearSVR(epsilon=0.5, C=10.0, fit_intercept=False).fit(X, y).coef_.round(4)
    array([0.875])
    """

    accepts = Accepts(target="number")
    learns = QuantileParameters

    n_iter_: int

    def __init__(
        self,
        *,
        epsilon: NonNegative = 0.0,
        tol: Tolerance = 1e-4,
        C: Positive = 1.0,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: Positive = 1.0,
        dual: Literal["auto"] | bool = "auto",
        verbose: WholeNumber | bool = 0,
        random_state: RandomState = None,
        max_iter: Count = 1000,
        warm_start: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.constraints = constraints

    def _kinked(self) -> bool:
        return self.loss == "epsilon_insensitive"

    def _loss(self, schema: Schema) -> Loss:
        return (EpsilonInsensitive if self._kinked() else SquaredEpsilonInsensitive)(self.epsilon)

    def _rows_of(self, source: Source, engine: Engine) -> Source:
        return self._with_intercept(source)

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> QuantileParameters:
        coef, intercept = self._split(solution.x)
        kept: Any = intercept if self.fit_intercept else 0.0
        return QuantileParameters(coef[0], kept, max(solution.iterations, 1))

    def _packed(self) -> NDArray[np.float64]:
        return self._joined(self.coef_[None, :], self.intercept_, True)
