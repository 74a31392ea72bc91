"""Least squares with a squared penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.parameters import Count, RandomState, Strength, Tolerance
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.linear.common.base import LinearPrediction
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.squares import ridge_fit
from surefit.models.linear.squares.constrained_squares import (
    NOTHING_KEPT,
    ConstrainedSquares,
    squared_penalty,
)
from surefit.models.linear.squares.ridge_fit import LARGEST_GRAM, Fitted, Problem, Solver, strengths
from surefit.models.linear.squares.ridge_gap import recomputed
from surefit.models.updating import OneStatistic
from surefit.stats.moments import Moments

LEAST_TOLERANCE = 1e-12  # of a gap: below it, rounding is all that is left


@dataclass(frozen=True, slots=True)
class RidgeParameters:
    """Coefficients and intercept, the trace of the hat matrix, and how the answer was found."""

    coef: NDArray[np.float64]
    intercept: Any
    effective_dof: Any
    n_iter: int
    solver: str


class RidgeBase(OneStatistic, abstract=True):
    """What ridge for numbers and for classes share: the fit of a source of numbers."""

    alpha: Any
    fit_intercept: bool
    max_iter: int | None
    tol: float
    solver: Solver
    positive: bool
    constraints: Any = None
    coef_: NDArray[np.float64]
    intercept_: Any
    effective_dof_: Any
    n_iter_: int
    solver_: str

    def _problem(self, targets: int) -> Problem:
        who = type(self).__name__
        if self.solver == "lbfgs" and not self.positive:
            raise ParameterError(
                f"{who}: solver='lbfgs' needs positive=True: set it, or take another solver."
            )
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ParameterError(
                f"{who}: solver={self.solver!r} does not support positive=True: take 'auto' or 'lbfgs'."
            )
        return Problem(
            strengths(who, self.alpha, targets),
            self.fit_intercept,
            self.positive,
            max(self.tol**2, LEAST_TOLERANCE),
            self.solver,
            self.max_iter or ridge_fit.ITERATIONS,
        )

    def _of(self, schema: Schema) -> Callable[[Batch], Moments]:
        if self.constraints is not None:
            raise RefusalError(f"{type(self).__name__}: {NOTHING_KEPT}; fit all rows at once.")
        if schema.width > LARGEST_GRAM:
            raise RefusalError(
                f"{type(self).__name__} keeps no statistic of {schema.width} columns, as it would hold their "
                f"Gram matrix: partial_fit, merge and forget work up to {LARGEST_GRAM}; fit all rows at once."
            )
        return Moments.of

    def _why_nothing_kept(self) -> str:
        if self.constraints is not None:
            return NOTHING_KEPT
        if self.n_features_in_ > LARGEST_GRAM:
            return (
                f"the Gram matrix is kept up to {LARGEST_GRAM} columns, and there are {self.n_features_in_}"
            )
        if self.solver_ in ("conjugate gradients", *ridge_fit.ITERATIVE):
            chosen = "solver='auto' chose" if self.solver == "auto" else f"solver={self.solver!r} runs"
            return (
                f"{chosen} conjugate gradients, which never form the Gram matrix; solver='cholesky' does, "
                "and keeps it"
            )
        return "it had fewer rows than columns, and was solved from the rows"

    def _iteration_limit(self) -> int:
        iterative = self.solver in ridge_fit.ITERATIVE or (self.solver == "auto" and not self.positive)
        return (self.max_iter or ridge_fit.ITERATIONS) if iterative else 0

    def _learn_numbers(self, source: Source, engine: Engine, trace: Trace, schema: Schema) -> Learned:
        """Learn from a source of numbers; ``schema`` is that of the data as they came."""
        self._schema = schema
        self.__dict__.pop("statistic_", None)
        problem = self._problem(source.schema.targets)
        if self.constraints is not None:
            return self._learned(fit_within(self._constrained(problem), source, engine, trace), schema)
        found = ridge_fit.fit(source, engine, trace, problem, lambda now: self._learned(now, schema))
        if found.moments is not None:
            self.statistic_ = found.moments
        return self._learned(found, schema)

    def _constrained(self, problem: Problem) -> ConstrainedSquares:
        if self.solver != "auto":
            raise ParameterError(
                f"{type(self).__name__}: solver={self.solver!r} does not support constraints: take 'auto'."
            )
        return constrained_ridge(self, problem)

    def _finish(self, moments: Moments, schema: Schema) -> Learned:
        return self._learned(ridge_fit.by_moments(moments, self._problem(moments.targets)), schema)

    def _learned(self, found: Fitted, schema: Schema) -> Learned:
        flat = schema.target_is_flat and schema.classes is None
        dof = found.dof if found.dof is None or np.ndim(self.alpha) else float(found.dof[0])
        solver = found.method if self.solver == "auto" else self.solver
        parameters = RidgeParameters(
            *ridge_shaped(found, flat, self.fit_intercept), dof, found.iterations, solver
        )
        return Learned(parameters, found.certificate, found.evidence)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        problem = self._problem(source.schema.targets)
        return certify_ridge(self, source, engine, problem)


def constrained_ridge(model: Any, problem: Problem) -> ConstrainedSquares:
    """Return the same problem within the constraints of a model."""
    return ConstrainedSquares(
        type(model).__name__,
        model.constraints,
        lambda target, weight: squared_penalty(problem.strength[target] / weight),
        problem.fit_intercept,
        problem.positive,
        problem.tolerance,
        getattr(model, "max_iter", None) or 1000,
    )


def fit_within(problem: ConstrainedSquares, source: Source, engine: Engine, trace: Trace) -> Fitted:
    """Solve a problem within constraints, told as any other ridge."""
    held = problem.fit(source, engine, trace)
    rounds = int(held.iterations.max())
    return Fitted(held.coef, held.intercept, None, held.solver, held.certificate, rounds, None, held.evidence)


def ridge_shaped(found: Fitted, flat: bool, fit_intercept: bool) -> tuple[NDArray[np.float64], Any]:
    """Coefficients and intercept in scikit-learn's shapes: (p,) for one target, else (k, p)."""
    coef = found.coef[:, 0] if found.coef.shape[1] == 1 else found.coef.T
    intercept: Any = 0.0
    if fit_intercept:
        intercept = found.intercept[0] if flat else found.intercept
    return np.ascontiguousarray(coef), intercept


