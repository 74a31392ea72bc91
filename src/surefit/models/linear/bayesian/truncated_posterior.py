"""A posterior truncated to constraints: its mean and spread by draws, and what it predicts.

Draws predict a mixture of normal distributions for each row. A model with constraints
makes the truncated distribution when it is asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError, RefusalError
from surefit.models.linear.bayesian.gibbs_sampling import Draws, draw
from surefit.models.linear.bayesian.truncated_normal import TruncatedNormal
from surefit.models.linear.common.constraints import limits_of
from surefit.solvers.squares.level_limits import LevelLimits


@dataclass(frozen=True)
class Predictive:
    """A mixture of normal distributions for each row: one a draw, with its plane (n, draws) and its scale.

    Scales of zero, those of the plane itself, leave the draws alone: a distribution in steps, without pdf.

    >>> both = Predictive(np.array([[-1.0, 1.0]]), np.ones(2))
    >>> both.mean(), both.var(), both.cdf(0.0), both.ppf(0.5).round(9) + 0.0
    (array([0.]), array([2.]), array([0.5]), array([0.]))
    """

    planes: Matrix
    scale: Vector

    def mean(self) -> Vector:
        """Return the mean for each row."""
        return self.planes.mean(axis=1)

    def var(self) -> Vector:
        """Return the variance for each row."""
        return self.planes.var(axis=1) + float((self.scale**2).mean())

    def std(self) -> Vector:
        """Return the standard deviation for each row."""
        return np.sqrt(self.var())

    def pdf(self, x: Any) -> Vector:
        """Return the density at x, one number or one a row."""
        if not self.scale.any():
            raise RefusalError(
                "the posterior of the mean is known by draws and has no density: use of='new', or cdf and "
                "ppf."
            )
        z = (_column(x) - self.planes) / self.scale
        return np.asarray((np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * self.scale)).mean(axis=1))

    def logpdf(self, x: Any) -> Vector:
        """Return the logarithm of the density at x."""
        if not self.scale.any():
            return self.pdf(x)
        z = (_column(x) - self.planes) / self.scale
        logs = -0.5 * z * z - np.log(self.scale)
        most = logs.max(axis=1)
        return np.asarray(most + np.log(np.exp(logs - most[:, None]).mean(axis=1)) - 0.5 * np.log(2 * np.pi))

    def cdf(self, x: Any) -> Vector:
        """Return the probability of at most x."""
        if not self.scale.any():
            return np.asarray((self.planes <= _column(x)).mean(axis=1))
        return np.asarray(ndtr((_column(x) - self.planes) / self.scale).mean(axis=1))

    def sf(self, x: Any) -> Vector:
        """Return the probability of more than x."""
        if not self.scale.any():
            return np.asarray((self.planes > _column(x)).mean(axis=1))
        return np.asarray(ndtr((self.planes - _column(x)) / self.scale).mean(axis=1))

    def ppf(self, q: float) -> Vector:
        """Return the quantile of each row."""
        return self._quantile(float(q), self.cdf, 1.0)

    def isf(self, q: float) -> Vector:
        """Return the number that each row exceeds with a probability."""
        return self._quantile(float(q), self.sf, -1.0)

    def rvs(self, random_state: Any = None) -> Vector:
        """Draw once for each row."""
        rng = np.random.default_rng(random_state)
        rows = np.arange(len(self.planes))
        which = rng.integers(0, self.planes.shape[1], len(rows))
        return np.asarray(self.planes[rows, which] + self.scale[which] * rng.normal(size=len(rows)))

    def _quantile(self, q: float, probability: Any, turn: float) -> Vector:
        if not 0 <= q <= 1:
            raise ParameterError(f"q={q!r} is not allowed; it must be a probability, a number in [0, 1].")
        if not self.scale.any():
            return np.quantile(self.planes, q if turn > 0 else 1.0 - q, axis=1)
        if q in (0.0, 1.0):
            return np.full(len(self.planes), np.inf if (q == 1.0) == (turn > 0) else -np.inf)
        # No quantile of a mixture is beyond those of all its parts.
        each = turn * ndtri(q) * self.scale
        low, high = (self.planes + each).min(axis=1), (self.planes + each).max(axis=1)
        x = np.clip(self.mean() + turn * ndtri(q) * self.std(), low, high)
        for _ in range(200):
            off = turn * (probability(x) - q)
            low, high = np.where(off < 0, x, low), np.where(off < 0, high, x)
            step = x - off / np.maximum(self.pdf(x), np.finfo(float).tiny)
            inside = (step > low) & (step < high)
            after = np.where(inside, step, 0.5 * (low + high))
            done = np.abs(after - x) <= 4 * np.finfo(float).eps * np.maximum(np.abs(x), np.abs(high - low))
            x = np.where(off == 0, x, after)
            if (done | (off == 0) | (low == high)).all():
                break
        return x


def _column(x: Any) -> Matrix:
    return np.atleast_1d(np.asarray(x, dtype=np.float64))[:, None]


DRAWS = 4096  # so that the Monte Carlo error of a mean is a 64th of its deviation
ROWS = 1024  # whose planes are laid out at once


@dataclass(frozen=True)
class TruncatedPosterior:
    """Coefficients with a normal distribution truncated to a set, and a plane through (center, height).

    used: which columns have a coefficient that is not zero for good. height: that of the plane at the centre,
    where it is no part of the distribution; None for a model whose plane has its height drawn, or none.
    seed: where the draws of mean, variance and predictions start. untruncated: that before truncation.

    >>> from surefit.solvers.squares.level_limits import LevelLimits
    >>> limits = LevelLimits(np.zeros(1), np.full(1, np.inf), [])
    >>> half = TruncatedPosterior(TruncatedNormal(np.zeros(1), np.eye(1), limits), np.zeros(1))
    >>> half.mean.round(1), half.error.round(2), bool((half.sample(100) >= 0).all())
    (array([0.8]), array([0.01]), True)
    """

    normal: TruncatedNormal
    center: Vector
    used: NDArray[np.bool_] | None = None
    height: float | None = None
    seed: Any = 0
    untruncated: Any = None

    @property
    def _has_intercept(self) -> bool:
        return self.height is not None or len(self.normal.mean) > len(self.normal.limits.lower)

    @cached_property
    def draws(self) -> Draws:
        """The draws behind mean, variance and predictions."""
        return self._drawn(np.random.default_rng(self.seed), DRAWS, None)

    def _drawn(self, rng: np.random.Generator, n: int, sweeps: int | None) -> Draws:
        found = draw(self.normal, rng, n, sweeps)
        coef, error = found.coef, found.error
        if self.used is not None:
            coef, error = np.zeros((n, len(self.used))), np.zeros(len(self.used))
            coef[:, self.used], error[self.used] = found.coef, found.error
        height = found.height if self.height is None else np.full(n, self.height)
        return Draws(coef, height, found.noise, error, found.variance_ratio, found.sweeps)

    def sample(self, n: int, random_state: Any = None) -> Matrix:
        """Draw coefficients, (n, p + 1), the intercept last where there is one."""
        return self.with_noise(n, np.random.default_rng(random_state))[0]

    def with_noise(self, n: int, rng: np.random.Generator) -> tuple[Matrix, Vector]:
        """Draw coefficients, and the noise variance of each draw."""
        found = self.drawn(n, rng)
        return self._raw(found), found.noise

    def drawn(self, n: int, rng: np.random.Generator) -> Draws:
        """Draw coefficients and heights, by as many sweeps as the first draws took."""
        if n < 1:
            raise ParameterError(f"n_samples={n!r} is not allowed; it must be at least 1.")
        return self._drawn(rng, n, self.draws.sweeps)

    def _raw(self, found: Draws) -> Matrix:
        if not self._has_intercept:
            return found.coef
        return np.column_stack([found.coef, found.height - found.coef @ self.center])

    @cached_property
    def mean(self) -> Vector:
        """The mean of the coefficients, and of the intercept behind them."""
        return self._raw(self.draws).mean(axis=0)

    @cached_property
    def covariance(self) -> Matrix:
        """Their covariance."""
        return np.atleast_2d(np.cov(self._raw(self.draws).T))

    @property
    def variance(self) -> Vector:
        """The diagonal of the covariance."""
        return np.diagonal(self.covariance)

    @property
    def error(self) -> Vector:
        """The Monte Carlo standard error of the mean of each coefficient, without the intercept."""
        return self.draws.error

    @property
    def noise(self) -> float:
        """The mean of the noise variance."""
        return float(self.draws.noise.mean())

    def quantiles(self, level: float) -> Matrix:
        """Return the interval in the middle that holds a share ``level``, for each coefficient."""
        tail = (1.0 - _checked(level)) / 2
        return np.quantile(self._raw(self.draws), [tail, 1.0 - tail], axis=0).T

    def log_density(self, x: Any) -> Any:
        """Return that of coefficients, with the intercept behind them; -inf outside the set."""
        if self.untruncated is None:
            raise RefusalError(
                "this posterior has a fixed intercept, so coefficients and intercept have no joint density: "
                "use sample_posterior."
            )
        points = np.atleast_2d(np.asarray(x, dtype=np.float64))
        limits = self.normal.limits
        inside = np.array([limits.holds(point[: len(limits.lower)]) for point in points])
        found = np.where(inside, self.untruncated.log_density(points) - self._log_probability, -np.inf)
        return found if np.ndim(x) > 1 else found[0]

    @cached_property
    def _log_probability(self) -> float:
        return self.normal.log_probability()[0]

    def planes(self, X: Any, coef: Matrix, height: Vector) -> Matrix:
        """Return the plane of each draw at each row, (rows, draws)."""
        moved = X @ coef.T - coef @ self.center if sparse.issparse(X) else (X - self.center) @ coef.T
        return np.asarray(moved) + height

    def spreads(self, X: Any) -> Vector:
        """Return the variance of the plane at each row."""
        return self._by_rows(X, lambda planes: planes.var(axis=1, ddof=1))

    def at(self, X: Any, of: str) -> Predictive:
        """Return the distribution of a "new" observation at each row, or of the "mean" there."""
        found = self.draws
        return self.predictive(self.planes(X, found.coef, found.height), of)

    def intervals(self, X: Any, level: float, of: str) -> Matrix:
        """Return lower and upper bound for each row, (n, 2)."""
        tail = (1.0 - _checked(level)) / 2

        def ends(planes: Matrix) -> Matrix:
            distribution = self.predictive(planes, of)
            return np.column_stack([distribution.ppf(tail), distribution.isf(tail)])

        return self._by_rows(X, ends)

    def predictive(self, planes: Matrix, of: str) -> Predictive:
        """Return the distribution of some planes (rows, draws), with the noise of new rows or without."""
        noise = self.draws.noise
        return Predictive(planes, np.sqrt(noise) if of == "new" else np.zeros_like(noise))

    def _by_rows(self, X: Any, finish: Any) -> Any:
        found, n = self.draws, X.shape[0]
        X = X.tocsr() if sparse.issparse(X) else X
        blocks = [X[start : start + ROWS] for start in range(0, max(n, 1), ROWS)]
        return np.concatenate([finish(self.planes(each, found.coef, found.height)) for each in blocks])


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r} is not allowed; it must be a number in (0, 1).")
    return float(level)


class TruncatedPosteriorMixin:
    """A model with a parameter ``constraints``, whose fit under them leaves ``free_mean_`` behind.

    A family writes ``_truncate``. Nothing is drawn before somebody asks; draws are kept from then on.
    """

    constraints: Any
    random_state: Any
    coef_: Vector
    intercept_: float
    free_mean_: Any
    fit_intercept: bool

    @abstractmethod
    def _truncate(self, limits: LevelLimits) -> TruncatedPosterior:
        """Return the posterior within limits."""

    def _limits(self, columns: int) -> LevelLimits:
        return limits_of(type(self).__name__, self.constraints, columns)

    def _truncated(self) -> TruncatedPosterior | None:
        """Return the posterior within constraints; None without any."""
        mean = self.free_mean_
        if mean is None:
            return None
        kept = self.__dict__.get("_kept_truncated")
        if kept is None or kept[0] is not mean:  # of another fit
            kept = self._kept_truncated = mean, self._truncate(self._limits(len(self.coef_)))
        return kept[1]

    @property
    def posterior_mean_(self) -> Vector:
        """The mean of the coefficients, and of the intercept behind them; ``coef_`` is the mode.

        Without constraints both are one. Within them it is that of draws, with ``posterior_mean_error_``.
        """
        check_is_fitted(self)
        truncated = self._truncated()
        if truncated is not None:
            return truncated.mean
        return np.append(self.coef_, self.intercept_) if self.fit_intercept else np.array(self.coef_)

    @property
    def posterior_mean_error_(self) -> Vector:
        """The Monte Carlo standard error of the mean of each coefficient; 0 without constraints."""
        check_is_fitted(self)
        truncated = self._truncated()
        return np.zeros(len(self.coef_)) if truncated is None else truncated.error
