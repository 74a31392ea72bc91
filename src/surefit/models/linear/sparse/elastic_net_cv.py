"""Elastic net and lasso with the strength chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import ParameterError
from surefit.core.parameters import Count, Fraction, Has, Interval, RandomState, Tolerance
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sparse.cross_validation import Choice, Chosen, Splits, choose, errors_of_folds
from surefit.models.linear.sparse.elastic_net import Precompute, Selection, SparseParameters, SparseRegression
from surefit.models.linear.sparse.regularisation_path import (
    Path,
    largest_strength,
    lasso_path,
    path_of,
    strengths,
)
from surefit.models.linear.squares import separable_penalty as sparse_fit
from surefit.models.linear.squares.constrained_cv import errors_of_folds as constrained_errors
from surefit.models.linear.squares.folds import FoldSplitter
from surefit.models.linear.squares.separable_penalty import Fitted
from surefit.penalties.elastic_net import ElasticNet as ElasticNetPenalty
from surefit.solvers.squares.columns import SquaredColumns
from surefit.solvers.squares.problems import Problem
from surefit.solvers.squares.sums import SquaredSums
from surefit.stats.moments import Moments

Folds = Annotated[int, Interval(2, None)] | Annotated[object, Has("split", "__iter__")] | None
Alphas = Count | np.ndarray | list | tuple
Share = Annotated[float, Interval(0, 1, open_low=True)]


@dataclass(frozen=True, slots=True)
class SparseCVParameters(SparseParameters):
    """A sparse fit, the strength chosen, and the errors of all strengths for the rows left out.

    mse_path: (strengths, folds), or (ratios, strengths, folds). mse_error: the standard error of the mean
    over folds.
    """

    alpha: float
    alphas: NDArray[np.float64]
    mse_path: NDArray[np.float64]
    mse_error: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ElasticNetCVParameters(SparseCVParameters):
    """The same, and the ratio chosen."""

    l1_ratio: float


class SparseRegressionCV(SparseRegression, abstract=True):
    """What choosing the strength adds to a sparse regression."""

    accepts = Accepts(target="number", by_columns=True)
    learns: ClassVar[type] = SparseCVParameters
    warm_start = False

    eps: float
    alphas: Any
    cv: Any
    choice: Choice
    folds: str
    alpha_: float
    l1_ratio: Any

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        found = self._choose(source, engine)
        self._found = found
        try:
            return super()._learn(source, engine, trace)
        finally:
            del self._found

    def _choose(self, source: Source, engine: Engine) -> Chosen:
        ratios = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        rows = np.array([self._strengths(source, engine, float(ratio)) for ratio in ratios])
        who, by_content = type(self).__name__, self.folds == "content"
        if self.constraints is None:
            errors = errors_of_folds(self, source, engine, Splits(who, self.cv, by_content), ratios, rows)
        else:
            cut, problem = FoldSplitter(who, self.cv, by_content), self._constrained()
            paths = [
                [self._of_strength(float(alpha), float(ratio)) for alpha in row]
                for ratio, row in zip(ratios, rows, strict=True)
            ]
            errors = np.array([constrained_errors(problem, path, cut, source, engine) for path in paths])
        return choose(ratios, rows, errors, self.choice)

    def _of_strength(self, alpha: float, ratio: float) -> Callable[[int, float], Any]:
        penalty = ElasticNetPenalty(alpha, l1_ratio=ratio, positive=self.positive)
        return lambda target, weight: penalty

    def _strengths(self, source: Source, engine: Engine, ratio: float) -> NDArray[np.float64]:
        who = type(self).__name__
        if np.ndim(self.alphas) > 0:
            return strengths(who, self.alphas, 0.0, self.eps)
        if ratio == 0:
            raise ParameterError(
                f"{who}: Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a "
                "grid by providing your estimator with the appropriate `alphas=` argument."
            )
        slopes = self._problem_of(source, engine).slopes_at_zero
        return strengths(who, self.alphas, largest_strength(slopes, ratio, self.positive), self.eps)

    def _problem_of(self, source: Source, engine: Engine) -> Any:
        """Return the problem of all rows."""
        (problem,) = sparse_fit.problems(source, engine, self.fit_intercept)
        return problem

    def of_rows(self, batch: Batch) -> Any:
        """Return the problem of rows in memory."""
        y = np.asarray(batch.y, dtype=np.float64).ravel()
        return SquaredColumns(batch.X, y, batch.weight, fit_intercept=self.fit_intercept)

    def of_moments(self, moments: Moments) -> Any:
        """Return the problem of moments."""
        return SquaredSums.of(moments, fit_intercept=self.fit_intercept)

    def path_of(self, problem: Problem, alphas: NDArray[np.float64], l1_ratio: float) -> Path:
        """Solve for strengths from large to small."""
        return path_of(problem, alphas, l1_ratio, self.positive, self.tol, self.max_iter)

    def _penalty(self) -> Any:
        alpha, ratio = self._strength_chosen()
        return ElasticNetPenalty(alpha, l1_ratio=ratio, positive=self.positive)

    def _strength_chosen(self) -> tuple[float, float]:
        found = self.__dict__.get("_found")
        return (self.alpha_, self._ratio_chosen()) if found is None else (found.alpha, found.l1_ratio)

    def _ratio_chosen(self) -> float:
        return float(self.l1_ratio)

    def _learned(self, found: Fitted, schema: Schema) -> Learned:
        learned = super()._learned(found, schema)
        return Learned(self._with_choice(learned.parameters), learned.certificate, learned.evidence)

    def _with_choice(self, fit: SparseParameters) -> SparseCVParameters:
        """Add to a fit how its strength was chosen."""
        chosen = self._found
        single = len(chosen.alphas) == 1
        same = bool((chosen.alphas == chosen.alphas[0]).all())
        parameters = SparseCVParameters(
            fit.coef,
            fit.intercept,
            fit.dual_gap,
            fit.n_iter,
            chosen.alpha,
            chosen.alphas[0] if single or same else chosen.alphas,
            np.squeeze(chosen.errors, axis=0) if single else chosen.errors,
            np.squeeze(chosen.spread, axis=0) if single else chosen.spread,
        )
        return self._with_ratio(parameters, chosen)

    def _with_ratio(self, parameters: SparseCVParameters, chosen: Chosen) -> SparseCVParameters:
        return parameters


class LassoCV(SparseRegressionCV):
    """The lasso with the strength that predicts best for rows left out, along one warm path a fold.

    alphas: how many strengths, or which. eps: the weakest over the strongest. cv: folds, as in scikit-learn
    (5 by default). choice: "best", or "one_standard_error" for the strongest penalty whose error is within a
    standard error of the best. folds: "order" assigns them by row number; "content" by the values of the
    row, equal rows together, so that weight 2 is the row twice. The other parameters are those of
    :class:`~surefit.Lasso`, constraints included, which every fold keeps (then each is read once a step);
    n_jobs, verbose, precompute, copy_X, selection, random_state: without effect.

    The certificate is that of the lasso at ``alpha_``; ``mse_path_`` and ``mse_error_`` hold the errors of
    all strengths and the standard errors of their means.

    >>> import numpy as np
    >>> from surefit import LassoCV
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = LassoCV(cv=5).fit(X, 3 * X[:, 0] + 0.1 * X[:, 1] ** 2)
    >>> np.flatnonzero(model.coef_.round(1)).tolist(), model.mse_path_.shape
    ([0], (100, 5))
    """

    l1_ratio = 1.0
    path = staticmethod(lasso_path)
    candidate = Candidate("Lasso", 11, streams=True)

    def __init__(
        self,
        *,
        eps: Share = 1e-3,
        alphas: Alphas = 100,
        fit_intercept: bool = True,
        precompute: Precompute = "auto",
        max_iter: Count = 1000,
        tol: Tolerance = 1e-4,
        copy_X: bool = True,
        cv: Folds = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: RandomState = None,
        selection: Selection = "cyclic",
        choice: Choice = "best",
        folds: Literal["order", "content"] = "order",
        constraints: Constraints = None,
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.choice = choice
        self.folds = folds
        self.constraints = constraints


class ElasticNetCV(SparseRegressionCV):
    """The elastic net with the strength, and the ratio if several are given, chosen by rows left out.

    l1_ratio: one share of the absolute value, or several to choose from. The other parameters are those of
    :class:`~surefit.LassoCV`.

    >>> import numpy as np
    >>> from surefit import ElasticNetCV
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0], cv=3).fit(X, 3 * X[:, 0] + 0.1 * X[:, 1] ** 2)
    >>> model.l1_ratio_, model.mse_path_.shape
    (1.0, (2, 100, 3))
    """

    learns: ClassVar[type] = ElasticNetCVParameters
    l1_ratio_: float

    def __init__(
        self,
        *,
        l1_ratio: Fraction | np.ndarray | list | tuple = 0.5,
        eps: Share = 1e-3,
        alphas: Alphas = 100,
        fit_intercept: bool = True,
        precompute: Precompute = "auto",
        max_iter: Count = 1000,
        tol: Tolerance = 1e-4,
        cv: Folds = None,
        copy_X: bool = True,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
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
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.choice = choice
        self.folds = folds
        self.constraints = constraints

    def _ratio_chosen(self) -> float:
        return self.l1_ratio_

    def _with_ratio(self, parameters: SparseCVParameters, chosen: Chosen) -> SparseCVParameters:
        return with_ratio(parameters, chosen)


def with_ratio(parameters: SparseCVParameters, chosen: Chosen) -> ElasticNetCVParameters:
    """Add the ratio chosen."""
    held = {name: getattr(parameters, name) for name in SparseCVParameters.__dataclass_fields__}
    return ElasticNetCVParameters(**held, l1_ratio=chosen.l1_ratio)
