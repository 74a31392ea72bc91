"""Several targets that share their columns, with the strength of the penalty chosen by rows left out."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.parameters import Count, Fraction, RandomState, Tolerance
from surefit.core.trace import Trace
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sparse.cross_validation import Choice, Chosen, Splits, choose, errors_of_folds
from surefit.models.linear.sparse.elastic_net import Selection, SparseParameters
from surefit.models.linear.sparse.elastic_net_cv import (
    Alphas,
    ElasticNetCVParameters,
    Folds,
    Share,
    SparseCVParameters,
    SparseRegressionCV,
    with_ratio,
)
from surefit.models.linear.sparse.multi_task import TaskRegression
from surefit.models.linear.sparse.multi_task_constraints import path_within
from surefit.models.linear.sparse.regularisation_path import Path
from surefit.models.linear.squares.separable_penalty import within
from surefit.penalties.group_l1 import GroupL1


class TaskRegressionCV(TaskRegression, SparseRegressionCV, abstract=True):
    """What choosing the strength adds."""

    learns: ClassVar[type] = SparseCVParameters
    warm_start = False

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        if not source.schema.target_is_flat:
            self._found = self._choose(source, engine)
        try:
            return super()._learn(source, engine, trace)
        finally:
            self.__dict__.pop("_found", None)

    def _choose(self, source: Source, engine: Engine) -> Chosen:
        ratios = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        rows = np.array([self._strengths(source, engine, float(ratio)) for ratio in ratios])
        splits = Splits(type(self).__name__, self.cv, self.folds == "content")
        return choose(ratios, rows, errors_of_folds(self, source, engine, splits, ratios, rows), self.choice)

    def path_of(self, problem: Any, alphas: NDArray[np.float64], l1_ratio: float) -> Path:
        """Solve for strengths from large to small; every fold keeps the constraints."""
        if self.constraints is None:
            return super().path_of(problem, alphas, l1_ratio)
        held = self._limits(problem.columns).hold(problem)
        return path_within(held, alphas, l1_ratio, within(problem, self.tol), self.max_iter)

    def _penalty(self) -> Any:
        alpha, ratio = self._strength_chosen()
        return GroupL1(alpha, l1_ratio=ratio)

    def _told(self, fitted: SparseParameters) -> SparseParameters:
        return self._with_choice(fitted)


class MultiTaskLassoCV(TaskRegressionCV):
    """The multi-task lasso with the strength that predicts best for rows left out.

    The parameters are those of :class:`~surefit.LassoCV` and :class:`~surefit.MultiTaskLasso`.

    >>> import numpy as np
    >>> from surefit import MultiTaskLassoCV
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = MultiTaskLassoCV(cv=3).fit(X, np.column_stack([3 * X[:, 0], X[:, 0] + 0.1 * X[:, 1] ** 2]))
    >>> model.coef_.round(1)[:, 0], model.mse_path_.shape
    (array([3., 1.]), (100, 3))
    """

    l1_ratio = 1.0
    _single = "LassoCV"

    def __init__(
        self,
        *,
        eps: Share = 1e-3,
        alphas: Alphas = 100,
        fit_intercept: bool = True,
        max_iter: Count = 1000,
        tol: Tolerance = 1e-4,
        copy_X: bool = True,
        cv: Folds = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        selection: Selection = "cyclic",
        choice: Choice = "best",
        folds: Literal["order", "content"] = "order",
        constraints: Constraints = None,
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection
        self.choice = choice
        self.folds = folds
        self.constraints = constraints


class MultiTaskElasticNetCV(TaskRegressionCV):
    """The multi-task elastic net with the strength, and the ratio if several are given, chosen.

    The parameters are those of :class:`~surefit.ElasticNetCV` and :class:`~surefit.MultiTaskElasticNet`.

    >>> import numpy as np
    >>> from surefit import MultiTaskElasticNetCV
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = MultiTaskElasticNetCV(cv=3).fit(X, np.column_stack([3 * X[:, 0], X[:, 0] + X[:, 1] ** 2]))
    >>> model.l1_ratio_, model.coef_.shape
    (0.5, (2, 5))
    """

    learns: ClassVar[type] = ElasticNetCVParameters
    _single = "ElasticNetCV"
    l1_ratio_: float

    def __init__(
        self,
        *,
        l1_ratio: Fraction | np.ndarray | list | tuple = 0.5,
        eps: Share = 1e-3,
        alphas: Alphas = 100,
        fit_intercept: bool = True,
        max_iter: Count = 1000,
        tol: Tolerance = 1e-4,
        cv: Folds = None,
        copy_X: bool = True,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        selection: Selection = "cyclic",
        choice: Choice = "best",
        folds: Literal["order", "content"] = "order",
        constraints: Constraints = None,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection
        self.choice = choice
        self.folds = folds
        self.constraints = constraints

    def _ratio_chosen(self) -> float:
        return self.l1_ratio_

    def _with_ratio(self, parameters: SparseCVParameters, chosen: Chosen) -> SparseCVParameters:
        return with_ratio(parameters, chosen)
