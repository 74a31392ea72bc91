"""Sparse regression of several targets that share their columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, RefusalError
from surefit.core.parameters import Count, Fraction, RandomState, Strength, Tolerance
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.losses.squared import Squared
from surefit.models.base import Learned
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sparse.elastic_net import Selection, SparseParameters, SparseRegression
from surefit.models.linear.sparse.multi_task_constraints import TaskLimits, TaskProof
from surefit.models.linear.squares.constrained_squares import ConstrainedSquares
from surefit.models.linear.squares.ridge_fit import LARGEST_GRAM
from surefit.models.linear.squares.separable_penalty import scale_of
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.group_l1 import GroupL1
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.linalg.column_order import is_tall
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import proved
from surefit.solvers.squares.problems import contiguous_rows
from surefit.solvers.tasks.columns import TaskColumns, TaskProblem, TaskSums
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
        if self.constraints is not None:
            return self._learn_within(source, engine, trace)
        problem = self._problem_of(source, engine)
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

    def _learn_within(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        penalty, start = self._penalty(), self._start(source.schema)
        if penalty.strength == 0:  # nothing couples the targets
            held = self._constrained().fit(source, engine, trace, start)
            coef, intercept, proof = held.coef, held.intercept, held.certificate
            rounds = int(held.iterations.max())
        else:
            problem = self._problem_of(source, engine)
            found = (
                self._limits(problem.columns)
                .hold(problem)
                .solve(
                    penalty,
                    start,
                    tolerance=SHARE_WITHIN * self.tol * scale_of(problem),
                    max_iter=self.max_iter,
                    trace=trace,
                )
            )
            coef, intercept, rounds = found.coef, found.intercept, max(found.epochs, 1)
            rows = self._rows_within(source, engine, coef.shape[1])
            proof = rows.found(coef, intercept, found.multipliers, self.tol)
        kept: Any = intercept if self.fit_intercept else 0.0
        fitted = SparseParameters(np.ascontiguousarray(coef.T), kept, proof.parts["gap"], rounds)
        return Learned(self._told(fitted), proof)

    def _constrained(self) -> ConstrainedSquares:
        who, none = type(self).__name__, NoPenalty()
        return ConstrainedSquares(
            who,
            self.constraints,
            lambda target, weight: none,
            self.fit_intercept,
            False,
            self.tol,
            self.max_iter,
        )

    def _rows_within(self, source: Source, engine: Engine, outputs: int) -> TaskProof:
        limits = self._limits(source.schema.width)
        return TaskProof(source, engine, self._penalty(), limits, self.fit_intercept, outputs)

    def _problem_of(self, source: Source, engine: Engine) -> TaskProblem:
        batch = in_memory(source)
        if batch is not None:
            return (
                self.of_moments(Moments.of(contiguous_rows(batch)))
                if is_tall(batch.X)
                else self.of_rows(batch)
            )
        if source.schema.width > LARGEST_GRAM:
            raise RefusalError(
                f"a table of {source.schema.width} columns that is not in memory would need their Gram "
                f"matrix, which is kept up to {LARGEST_GRAM} columns: drop columns, or load the table as one "
                "array."
            )
        return self.of_moments(engine.accumulate(Moments.of, source))

    def of_rows(self, batch: Batch) -> TaskProblem:
        """Return the problem of rows in memory."""
        return TaskColumns(batch.X, batch.y, batch.weight, fit_intercept=self.fit_intercept)

    def of_moments(self, moments: Moments) -> TaskProblem:
        """Return the problem of moments."""
        return TaskSums(moments, fit_intercept=self.fit_intercept)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        if self.constraints is not None and self._penalty().strength == 0:
            return self._constrained().certify(source, engine, self.coef_.T, self.intercept_)
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
