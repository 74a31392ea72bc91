"""Linear regression with a conjugate prior: the whole posterior, exactly, from moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import lgamma, log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.parameters import NonNegative, Positive, RandomState
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.distributions.inverse_gamma import InverseGamma
from surefit.distributions.multivariate_normal import MultivariateNormal
from surefit.distributions.multivariate_student_t import MultivariateStudentT
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.linear.bayesian.constrained_mode import Quadratic
from surefit.models.linear.bayesian.evidence import moments_evidence
from surefit.models.linear.bayesian.gaussian_posterior import (
    Equations,
    Posterior,
    Prior,
    inverse_root,
    misfit,
    solve,
)
from surefit.models.linear.bayesian.prediction import BayesianPrediction, ends, plane_spread, raw_root
from surefit.models.linear.bayesian.truncated_normal import TruncatedNormal
from surefit.models.linear.bayesian.truncated_posterior import TruncatedPosterior, TruncatedPosteriorMixin
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.squares.ridge_fit import LARGEST_GRAM
from surefit.models.updating import OneStatistic
from surefit.solvers.squares.level_limits import LevelLimits
from surefit.stats.moments import Moments

MODE = "duality gap and slope of the mode, and misfit of the posterior before truncation"
TOLERANCE = 1e-9  # relative to lengths of columns and targets: rounding over many rows stays below


@dataclass(frozen=True, slots=True)
class BayesianLinearRegressionParameters:
    """The mean of the coefficients; R with RR' their covariance over the noise; the noise; the evidence.

    root: for w and the height of the plane at ``center``. noise_shape, noise_scale: of the inverse gamma
    posterior; None and the variance itself where that is known. misfit: squared residuals plus prior's.
    free_mean: under constraints, the mean of (w, h) before truncation, to which root, noise and misfit
    belong; coef is the mode. log_evidence_error: the Monte Carlo standard error of the evidence.
    """

    coef: Vector
    intercept: float
    center: Vector
    root: Matrix
    noise_shape: float | None
    noise_scale: float
    misfit: float
    log_evidence: float
    free_mean: Any = None
    log_evidence_error: float = 0.0


class BayesianLinearRegression(TruncatedPosteriorMixin, BayesianPrediction, RegressorMixin, OneStatistic):
    r"""Find :math:`p(w, b | X, y)` for normal noise and a prior :math:`w \sim N(m_0, \Lambda^{-1})`.

    prior_precision: Lambda: a number, one per column, or a matrix. prior_mean: m0: a number, or one per
    column. noise_variance: that of the noise, if known. Where it is None, it has an inverse gamma prior
    (noise_shape, noise_scale), and the prior of w is in its units: N(m0, noise / Lambda).
    fit_intercept: whether there is a b; its prior is flat, or normal about 0 with intercept_precision.

    One pass gathers moments, so ``partial_fit``, ``merge`` and ``forget`` end in the posterior of one fit.
    ``coef_`` is the posterior mean and mode: that of ridge with alpha = noise_variance * prior_precision.

    constraints: as in :class:`~surefit.LinearModel`. The prior is truncated to them, and so is the posterior:
    ``coef_`` is its mode, and ``posterior_mean_``, spreads, intervals and draws are those of the distribution
    within, by Gibbs sampling that starts at random_state. ``log_evidence_error_`` is its Monte Carlo error.

    >>> from surefit import BayesianLinearRegression
    >>> model = BayesianLinearRegression(1.0, noise_variance=1.0, fit_intercept=False)
    >>> mean, std = model.fit([[1.0], [2.0]], [1.0, 2.0]).predict([[3.0]], return_std=True)
    >>> mean.round(6), (std**2).round(6), model.posterior_.variance.round(6)
    (array([2.5]), array([2.5]), array([0.166667]))
    """

    accepts = Accepts(target="number")
    learns = BayesianLinearRegressionParameters

    center_: Vector
    root_: Matrix
    noise_shape_: float | None
    noise_scale_: float
    misfit_: float
    log_evidence_: float
    log_evidence_error_: float

    def __init__(
        self,
        prior_precision: Positive | np.ndarray | list | tuple = 1.0,
        *,
        prior_mean: float | np.ndarray | list | tuple = 0.0,
        noise_variance: Positive | None = None,
        noise_shape: Positive = 1.0,
        noise_scale: Positive = 1.0,
        fit_intercept: bool = True,
        intercept_precision: NonNegative = 0.0,
        constraints: Constraints = None,
        random_state: RandomState = 0,
    ) -> None:
        self.prior_precision = prior_precision
        self.prior_mean = prior_mean
        self.noise_variance = noise_variance
        self.noise_shape = noise_shape
        self.noise_scale = noise_scale
        self.fit_intercept = fit_intercept
        self.intercept_precision = intercept_precision
        self.constraints = constraints
        self.random_state = random_state

    def _of(self, schema: Schema) -> Callable[[Batch], Moments]:
        if schema.width > LARGEST_GRAM:
            raise RefusalError(
                f"BayesianLinearRegression holds the covariance of {schema.width} coefficients, which works "
                f"up to {LARGEST_GRAM} columns: drop some, or take Ridge for the mean alone."
            )
        return Moments.of

    def _prior(self, columns: int) -> Prior:
        """The prior in units of the noise."""
        unit = 1.0 if self.noise_variance is None else float(self.noise_variance)
        mean = _entries("prior_mean", self.prior_mean, columns)
        if mean.ndim != 1:
            raise ParameterError(
                "BayesianLinearRegression: prior_mean must be a number, or one per column, not a matrix."
            )
        precision = _entries("prior_precision", self.prior_precision, columns)
        matrix = np.diag(precision) if precision.ndim == 1 else precision
        if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0) or _least(matrix) <= 0:
            raise ParameterError(
                "BayesianLinearRegression: prior_precision must be positive: a number, one per column, or a "
                "symmetric positive definite matrix."
            )
        intercept = float(self.intercept_precision) * unit if self.fit_intercept else None
        return Prior(mean, matrix * unit, intercept)

    def _finish(self, moments: Moments, schema: Schema) -> Learned:
        prior = self._prior(schema.width)
        found = solve(moments, prior)
        center = moments.mean_x if self.fit_intercept else np.zeros(schema.width)
        parameters = BayesianLinearRegressionParameters(
            found.coef,
            float(found.height - center @ found.coef) if self.fit_intercept else 0.0,
            center,
            found.root,
            *self._noise_posterior(moments.weight, prior, found.squares),
            found.squares,
            self._log_evidence(moments.weight, prior, found),
        )
        evidence = moments_evidence(moments, self.fit_intercept)
        if self.constraints is not None:
            within, proof = self._within(moments, prior, found, parameters)
            return Learned(within, proof, evidence)
        return Learned(parameters, self._certificate(misfit(moments, prior, found)), evidence)

    def _within(
        self,
        moments: Moments,
        prior: Prior,
        found: Posterior,
        free: BayesianLinearRegressionParameters,
    ) -> tuple[BayesianLinearRegressionParameters, Certificate]:
        """Truncate the posterior to the constraints: the mode, its proof, and the evidence."""
        p, equations = len(found.coef), Equations.of(moments, prior)
        limits = self._limits(p)
        coef = _quadratic(equations, prior, found).minimise_within(limits)
        intercept = 0.0
        if self.fit_intercept:
            intercept = equations.height_for(coef - prior.mean, prior) - float(free.center @ coef)
        mean = np.append(found.coef, found.height) if self.fit_intercept else found.coef
        change, error = self._log_share(limits, prior, mean, free)
        parameters = replace(
            free,
            coef=coef,
            intercept=intercept,
            free_mean=mean,
            log_evidence=free.log_evidence + change,
            log_evidence_error=error,
        )
        return parameters, self._mode_certificate(moments, prior, found, coef, intercept)

    def _log_share(self, limits: LevelLimits, prior: Prior, mean: Vector, free: Any) -> tuple[float, float]:
        """Return log P(set | rows) - log P(set) before truncation, and its standard error."""
        noise = (None, free.noise_scale) if free.noise_shape is None else (self.noise_shape, self.noise_scale)
        root, _ = inverse_root(prior.precision, prior.precision)
        before = TruncatedNormal(prior.mean, root, limits, *noise).log_probability()
        after = TruncatedNormal(mean, free.root, limits, free.noise_shape, free.noise_scale).log_probability()
        return after[0] - before[0], float(np.hypot(after[1], before[1]))

    def _mode_certificate(
        self, moments: Moments, prior: Prior, found: Posterior, coef: Vector, intercept: float
    ) -> Certificate:
        """Prove the mode within the constraints, and the posterior before truncation."""
        equations = Equations.of(moments, prior)
        unit = 1.0 / moments.weight if moments.weight > 0 else 1.0
        proof = _quadratic(equations, prior, found).proof(self._limits(len(coef)), coef, unit)
        drift = 0.0
        if self.fit_intercept:
            best = equations.height_for(coef - prior.mean, prior)
            reach = abs(best) + float(np.abs(equations.centre) @ np.abs(coef)) + np.sqrt(equations.squares)
            drift = abs(intercept + float(equations.centre @ coef) - best) / (reach or 1.0)
        value = max(proof.gap, proof.stationarity, drift, misfit(moments, prior, found))
        return Certificate("optimal", MODE, value, TOLERANCE, proof.parts, proof.witness)

    def _noise_posterior(self, weight: float, prior: Prior, squares: float) -> tuple[float | None, float]:
        if self.noise_variance is not None:
            return None, float(self.noise_variance)
        free = weight - float(prior.flat)
        return self.noise_shape + free / 2, self.noise_scale + squares / 2

    def _log_evidence(self, weight: float, prior: Prior, found: Posterior) -> float:
        """The log-density of the targets; of a flat intercept, integrated over all its values."""
        free = weight - float(prior.flat)
        shape, scale = self._noise_posterior(weight, prior, found.squares)
        if shape is None:
            return found.log_ratio - 0.5 * (free * log(2 * pi * scale) + found.squares / scale)
        gammas = lgamma(shape) - lgamma(self.noise_shape)
        powers = self.noise_shape * log(self.noise_scale) - shape * log(scale)
        return found.log_ratio - 0.5 * free * log(2 * pi) + gammas + powers

    @staticmethod
    def _certificate(value: float) -> Certificate:
        return Certificate("exact", "relative misfit of mean, covariance and noise", value, TOLERANCE)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Put the posterior into its equations, set up anew from the rows; nothing is solved."""
        moments = engine.accumulate(self._of(source.schema), source)
        prior = self._prior(source.schema.width)
        center = moments.mean_x if self.fit_intercept else np.zeros(source.schema.width)
        p, truncated = len(self.coef_), self.constraints is not None
        coef = self.free_mean_[:p] if truncated else self.coef_
        height = self.free_mean_[-1] if truncated else self.intercept_ + float(center @ self.coef_)
        log_ratio = 0.5 * prior.log_determinant() + float(np.linalg.slogdet(self.root_)[1])
        found = Posterior(coef, height, self.root_, self.misfit_, log_ratio)
        shape, scale = self._noise_posterior(moments.weight, prior, self.misfit_)
        evidence = self._log_evidence(moments.weight, prior, found)
        if truncated:
            free = BayesianLinearRegressionParameters(coef, 0.0, center, self.root_, shape, scale, 0.0, 0.0)
            evidence += self._log_share(self._limits(p), prior, self.free_mean_, free)[0]
        known = np.array([self.noise_scale_, self.log_evidence_, self.noise_shape_ or 0.0])
        again = np.array([scale, evidence, shape or 0.0])
        change = np.abs(known - again)
        change[1] = max(change[1] - self.log_evidence_error_, 0.0)  # which draws leave open
        change /= 1.0 + np.abs(again)
        spread = np.sqrt(np.diagonal(moments.gram) / moments.weight) + np.finfo(float).eps * np.abs(center)
        moved = np.abs(self.center_ - center) / np.where(spread > 0, spread, 1.0)
        off = max(float(change.max()), 1e-3 * float(moved.max(initial=0.0)))
        if not truncated:
            return self._certificate(max(misfit(moments, prior, found), off))
        proof = self._mode_certificate(moments, prior, found, self.coef_, self.intercept_)
        return replace(proof, value=max(proof.value, off))

    def _spreads(self, X: Any) -> Vector:
        return self._noise() * plane_spread(X, self.center_, self.root_)

    def _noise(self) -> float:
        return self.noise_scale_ if self.noise_shape_ is None else self.noise_scale_ / self.noise_shape_

    def _freedom(self) -> float:
        return np.inf if self.noise_shape_ is None else 2.0 * self.noise_shape_

    def _mean(self) -> Vector:
        return np.append(self.coef_, self.intercept_) if self.fit_intercept else self.coef_

    def _truncate(self, limits: LevelLimits) -> TruncatedPosterior:
        normal = TruncatedNormal(self.free_mean_, self.root_, limits, self.noise_shape_, self.noise_scale_)
        return TruncatedPosterior(
            normal, self.center_, seed=self.random_state, untruncated=self._untruncated()
        )

    def _untruncated(self) -> MultivariateNormal | MultivariateStudentT:
        """The distribution without constraints."""
        root, mean = raw_root(self.root_, self.center_), self._mean()
        if self.free_mean_ is not None:
            mean = self.free_mean_.copy()
            if self.fit_intercept:
                mean[-1] -= self.center_ @ mean[:-1]
        covariance = self._noise() * (root @ root.T)
        if self.noise_shape_ is None:
            return MultivariateNormal(mean, covariance)
        return MultivariateStudentT(self._freedom(), mean, covariance)

    @property
    def posterior_(self) -> MultivariateNormal | MultivariateStudentT | TruncatedPosterior:
        """The distribution of the coefficients, and of the intercept behind them."""
        check_is_fitted(self)
        return self._truncated() or self._untruncated()

    @property
    def noise_posterior_(self) -> InverseGamma | None:
        """The distribution of the noise variance; None where it is known."""
        check_is_fitted(self)
        if self.free_mean_ is not None and self.noise_shape_ is not None:
            raise RefusalError(
                "under constraints the posterior of the noise variance is not inverse gamma: use the noise "
                "variances drawn by sample_posterior."
            )
        return None if self.noise_shape_ is None else InverseGamma(self.noise_shape_, self.noise_scale_)

    def credible_interval(self, level: float = 0.95) -> Matrix:
        """Lower and upper bound for each coefficient, and for the intercept behind them."""
        check_is_fitted(self)
        truncated = self._truncated()
        if truncated is not None:
            return truncated.quantiles(level)
        root, freedom = raw_root(self.root_, self.center_), self._freedom()
        error = np.sqrt(self._noise() * np.einsum("ij,ij->i", root, root))
        each = (
            stats.t(freedom, loc=self._mean(), scale=error)
            if np.isfinite(freedom)
            else stats.norm(loc=self._mean(), scale=error)
        )
        return ends(each, level)

    def sample_posterior(self, n_samples: int = 1, random_state: Any = None) -> tuple[Matrix, Vector]:
        """Draw coefficients (n_samples, p + 1), the intercept last, and the noise variance of each draw."""
        check_is_fitted(self)
        truncated = self._truncated()
        if truncated is not None:
            return truncated.with_noise(n_samples, np.random.default_rng(random_state))
        coef, noise = self._draws(n_samples, np.random.default_rng(random_state))
        if self.fit_intercept:
            coef[:, -1] -= coef[:, :-1] @ self.center_
        return coef, noise

    def _draws(self, n: int, rng: np.random.Generator) -> tuple[Matrix, Vector]:
        """Draw (w, h), and the noise."""
        shape = self.noise_shape_
        noise = self.noise_scale_ / (np.ones(n) if shape is None else rng.gamma(shape, size=n))
        mean = np.append(self.coef_, self.intercept_ + self.center_ @ self.coef_)
        mean = mean if self.fit_intercept else self.coef_
        steps = rng.normal(size=(n, len(mean))) @ self.root_.T
        return mean + steps * np.sqrt(noise)[:, None], noise

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = None, *, noise: bool = True) -> Matrix:
        """Draw regression functions from the posterior, (rows, n_samples), with or without noise."""
        rng = np.random.default_rng(random_state)
        rows = self._answer(lambda X: X.toarray() if sparse.issparse(X) else X, X)
        truncated = self._truncated()
        if truncated is not None:
            drawn = truncated.drawn(n_samples, rng)
            found, variance = truncated.planes(rows, drawn.coef, drawn.height), drawn.noise
        else:
            coef, variance = self._draws(n_samples, rng)
            moved = rows - self.center_
            found = moved @ coef[:, :-1].T + coef[:, -1] if self.fit_intercept else moved @ coef.T
        return found + rng.normal(size=found.shape) * np.sqrt(variance) if noise else found


def _quadratic(equations: Equations, prior: Prior, found: Posterior) -> Quadratic:
    """The squares that the mode makes least, halved, as a function of the coefficients."""
    scale = 0.5 * (equations.squares + equations.weight * equations.target**2 + found.squares)
    return Quadratic(found.coef, equations.of_coefficients(prior), found.root[: len(found.coef)], scale)


def _entries(name: str, given: Any, columns: int) -> NDArray[np.float64]:
    """A number for all columns, one a column, or a matrix, as an array."""
    values = np.asarray(given, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(columns, float(values))
    if values.shape not in ((columns,), (columns, columns)) or not np.isfinite(values).all():
        raise ParameterError(
            f"BayesianLinearRegression: {name} has the shape {values.shape} for {columns} columns; give a "
            "finite number, or one per column."
        )
    return values


def _least(matrix: Matrix) -> float:
    """The smallest eigenvalue, with columns of length one."""
    size = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    if not (size > 0).all():
        return 0.0
    return float(np.linalg.eigvalsh(matrix / size[:, None] / size)[0])