def certify_ridge(model: Any, source: Source, engine: Engine, problem: Problem) -> Certificate:
    """Recompute the certificate of a fitted ridge from a source of numbers."""
    coef = np.atleast_2d(model.coef_).T
    if getattr(model, "constraints", None) is not None:
        return model._constrained(problem).certify(source, engine, coef, model.intercept_)
    return recomputed(
        source,
        engine,
        coef,
        np.array(np.broadcast_to(model.intercept_, coef.shape[1]), dtype=np.float64),
        problem.strength,
        fit_intercept=problem.fit_intercept,
        positive=problem.positive,
        tolerance=problem.tolerance,
        parts={name: value for name, value in model.certificate_.parts.items() if name == "condition number"},
    )


class NoInference:
    """A fit without a table of standard errors, which says why: most often for its penalty."""

    no_errors: ClassVar[str] = (
        "its penalty shrinks the coefficients towards zero, so the classical standard errors, tests and "
        "intervals do not hold; use LinearRegression"
    )

    def summary(self, *args: Any, **options: Any) -> NoReturn:
        """Refuse: classical errors do not hold for these coefficients."""
        raise RefusalError(f"{type(self).__name__} has no summary: {self.no_errors}, or use the bootstrap.")


class Ridge(NoInference, LinearPrediction, RegressorMixin, RidgeBase):
    r"""Minimise :math:`\sum_i s_i (y_i - w'x_i - b)^2 + \alpha \|w\|^2`; b is never penalised.

    alpha: the penalty, one number or one a target. fit_intercept: whether b is free, or 0. positive: whether
    w must not be negative. solver: "auto" chooses; see the guide for what each name runs. max_iter, tol: for
    conjugate gradients; the certificate holds the relative duality gap to tol squared. constraints: as in
    :class:`~surefit.LinearModel`. copy_X, random_state: without effect (X is never changed, nothing is
    drawn).

    ``solver_`` is the solver asked for, or the algorithm that "auto" chose. ``effective_dof_`` is the trace
    of the hat matrix, intercept included; None after conjugate gradients and under constraints.

    >>> from surefit import Ridge
    >>> model = Ridge(alpha=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 5.0])
    >>> model.coef_.round(6), round(float(model.intercept_), 6)
    (array([1.]), 1.0)
    >>> round(model.effective_dof_, 6), model.certificate_.holds
    (1.833333, True)
    """

    accepts = Accepts(target="number", several_targets=True, sums_first=True)
    learns = RidgeParameters

    def __init__(
        self,
        alpha: Strength | np.ndarray | list | tuple = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: Count | None = None,
        tol: Tolerance = 1e-4,
        solver: Solver = "auto",
        positive: bool = False,
        random_state: RandomState = None,
        constraints: Constraints = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.constraints = constraints

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        return self._learn_numbers(source, engine, trace, source.schema)
