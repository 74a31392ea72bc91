"""The log-normal distribution: the exponential of a normal number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array, Real, mean_and_spread
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.normal import Normal
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class LogNormal(ExponentialFamily, Univariate):
    r""":math:`\log x` is normal with mean ``location`` and standard deviation ``scale``.

    >>> LogNormal(location=1.0, scale=0.5).median.__round__(6)
    2.718282
    """

    location: Real = 0.0
    scale: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers above 0."""
        return Interval(0, None, open_low=True)

    @property
    def _normal(self) -> Normal:
        return Normal(self.location, self.scale)

    def _log_density(self, x: Array) -> Any:
        logs = np.log(x)
        return self._normal._log_density(logs) - logs

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return np.exp(self._normal._sample(rng, n))

    def _cdf(self, x: Array) -> Any:
        return self._normal._cdf(np.log(x))

    def _survival(self, x: Array) -> Any:
        return self._normal._survival(np.log(x))

    def _quantile(self, q: Array) -> Any:
        return np.exp(self._normal._quantile(q))

    @property
    def mean(self) -> float:
        """exp(m + s^2 / 2)."""
        return math.exp(self.location + self.scale**2 / 2.0)

    @property
    def variance(self) -> float:
        """The square of the mean times exp(s^2) - 1."""
        return self.mean**2 * math.expm1(self.scale**2)

    @property
    def mode(self) -> float:
        """exp(m - s^2)."""
        return math.exp(self.location - self.scale**2)

    @property
    def skewness(self) -> float:
        """(exp(s^2) + 2) sqrt(exp(s^2) - 1)."""
        w = math.expm1(self.scale**2)
        return (w + 3.0) * math.sqrt(w)

    @property
    def kurtosis(self) -> float:
        """exp(4 s^2) + 2 exp(3 s^2) + 3 exp(2 s^2) - 3."""
        e = math.exp(self.scale**2)
        return e**4 + 2.0 * e**3 + 3.0 * e**2 - 3.0

    @property
    def entropy(self) -> float:
        """That of the logarithm, and its mean."""
        return self._normal.entropy + self.location

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        return columns(rows, np.log(rows))

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic, 1)
        if variance <= 0:
            cls._refuse_fit(
                "all values are equal, and the likelihood grows without bound as the scale shrinks"
            )
        return cls(mean, math.sqrt(variance))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic)
        if variance <= 0:
            cls._refuse_fit("all values are equal")
        log_variance = math.log1p(variance / mean**2)
        return cls(math.log(mean) - log_variance / 2.0, math.sqrt(log_variance))

    @property
    def natural(self) -> Array:
        """Those of the logarithm."""
        return self._normal.natural

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        found = self._normal.with_natural(natural)
        return type(self)(found.mean, found.scale)

    def sufficient(self, x: Any) -> Array:
        """Return log x and its square."""
        return self._normal.sufficient(np.log(x))

    def log_base(self, x: Any) -> Any:
        """Return -log x."""
        return -np.log(x)

    def log_partition(self, natural: Any) -> Any:
        """Return that of the logarithm."""
        return self._normal.log_partition(natural)

    @property
    def mean_sufficient(self) -> Array:
        """The means of log x and of its square."""
        return self._normal.mean_sufficient

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to another one, which is that of the logarithms."""
        self._check_family(other)
        return self._normal.divergence(other._normal)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield a usual one, one of large numbers and one that is nearly normal."""
        yield from (cls(), cls(20.0, 0.5), cls(-1.0, 0.01))
