"""The exact path of the lasso with its strength chosen by rows left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError
from surefit.core.parameters import Count, NonNegative
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sparse import lars_fit
from surefit.models.linear.sparse.cross_validation import Splits, folds_of
from surefit.models.linear.sparse.elastic_net_cv import Folds
from surefit.models.linear.sparse.lars import EPS, PathRegression, Precompute
from surefit.models.linear.sparse.regularisation_path import Path
from surefit.solvers.squares.columns import SquaredColumns
from surefit.solvers.squares.homotopy import LassoPath, lasso_homotopy
from surefit.solvers.squares.problems import Problem, contiguous_rows
from surefit.solvers.squares.sums import SquaredSums
from surefit.stats.moments import Moments


@dataclass(frozen=True, slots=True)
class LassoLarsCVParameters:
    """A path to the strength chosen, and the squared errors (strengths, folds) of the rows left out."""

    coef: Vector
    intercept: float
    alpha: float
    alphas: Vector
    active: list[int]
    coef_path: NDArray[np.float64]
    cv_alphas: Vector
    mse_path: NDArray[np.float64]
    n_iter: int


class ChosenPath(PathRegression, abstract=True):
    """A path whose strength the data choose."""

    accepts = Accepts(target="number")
    fit_path = True
    max_iter: int
    alpha_: float

    def _steps(self) -> int:
        return self.max_iter

    def _prove(
        self, source: Source, engine: Engine, coef: Vector, intercept: float, alpha: float
    ) -> Certificate:
        if self.constraints is not None:
            at = coef[:, None], np.array([intercept])
            return self._within().proof(source, engine, *at, [alpha])
        return lars_fit.proof(
            source,
            engine,
            coef[:, None],
            np.array([intercept]),
            alpha,
            fit_intercept=self.fit_intercept,
            positive=self.positive,
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        return self._prove(source, engine, self.coef_, self.intercept_, self.alpha_)


class LassoLarsCV(ChosenPath):
    """The exact path of the lasso, to the strength that predicts best for rows left out.

    The errors are those at all knots of all folds' paths, at most ``max_n_alphas`` of them. cv: folds, as in
    scikit-learn (5 by default). folds: "order" assigns them by row number; "content" by the values of the
    row, equal rows together, so that weight 2 is the row twice. The other parameters are those of
    :class:`~surefit.LassoLars`, whose constraints every fold keeps; n_jobs: without effect.

    >>> import numpy as np
    >>> from surefit import LassoLarsCV
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = LassoLarsCV(cv=5).fit(X, 3 * X[:, 0] + 0.1 * X[:, 1] ** 2)
    >>> np.flatnonzero(model.coef_.round(1)).tolist(), model.certificate_.holds
    ([0], True)
    """

    learns = LassoLarsCVParameters

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        verbose: bool | int = False,
        max_iter: Count = 500,
        precompute: Precompute = "auto",
        cv: Folds = None,
        max_n_alphas: Count = 1000,
        n_jobs: int | None = None,
        eps: NonNegative = EPS,
        copy_X: bool = True,
        positive: bool = False,
        folds: Literal["order", "content"] = "order",
        constraints: Constraints = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.max_iter = max_iter
        self.precompute = precompute
        self.cv = cv
        self.max_n_alphas = max_n_alphas
        self.n_jobs = n_jobs
        self.eps = eps
        self.copy_X = copy_X
        self.positive = positive
        self.folds = folds
        self.constraints = constraints

    def _end(self) -> float:
        found = self.__dict__.get("_chosen")
        return float(self.alpha_ if found is None else found)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        alphas, errors = self._errors(source, engine)
        self._chosen = float(alphas[int(np.argmin(errors.mean(axis=1)))])
        try:
            found = super()._learn(source, engine, trace)
        finally:
            chosen = self.__dict__.pop("_chosen")
        path = found.parameters
        parameters = LassoLarsCVParameters(
            path.coef,
            path.intercept,
            chosen,
            path.alphas,
            path.active,
            path.coef_path,
            alphas,
            errors,
            path.n_iter,
        )
        return Learned(parameters, found.certificate, found.evidence)

    def _errors(self, source: Source, engine: Engine) -> tuple[Vector, NDArray[np.float64]]:
        """Return strengths, from weak to strong, and the mean squared error of each in each fold."""
        splits = Splits(type(self).__name__, self.cv, self.folds == "content")
        folds = [
            (self._walk(problem), problem, held) for problem, held in folds_of(self, source, engine, splits)
        ]
        knots = np.unique(np.concatenate([path.alphas for path, _, _ in folds]))
        knots = knots[:: max(1, int(len(knots) / self.max_n_alphas))]
        errors = np.column_stack([held.errors(_at(path, problem, knots)) for path, problem, held in folds])
        errors = errors[:, np.isfinite(errors).all(axis=0)]
        if errors.shape[1] == 0:
            raise DataError("no fold has a test row of positive weight: use fewer folds.")
        return knots, errors

    def _walk(self, problem: Any) -> LassoPath:
        if self.constraints is not None:
            return self._within().follow(problem, max_iter=self.max_iter)
        return lasso_homotopy(problem, max_iter=self.max_iter, positive=self.positive)

    def of_rows(self, batch: Batch) -> Problem:
        """Return the problem of rows in memory."""
        if self.constraints is not None:
            return self._within().of(Moments.of(contiguous_rows(batch)))
        y = np.asarray(batch.y, dtype=np.float64).ravel()
        return SquaredColumns(batch.X, y, batch.weight, fit_intercept=self.fit_intercept)

    def of_moments(self, moments: Moments) -> Problem:
        """Return the problem of moments."""
        return SquaredSums.of(moments, fit_intercept=self.fit_intercept)

    def path_of(self, problem: Problem, alphas: Vector, l1_ratio: float) -> Path:
        """Return the coefficients at some strengths."""
        return _at(self._walk(problem), problem, alphas)


def _at(path: LassoPath, problem: Problem, alphas: Vector) -> Path:
    """Read a path at some strengths; one that ended early stays where it ended."""
    coefs = np.array([path.at(max(float(alpha), float(path.alphas[-1]))) for alpha in alphas])
    intercepts = problem.mean_y - coefs @ path.centre
    return Path(coefs, intercepts, np.zeros(len(alphas)), np.zeros(len(alphas), dtype=np.intp))
