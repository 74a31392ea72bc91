"""The gamma distribution of positive amounts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array, mean_and_spread
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.special import log_gamma, poisson_log
from surefit.distributions.univariate import Univariate
from surefit.losses.root_finding import increasing_root


@dataclass(frozen=True, eq=False, repr=False)
class Gamma(ExponentialFamily, Univariate):
    r""":math:`p(x) = r^a x^{a - 1} e^{-r x} / \Gamma(a)` for x > 0, with shape a and rate r.

    >>> Gamma(shape=3.0, rate=2.0).mean
    1.5
    """

    shape: Positive = 1.0
    rate: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers from 0 on."""
        return Interval(0, None)

    def _log_density(self, x: Array) -> Any:
        if self.shape >= 1:
            return poisson_log(self.shape - 1.0, self.rate * x) + math.log(self.rate)
        y = self.rate * x
        return (self.shape - 1.0) * np.log(y) - y - log_gamma(self.shape) + math.log(self.rate)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.gamma(self.shape, 1.0 / self.rate, n)

    def _cdf(self, x: Array) -> Any:
        from scipy.special import gammainc

        return gammainc(self.shape, self.rate * x)

    def _survival(self, x: Array) -> Any:
        from scipy.special import gammaincc

        return gammaincc(self.shape, self.rate * x)

    def _quantile(self, q: Array) -> Any:
        from scipy.special import gammaincinv

        return gammaincinv(self.shape, q) / self.rate

    @property
    def mean(self) -> float:
        """a / r."""
        return self.shape / self.rate

    @property
    def variance(self) -> float:
        """a / r^2."""
        return self.mean / self.rate

    @property
    def mode(self) -> float:
        """(a - 1) / r, or 0."""
        return max(self.shape - 1.0, 0.0) / self.rate

    @property
    def skewness(self) -> float:
        """2 over the root of a."""
        return 2.0 / math.sqrt(self.shape)

    @property
    def kurtosis(self) -> float:
        """3 + 6 / a."""
        return 3.0 + 6.0 / self.shape

    def _moment_generating(self, t: Any) -> Any:
        return (1.0 - t / self.rate) ** -self.shape if t < self.rate else math.inf

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        return Interval(0, None, open_low=True)

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        return columns(rows, np.log(rows))

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        mean, mean_log = statistic.mean
        shape = likeliest_shape(math.log(mean) - float(mean_log), float(statistic.scatter[1]))
        if shape is None:
            cls._refuse_fit("all values are equal, and the likelihood grows without bound with the shape")
        return cls(shape, shape / float(mean))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic)
        if variance <= 0:
            cls._refuse_fit("all values are equal")
        return cls(mean**2 / variance, mean / variance)

    @property
    def natural(self) -> Array:
        """The shape, and the rate negated."""
        return np.array([self.shape, -self.rate])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        return type(self)(float(natural[0]), float(-natural[1]))

    def sufficient(self, x: Any) -> Array:
        """Return log x and x."""
        return columns(np.log(x), x)

    def log_base(self, x: Any) -> Any:
        """Return -log x."""
        return -np.log(x)

    @property
    def mean_log_base(self) -> float:
        """The expected -log x."""
        return -float(self.mean_sufficient[0])

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\log \Gamma(a) - a \log r`."""
        return log_gamma(natural[0]) - natural[0] * np.log(-natural[1])

    @property
    def mean_sufficient(self) -> Array:
        """The means of log x and of x."""
        from scipy.special import digamma

        return np.array([digamma(self.shape) - math.log(self.rate), self.mean])

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield a pole at 0, a hill, a narrow one, and extreme rates."""
        yield from (cls(0.5, 1.0), cls(3.0, 2.0), cls(1e5, 3.0), cls(2.0, 1e12), cls(2.0, 1e-12))


def likeliest_shape(gap: float, scatter: float) -> float | None:
    r"""Return the a with :math:`\log a - \psi(a)` = gap, the log of the mean less the mean log."""
    from scipy.special import digamma, polygamma

    if scatter <= 0 or gap <= 0:
        return None

    def rising(log_shape: Array) -> tuple[Array, Array]:
        a = np.exp(log_shape)
        return digamma(a) - log_shape + gap, a * polygamma(1, a) - 1.0

    start = (3.0 - gap + math.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    return float(np.exp(increasing_root(rising, np.log(np.array([start])))[0]))
