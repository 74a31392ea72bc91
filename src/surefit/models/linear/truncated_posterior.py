"""A posterior cut to constraints: its mean and spread by draws, and what it predicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.errors import ParameterError, RefusalError
from surefit.models.linear.predictive_mixture import Predictive
from surefit.models.linear.truncated_draws import Draws, draw
from surefit.models.linear.truncated_normal import TruncatedNormal

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

DRAWS = 4096  # so that the Monte Carlo error of a mean is a 64th of its deviation
ROWS = 1024  # whose planes are laid out at once


@dataclass(frozen=True)
class TruncatedPosterior:
    """Coefficients with a normal distribution cut to a set, and a plane through (center, height).

    used: which columns have a coefficient that is not zero for good. height: that of the plane at the centre,
    where it is no part of the distribution; None for a model whose plane has its height drawn, or none.
    seed: where the draws of mean, variance and predictions start. uncut: the distribution before the cut.

    >>> from surefit.solvers.level_limits import LevelLimits
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
    uncut: Any = None

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
        return Draws(coef, height, found.noise, error, found.apart, found.sweeps)

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
        if self.uncut is None:
            raise RefusalError(
                "this posterior fixes the intercept, and has no density with it: draw from it."
            )
        points = np.atleast_2d(np.asarray(x, dtype=np.float64))
        limits = self.normal.limits
        inside = np.array([limits.holds(point[: len(limits.lower)]) for point in points])
        found = np.where(inside, self.uncut.log_density(points) - self._log_probability, -np.inf)
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
