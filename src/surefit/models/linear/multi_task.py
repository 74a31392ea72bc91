"""Sparse regression of several targets that share their columns."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, RefusalError
from surefit.core.parameters import Count, Fraction, RandomState, Strength, Tolerance
from surefit.core.trace import Trace
from surefit.data.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.losses.squared import Squared
from surefit.models.base import Learned
from surefit.models.linear.constrained_tasks import TaskLimits, TaskProof, path_within
from surefit.models.linear.constraints import Constraints
from surefit.models.linear.elastic_net import Selection, SparseParameters, SparseRegression
from surefit.models.linear.elastic_net_cv import (
    Alphas,
    ElasticNetCVParameters,
    Folds,
    Share,
    SparseCVParameters,
    SparseRegressionCV,
    with_ratio,
)
from surefit.models.linear.ridge_fit import LARGEST_GRAM
from surefit.models.linear.sparse_cv import Choice, Chosen, Splits, choose, errors_of_folds
from surefit.models.linear.sparse_fit import by_rows, scale_of, tall, within
from surefit.models.linear.sparse_path import Path
from surefit.penalties.group_l1 import GroupL1
from surefit.penalties.table import CoordinateTable
from surefit.solvers.gap import proved
from surefit.solvers.objective import Objective
from surefit.solvers.task_columns import TaskColumns, TaskProblem, TaskSums
from surefit.stats.moments import Moments

SHARE_WITHIN = 0.01  # of the gap allowed: from a Gram matrix the last digits cost next to nothing


class TaskRegression(SparseRegression, abstract=True):
    """What the multi-task models share: a row of coefficients, one a target, is zero as a whole."""

    accepts = Accepts(target="number", several_targets=True, by_columns=True)
    positive = False
    _single: ClassVar[str] = "ElasticNet"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags

    def _penalty(self) -> Any:
        return GroupL1(self.alpha, l1_ratio=self.l1_ratio)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        schema = source.schema
        if schema.target_is_flat:
            raise DataError(f"For mono-task outputs, use {self._single}: y has one dimension, not two.")
        problem = self._problem_of(source, engine)
        if self.constraints is not None:
            return self._learn_within(problem, source, engine, trace)
        penalty, scale = self._penalty(), scale_of(problem)
        start = self._start(schema)
        levels = np.ones(problem.columns) * penalty.strength
        free = np.full(problem.columns, np.inf)
        table = CoordinateTable(levels * penalty.l1_ratio, levels * (1 - penalty.l1_ratio), -free, free)
        found = problem.solve(table, start, tolerance=self.tol * scale, max_iter=self.max_iter, trace=trace)
        proof = proved(found.primal, found.gap, scale, self.tol)
        coef = np.ascontiguousarray(found.coef.T)
        intercept: Any = found.intercept if self.fit_intercept else 0.0
        if not proof.holds:  # sums do not tell what rounding alone made of a slope, the rows do
            again = self._proof(source, engine, coef, intercept)
            proof = again if again.value < proof.value else proof
        fitted = SparseParameters(coef, intercept, proof.parts["gap"], found.epochs)
        return Learned(self._told(fitted), proof)

    def _told(self, fitted: SparseParameters) -> SparseParameters:
        return fitted

    def _limits(self, columns: int) -> TaskLimits:
        return TaskLimits.of(type(self).__name__, self.constraints, columns)

    def _learn_within(self, problem: TaskProblem, source: Source, engine: Engine, trace: Trace) -> Learned:
        found = (
            self._limits(problem.columns)
            .hold(problem)
            .solve(
                self._penalty(),
                self._start(source.schema),
                tolerance=SHARE_WITHIN * self.tol * scale_of(problem),
                max_iter=self.max_iter,
                trace=trace,
            )
        )
        intercept: Any = found.intercept if self.fit_intercept else 0.0
        rows = self._rows_within(source, engine, found.coef.shape[1])
        proof = rows.found(found.coef, intercept, found.multipliers, self.tol)
        coef = np.ascontiguousarray(found.coef.T)
        fitted = SparseParameters(coef, intercept, proof.parts["gap"], max(found.epochs, 1))
        return Learned(self._told(fitted), proof)

    def _rows_within(self, source: Source, engine: Engine, outputs: int) -> TaskProof:
        limits = self._limits(source.schema.width)
        return TaskProof(source, engine, self._penalty(), limits, self.fit_intercept, outputs)

    def _problem_of(self, source: Source, engine: Engine) -> TaskProblem:
        batch = in_memory(source)
        if batch is not None:
            return self.of_moments(Moments.of(by_rows(batch))) if tall(batch) else self.of_rows(batch)
        if source.schema.width > LARGEST_GRAM:
            raise RefusalError(
                f"a table of {source.schema.width} columns that is not in memory would need their square, "
                f"which is kept up to {LARGEST_GRAM}: leave columns out, or load the table as one array."
            )
        return self.of_moments(engine.accumulate(Moments.of, source))

    def of_rows(self, batch: Batch) -> TaskProblem:
        """Return the problem of rows in memory."""
        return TaskColumns(batch.X, batch.y, batch.weight, fit_intercept=self.fit_intercept)

    def of_moments(self, moments: Moments) -> TaskProblem:
        """Return the problem of moments."""
        return TaskSums(moments, fit_intercept=self.fit_intercept)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        if self.constraints is not None:
            rows, witness = self._rows_within(source, engine, len(self.coef_)), self.certificate_.witness
            return rows.stored(self.coef_.T, self.intercept_, witness, self.tol)
        return self._proof(source, engine, self.coef_, self.intercept_)

    def _proof(
        self, source: Source, engine: Engine, coef: NDArray[np.float64], intercept: Any
    ) -> Certificate:
        objective = Objective(
            source, engine, Squared(), self._penalty(), fit_intercept=self.fit_intercept, outputs=len(coef)
        )
        packed = coef.T
        if self.fit_intercept:
            packed = np.vstack([packed, np.broadcast_to(intercept, (1, len(coef)))])
        return objective.certificate(packed, self.tol)


class MultiTaskElasticNet(TaskRegression):
    r"""Minimise :math:`\frac{1}{2W} \sum_i s_i \|y_i - Vx_i - b\|^2 + \alpha \left( \rho \|V\|_{21} +
    \tfrac{1 - \rho}{2} \|V\|_F^2 \right)`, where :math:`\|V\|_{21}` adds up the lengths of V's columns.

    A column of X is in use for all targets or for none. The parameters are those of
    :class:`~surefit.ElasticNet`; selection, copy_X, random_state: without effect. constraints: the same for
    each target, whose coefficients then keep them while columns stay in use for all or for none.

    >>> import numpy as np
    >>> from surefit import MultiTaskElasticNet
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> model = MultiTaskElasticNet(alpha=0.1).fit(X, np.column_stack([X[:, 0], 2 * X[:, 0]]))
    >>> model.coef_.round(3)
    array([[0.899, 0.   ],
           [1.798, 0.   ]])
    """

    def __init__(
        self,
        alpha: Strength = 1.0,
        *,
        l1_ratio: Fraction = 0.5,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: Count = 1000,
        tol: Tolerance = 1e-4,
        warm_start: bool = False,
        random_state: RandomState = None,
        selection: Selection = "cyclic",
        constraints: Constraints = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
        self.constraints = constraints


class MultiTaskLasso(TaskRegression):
    r"""Minimise :math:`\frac{1}{2W} \sum_i s_i \|y_i - Vx_i - b\|^2 + \alpha \|V\|_{21}`.

    :class:`~surefit.MultiTaskElasticNet` without its squared penalty.

    >>> import numpy as np
    >>> from surefit import MultiTaskLasso
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> model = MultiTaskLasso(alpha=0.1).fit(X, np.column_stack([X[:, 0], 2 * X[:, 0]]))
    >>> model.coef_.round(3), model.certificate_.holds
    (array([[0.933, 0.   ],
           [1.866, 0.   ]]), True)
    """

    l1_ratio = 1.0
    _single = "Lasso"

    def __init__(
        self,
        alpha: Strength = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: Count = 1000,
        tol: Tolerance = 1e-4,
        warm_start: bool = False,
        random_state: RandomState = None,
        selection: Selection = "cyclic",
        constraints: Constraints = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
        self.constraints = constraints


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
