"""The exact path of the lasso with its strength chosen by an information criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.core.parameters import Count, NonNegative, Positive
from surefit.core.trace import Trace
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sparse.lars import EPS, Precompute
from surefit.models.linear.sparse.lars_cv import ChosenPath
from surefit.solvers.linalg.least_squares import from_gram, from_singular_gram
from surefit.solvers.squares.homotopy import LassoPath
from surefit.solvers.squares.problems import Problem
from surefit.solvers.squares.sums import SquaredSums


@dataclass(frozen=True, slots=True)
class LassoLarsICParameters:
    """The knot chosen, and the criterion at all knots."""

    coef: Vector
    intercept: float
    alpha: float
    alphas: Vector
    criterion: Vector
    noise_variance: float
    n_iter: int


class LassoLarsIC(ChosenPath):
    r"""The lasso at the knot of its path with the least information criterion.

    .. math:: W \log(2 \pi \sigma^2) + \frac{1}{\sigma^2} \sum_i s_i r_i^2 + c \, d

    where d, the number of coefficients that are not zero, estimates the degrees of freedom, and c is 2 for
    "aic" and log W for "bic". noise_variance: :math:`\sigma^2`; by default that of least squares on all
    columns, which needs more rows than columns. The other parameters are those of
    :class:`~surefit.LassoLars`. Under constraints d counts what is free to move: equal levels as one, and no
    coefficient at a bound.

    >>> import numpy as np
    >>> from surefit import LassoLarsIC
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = LassoLarsIC("bic").fit(X, 3 * X[:, 0] + 0.1 * X[:, 1] ** 2)
    >>> np.flatnonzero(model.coef_.round(1)).tolist(), int(np.argmin(model.criterion_))
    ([0], 1)
    """

    learns = LassoLarsICParameters

    def __init__(
        self,
        criterion: Literal["aic", "bic"] = "aic",
        *,
        fit_intercept: bool = True,
        verbose: bool | int = False,
        precompute: Precompute = "auto",
        max_iter: Count = 500,
        eps: NonNegative = EPS,
        copy_X: bool = True,
        positive: bool = False,
        noise_variance: Positive | None = None,
        constraints: Constraints = None,
    ) -> None:
        self.criterion = criterion
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.max_iter = max_iter
        self.eps = eps
        self.copy_X = copy_X
        self.positive = positive
        self.noise_variance = noise_variance
        self.constraints = constraints

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        (problem,), evidence = self._problems(source, engine)
        path = self._follow(problem, trace)
        weight = evidence["weight"]
        noise = self._noise(problem, weight) if self.noise_variance is None else float(self.noise_variance)
        squares = weight * _mean_squares(path, problem, source)
        freedom = (np.abs(path.coefs.toarray()) > EPS).sum(axis=0)
        if self.constraints is not None:
            freedom = self._within().freedom(path)
        cost = 2.0 if self.criterion == "aic" else float(np.log(weight))
        with np.errstate(divide="ignore", invalid="ignore"):
            criterion = weight * np.log(2 * np.pi * noise) + squares / noise + cost * freedom
        best = int(np.argmin(criterion))
        alpha = float(path.alphas[best])
        coef = path.at(alpha)
        intercept = problem.mean_y - float(path.centre @ coef) if self.fit_intercept else 0.0
        parameters = LassoLarsICParameters(coef, intercept, alpha, path.alphas, criterion, noise, path.steps)
        return Learned(parameters, self._prove(source, engine, coef, intercept, alpha), evidence)

    def _noise(self, problem: Problem, weight: float) -> float:
        """Estimate the variance of the noise by least squares on all columns."""
        free = weight - problem.columns - self.fit_intercept
        if free <= 0 or not isinstance(problem, SquaredSums):
            raise DataError(
                "You are using LassoLarsIC in the case where the number of samples is smaller than the "
                f"number of features, n_samples = {weight:g} against {problem.columns} columns, and the "
                "noise variance cannot be estimated: give noise_variance."
            )
        cross = problem.cross[:, None]
        solution = from_gram(problem.gram, cross) or from_singular_gram(problem.gram, cross)
        left = problem.energy - 2 * problem.cross @ solution.coef[:, 0]
        left += float(solution.coef[:, 0] @ problem.gram @ solution.coef[:, 0])
        # A fit without residuals has a variance that is rounding, and must not be 0.
        return max(float(left), np.finfo(float).eps * problem.energy, np.finfo(float).tiny) * weight / free


def _mean_squares(path: LassoPath, problem: Problem, source: Source) -> Vector:
    """Return the mean squared residual at each knot."""
    if isinstance(problem, SquaredSums):
        coefs = path.coefs.toarray()
        bend = np.einsum("jk,jk->k", coefs, problem.gram @ coefs)
        return np.maximum(problem.energy - 2 * problem.cross @ coefs + bend, 0.0)
    batch = in_memory(source)
    if batch is None:
        raise DataError("LassoLarsIC needs all rows in memory for this table: load it as one array.")
    fitted = np.asarray(
        (batch.X @ path.coefs).toarray() if hasattr(batch.X, "tocsr") else batch.X @ path.coefs
    )
    y = np.asarray(batch.y, dtype=np.float64).ravel()
    left = y[:, None] - fitted - (problem.mean_y - path.centre @ path.coefs)
    weight = np.ones(len(y)) if batch.weight is None else batch.weight
    return np.asarray(weight @ left**2 / weight.sum())
