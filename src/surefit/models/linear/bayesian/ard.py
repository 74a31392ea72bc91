"""Regression with a precision for every coefficient, so that columns that tell nothing drop out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, NonNegative, RandomState, Tolerance
from surefit.models.linear.bayesian.evidence import (
    EvidenceMaximum,
    HyperPriors,
    State,
    Sums,
    maximise_evidence,
    newton_step,
)
from surefit.models.linear.bayesian.evidence_regression import EvidenceRegression
from surefit.models.linear.bayesian.gaussian_posterior import inverse_root
from surefit.models.linear.common.constraints import Constraints


class _At:
    """The evidence at a precision of the noise and one of each coefficient; above the threshold, none."""

    def __init__(self, sums: Sums, priors: HyperPriors, threshold: float, alpha: float, lam: Vector) -> None:
        self.alpha, self.lam = float(alpha), np.asarray(lam, dtype=np.float64)
        self._priors, self._weight = priors, sums.weight
        self._used = used = self.lam < threshold
        gram, cross, each = sums.gram[np.ix_(used, used)], sums.cross[used], self.lam[used]
        prior = np.diag(each)
        root, log_determinant = inverse_root(self.alpha * gram + prior, prior)
        self.sigma = root @ root.T
        w = self.alpha * (root @ (root.T @ cross))
        left = cross - gram @ w
        w += root @ (root.T @ (self.alpha * left - each * w))
        self._w, self._each = w, each
        self._sse = max(sums.squares - float(w @ (2.0 * cross - gram @ w)), 0.0)
        self._gamma = 1.0 - each * np.diagonal(self.sigma)
        self.coef = np.zeros(len(self.lam))
        self.coef[used] = w
        fit = self.alpha * self._sse + float(each @ w**2)
        logs = np.log(each).sum() + self._weight * np.log(self.alpha) - log_determinant
        self.score = float(priors.log_density(self.alpha, each) + 0.5 * (logs - fit))

    def following(self) -> tuple[float, Vector]:
        """Return the precisions of another step; those above the threshold stay."""
        priors, lam = self._priors, self.lam.copy()
        lam[self._used] = (self._gamma + 2 * priors.lambda_1) / (self._w**2 + 2 * priors.lambda_2)
        free = self._weight - float(self._gamma.sum()) + 2 * priors.alpha_1
        return free / (self._sse + 2 * priors.alpha_2), lam

    def newton(self) -> tuple[float, Vector] | None:
        """Return the precisions of Newton's step in their logarithms."""
        priors, alpha, lam, sigma, w = self._priors, self.alpha, self._each, self.sigma, self._w
        pulled = lam * w
        bent = pulled * (sigma @ pulled)
        narrowed = 0.5 * lam * (np.diagonal(sigma) - (sigma**2) @ lam)
        p = len(w)
        gradient, hessian = np.empty(p + 1), np.empty((p + 1, p + 1))
        gradient[:p] = 0.5 * (self._gamma - lam * w**2) + priors.lambda_1 - priors.lambda_2 * lam
        free = self._weight - float(self._gamma.sum()) - alpha * self._sse
        gradient[p] = 0.5 * free + priors.alpha_1 - priors.alpha_2 * alpha
        hessian[:p, :p] = sigma * (
            0.5 * np.multiply.outer(lam, lam) * sigma + np.multiply.outer(pulled, pulled)
        )
        own = 0.5 * lam * (np.diagonal(sigma) + w**2) + priors.lambda_2 * lam
        hessian[np.arange(p), np.arange(p)] -= own
        hessian[:p, p] = hessian[p, :p] = narrowed - bent
        noise = float((bent - narrowed).sum()) - 0.5 * alpha * self._sse - priors.alpha_2 * alpha
        hessian[p, p] = noise
        step = newton_step(gradient, hessian)
        if step is None:
            return None
        moved = self.lam.copy()
        moved[self._used] = lam * np.exp(step[:p])
        return alpha * float(np.exp(step[p])), moved


class ARDRegression(EvidenceRegression):
    r"""Find :math:`w_j \sim N(0, 1/\lambda_j)`, with those precisions and the noise's most likely.

    threshold_lambda: a coefficient whose precision passes it is zero from then on. The other parameters are
    those of :class:`~surefit.BayesianRidge`. ``lambda_`` has a precision a column, and ``sigma_`` is the
    covariance of the coefficients that are left. ``scores_`` are the log-evidence of those, too. Under
    constraints a column that dropped out is a level at zero, unless its bounds do not allow that.

    >>> from surefit import ARDRegression
    >>> X = [[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0], [4.0, 0.0]]
    >>> model = ARDRegression().fit(X, [0.1, 1.0, 2.0, 2.9, 4.0])
    >>> model.coef_.round(2), model.certificate_.holds
    (array([0.97, 0.  ]), True)
    """

    def __init__(
        self,
        *,
        max_iter: Count = 300,
        tol: Tolerance = 1e-3,
        alpha_1: NonNegative = 1e-6,
        alpha_2: NonNegative = 1e-6,
        lambda_1: NonNegative = 1e-6,
        lambda_2: NonNegative = 1e-6,
        compute_score: bool = False,
        threshold_lambda: NonNegative = 1e4,
        fit_intercept: bool = True,
        copy_X: bool = True,
        verbose: bool = False,
        constraints: Constraints = None,
        random_state: RandomState = 0,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.compute_score = compute_score
        self.threshold_lambda = threshold_lambda
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose
        self.constraints = constraints
        self.random_state = random_state

    def _used(self, precision: Any) -> NDArray[np.bool_]:
        return np.asarray(precision) < self.threshold_lambda

    def _maximise_evidence(self, sums: Sums, learned: Callable[[State], Any]) -> EvidenceMaximum:
        at: Any = partial(_At, sums, self._hyper_priors(), self.threshold_lambda)
        start = 1.0 / (sums.variance + np.finfo(float).eps), np.ones(len(sums.cross))
        return maximise_evidence(
            at, *start, limit=self.max_iter, tol=self.tol, trace=self.trace_, learned=learned
        )

    def _covariance(self, sums: Sums, state: Any) -> Matrix:
        return state.sigma
