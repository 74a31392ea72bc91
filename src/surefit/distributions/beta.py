"""The beta distribution of a share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array, mean_and_spread
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.likelihood_newton import climb
from surefit.distributions.special import log_beta
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class Beta(ExponentialFamily, Univariate):
    r""":math:`p(x) = x^{\alpha - 1} (1 - x)^{\beta - 1} / B(\alpha, \beta)` for 0 < x < 1.

    >>> round(Beta(alpha=8.0, beta=6.0).mean, 6), round(Beta(alpha=8.0, beta=6.0).mode, 6)
    (0.571429, 0.583333)
    """

    alpha: Positive = 1.0
    beta: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers from 0 to 1."""
        return Interval(0, 1)

    def _log_density(self, x: Array) -> Any:
        from scipy.special import xlog1py, xlogy

        return xlogy(self.alpha - 1.0, x) + xlog1py(self.beta - 1.0, -x) - log_beta(self.alpha, self.beta)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.beta(self.alpha, self.beta, n)

    def _cdf(self, x: Array) -> Any:
        from scipy.special import betainc

        return betainc(self.alpha, self.beta, x)

    def _survival(self, x: Array) -> Any:
        from scipy.special import betaincc

        return betaincc(self.alpha, self.beta, x)

    def _quantile(self, q: Array) -> Any:
        from scipy.special import betaincinv

        return betaincinv(self.alpha, self.beta, q)

    @property
    def mean(self) -> float:
        """alpha / (alpha + beta)."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> float:
        """m (1 - m) / (alpha + beta + 1) for the mean m."""
        total = self.alpha + self.beta
        return self.mean * (self.beta / total) / (total + 1.0)

    @property
    def mode(self) -> float:
        """(alpha - 1) / (alpha + beta - 2), an end where the density rises to it, NaN where it is flat."""
        a, b = max(self.alpha - 1.0, 0.0), max(self.beta - 1.0, 0.0)
        if a + b > 0:
            return a / (a + b)
        return math.nan if self.alpha == self.beta else float(self.alpha > self.beta)

    @property
    def skewness(self) -> float:
        """2 (b - a) sqrt(a + b + 1) / ((a + b + 2) sqrt(a b))."""
        a, b = self.alpha, self.beta
        return 2.0 * (b - a) * math.sqrt(a + b + 1.0) / ((a + b + 2.0) * math.sqrt(a * b))

    @property
    def kurtosis(self) -> float:
        """3 + 6 ((a - b)^2 (a + b + 1) - a b (a + b + 2)) / (a b (a + b + 2)(a + b + 3))."""
        a, b = self.alpha, self.beta
        above = (a - b) ** 2 * (a + b + 1.0) - a * b * (a + b + 2.0)
        return 3.0 + 6.0 * above / (a * b * (a + b + 2.0) * (a + b + 3.0))

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        return Interval(0, 1, open_low=True, open_high=True)

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        return columns(rows, np.log(rows), np.log1p(-rows))

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        from scipy.special import digamma

        first = cls._by_moments(statistic)
        logs = statistic.mean[1:]

        def likelihood(parameters: Array) -> tuple[float, Array]:
            a = np.exp(parameters)
            value = a @ logs - log_beta(a[0], a[1])
            return float(value), a * (logs + digamma(a.sum()) - digamma(a))

        start = np.log([first.alpha, first.beta])
        a, b = np.exp(climb(likelihood, start, f"the likelihood of a {cls.__name__}"))
        return cls(float(a), float(b))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic)
        if variance <= 0:
            cls._refuse_fit("all values are equal")
        total = mean * (1.0 - mean) / variance - 1.0
        return cls(mean * total, (1.0 - mean) * total)

    @property
    def natural(self) -> Array:
        """alpha and beta."""
        return np.array([self.alpha, self.beta])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these parameters."""
        return type(self)(float(natural[0]), float(natural[1]))

    def sufficient(self, x: Any) -> Array:
        """Return log x and log(1 - x)."""
        x = np.asarray(x, dtype=np.float64)
        return columns(np.log(x), np.log1p(-x))

    def log_base(self, x: Any) -> Any:
        """Return -log x - log(1 - x)."""
        return -self.sufficient(x).sum(axis=-1)

    @property
    def mean_log_base(self) -> float:
        """The expected -log x - log(1 - x)."""
        return -float(self.mean_sufficient.sum())

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\log B(\alpha, \beta)`."""
        return log_beta(natural[0], natural[1])

    @property
    def mean_sufficient(self) -> Array:
        """The means of log x and of log(1 - x)."""
        from scipy.special import digamma

        return np.asarray(digamma(self.natural) - digamma(self.alpha + self.beta))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield flat, hill, slope and narrow."""
        yield from (cls(), cls(8.0, 6.0), cls(1.5, 4.0), cls(3e4, 1e4))
