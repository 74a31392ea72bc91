"""Ridge whose penalty, and the noise, are those that make the targets most likely."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.parameters import Count, NonNegative, Positive, RandomState
from surefit.models.candidate import Candidate
from surefit.models.linear.constraints import Constraints
from surefit.models.linear.evidence import Climb, HyperPriors, State, Sums, climb, newton_step
from surefit.models.linear.evidence_regression import EvidenceRegression
from surefit.models.linear.gram_axes import Axes

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


class _At:
    """The evidence at a precision of the noise and one of all coefficients."""

    def __init__(self, axes: Axes, priors: HyperPriors, alpha: float, lam: float) -> None:
        self.alpha, self.lam = float(alpha), float(lam)
        self._priors = priors
        self._coef: Vector | None = None
        self._axes, self._weight = axes, axes.sums.weight
        d, k = axes.values, self.lam / self.alpha
        self._sigma = 1.0 / (self.lam + self.alpha * d)
        self._w = axes.pulls / (d + k)
        self._squares = float(self._w @ self._w)
        lost = np.divide(axes.pulls**2, d, out=np.zeros_like(d), where=d > 0) * (k / (d + k)) ** 2
        self._sse = axes.rest + float(lost.sum())
        self._gamma = float((d / (d + k)).sum())
        fit = self.alpha * self._sse + self.lam * self._squares
        logs = len(d) * np.log(self.lam) + self._weight * np.log(self.alpha / (2 * np.pi))
        self.score = float(
            priors.log_density(self.alpha, self.lam) + 0.5 * (logs - fit + np.log(self._sigma).sum())
        )

    @property
    def coef(self) -> Vector:
        """The mean of the coefficients."""
        if self._coef is None:
            self._coef = self._axes.coef(self.lam / self.alpha)
        return self._coef

    def following(self) -> tuple[float, float]:
        """Return the precisions of another step."""
        priors = self._priors
        alpha = (self._weight - self._gamma + 2 * priors.alpha_1) / (self._sse + 2 * priors.alpha_2)
        return alpha, (self._gamma + 2 * priors.lambda_1) / (self._squares + 2 * priors.lambda_2)

    def newton(self) -> tuple[float, float] | None:
        """Return the precisions of Newton's step in their logarithms."""
        priors, alpha, lam, sigma, w = self._priors, self.alpha, self.lam, self._sigma, self._w
        gradient = np.array(
            [
                0.5 * (self._weight - self._gamma - alpha * self._sse)
                + priors.alpha_1
                - priors.alpha_2 * alpha,
                0.5 * (self._gamma - lam * self._squares) + priors.lambda_1 - priors.lambda_2 * lam,
            ]
        )
        bent = lam**2 * float((w**2 * sigma).sum())
        narrowed = 0.5 * lam * float((sigma - lam * sigma**2).sum())
        both = narrowed - bent
        noise = bent - narrowed - 0.5 * alpha * self._sse - priors.alpha_2 * alpha
        own = bent + 0.5 * lam**2 * float((sigma**2).sum())
        own -= 0.5 * lam * (float(sigma.sum()) + self._squares) + priors.lambda_2 * lam
        step = newton_step(gradient, np.array([[noise, both], [both, own]]))
        return None if step is None else (alpha * np.exp(step[0]), lam * np.exp(step[1]))


class BayesianRidge(EvidenceRegression):
    r"""Find :math:`w \sim N(0, \lambda^{-1} I)` with the :math:`\lambda` and noise precision most likely.

    alpha_1, alpha_2, lambda_1, lambda_2: shape and rate of the gamma priors on the precisions of noise and
    coefficients. alpha_init, lambda_init: where to start. compute_score: keep the log-evidence of every step.
    max_iter, tol: the fit stops when another step would change no precision; its certificate holds the change
    of their logarithms to tol squared. fit_intercept: whether there is an intercept, outside of the prior.
    copy_X, verbose: without effect (X is never changed, nothing is printed).

    The iteration runs on moments, so rows can be added, merged and given back. ``sigma_`` is the covariance
    of the coefficients.

    constraints: as in :class:`~surefit.LinearModel`. The posterior is cut to them: ``coef_`` is its mode, and
    ``posterior_mean_``, spreads, intervals and draws are those within, by Gibbs sampling that starts at
    random_state. The precisions, ``sigma_`` and ``scores_`` are those of the model without constraints: the
    evidence within has no closed form whose top could be proved.

    >>> from surefit import BayesianRidge
    >>> model = BayesianRidge().fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.1, 1.9, 3.0])
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> mean.round(3), model.coef_.round(2), model.certificate_.holds
    (array([1.5]), array([0.98]), True)
    """

    candidate = Candidate("Bayesian ridge regression", 12, streams=True)

    def __init__(
        self,
        *,
        max_iter: Count = 300,
        tol: Positive = 1e-3,
        alpha_1: NonNegative = 1e-6,
        alpha_2: NonNegative = 1e-6,
        lambda_1: NonNegative = 1e-6,
        lambda_2: NonNegative = 1e-6,
        alpha_init: NonNegative | None = None,
        lambda_init: NonNegative | None = None,
        compute_score: bool = False,
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
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose
        self.constraints = constraints
        self.random_state = random_state

    def _climb(self, sums: Sums, learned: Callable[[State], Any]) -> Climb:
        least = np.finfo(float).eps
        alpha = 1.0 / (sums.variance + least) if self.alpha_init is None else max(self.alpha_init, least)
        lam = 1.0 if self.lambda_init is None else max(self.lambda_init, least)
        at = partial(_At, Axes.of(sums), self._hyper_priors())
        return climb(at, alpha, lam, limit=self.max_iter, tol=self.tol, trace=self.trace_, learned=learned)

    def _covariance(self, sums: Sums, state: Any) -> Matrix:
        return Axes.of(sums).inverse(state.alpha, state.lam)
