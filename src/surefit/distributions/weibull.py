"""The Weibull distribution of lifetimes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array
from surefit.distributions.special import log_gamma
from surefit.distributions.univariate import Tallied, moments_of, tally
from surefit.losses.root_finding import increasing_root


@dataclass(frozen=True, eq=False, repr=False)
class Weibull(Tallied):
    r"""Survival :math:`e^{-(x / b)^k}` for x >= 0, with shape k and scale b.

    >>> Weibull(shape=2.0, scale=3.0).survival(3.0).round(6)
    np.float64(0.367879)
    """

    shape: Positive = 1.0
    scale: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers from 0 on."""
        return Interval(0, None)

    def _log_density(self, x: Array) -> Any:
        from scipy.special import xlogy

        y = x / self.scale
        return math.log(self.shape / self.scale) + xlogy(self.shape - 1.0, y) - y**self.shape

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return self.scale * rng.weibull(self.shape, n)

    def _cdf(self, x: Array) -> Any:
        return -np.expm1(-((x / self.scale) ** self.shape))

    def _survival(self, x: Array) -> Any:
        return np.exp(-((x / self.scale) ** self.shape))

    def _quantile(self, q: Array) -> Any:
        return self.scale * (-np.log1p(-q)) ** (1.0 / self.shape)

    def _moment(self, order: int) -> float:
        """The mean of (x / b)^order."""
        return math.exp(log_gamma(1.0 + order / self.shape))

    @property
    def mean(self) -> float:
        """b Gamma(1 + 1 / k)."""
        return self.scale * self._moment(1)

    @property
    def variance(self) -> float:
        """b^2 (Gamma(1 + 2 / k) - Gamma(1 + 1 / k)^2)."""
        # The ratio of the two, less 1, keeps its digits where they are close.
        gap = log_gamma(1.0 + 2.0 / self.shape) - 2.0 * log_gamma(1.0 + 1.0 / self.shape)
        return self.mean**2 * math.expm1(gap)

    @property
    def mode(self) -> float:
        """b ((k - 1) / k)^(1 / k), or 0."""
        return float(self.scale * (max(self.shape - 1.0, 0.0) / self.shape) ** (1.0 / self.shape))

    @property
    def skewness(self) -> float:
        """The third standardised moment."""
        one, two, three = (self._moment(order) for order in (1, 2, 3))
        return float((three - 3.0 * one * two + 2.0 * one**3) / (self.variance / self.scale**2) ** 1.5)

    @property
    def kurtosis(self) -> float:
        """The fourth standardised moment."""
        one, two, three, four = (self._moment(order) for order in (1, 2, 3, 4))
        above = four - 4.0 * one * three + 6.0 * one**2 * two - 3.0 * one**4
        return above / (self.variance / self.scale**2) ** 2

    @property
    def entropy(self) -> float:
        """gamma (1 - 1 / k) + log(b / k) + 1, with Euler's constant."""
        return np.euler_gamma * (1.0 - 1.0 / self.shape) + math.log(self.scale / self.shape) + 1.0

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to another Weibull distribution."""
        k, j = self.shape, other.shape
        drift = j * math.log(self.scale / other.scale)
        rest = (k - j) * (math.log(self.scale) - np.euler_gamma / k)
        logs = math.log(k / j) - k * math.log(self.scale) + j * math.log(other.scale) + rest
        return float(logs + math.exp(drift + log_gamma(j / k + 1.0)) - 1.0)

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        return Interval(0, None, open_low=True)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        values, share = tally(statistic)
        logs = np.log(values)
        spread = logs - share @ logs
        if not spread.any() or len(values) == 1:
            cls._refuse_fit("all values are equal, and the likelihood grows without bound with the shape")

        def rising(log_shape: Array) -> tuple[Array, Array]:
            k = np.exp(log_shape)[:, None]
            tilt = share * np.exp(k * (spread - spread.max()))
            tilt /= tilt.sum(axis=1, keepdims=True)
            mean = tilt @ spread
            bend = tilt @ spread**2 - mean**2
            return mean - 1.0 / k[:, 0], k[:, 0] * bend + 1.0 / k[:, 0]

        start = np.array([-math.log(math.sqrt(float(share @ spread**2)))])
        k = float(np.exp(increasing_root(rising, start)[0]))
        top = float(logs.max())
        return cls(k, math.exp(top + math.log(float(share @ np.exp(k * (logs - top)))) / k))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = moments_of(statistic)
        if variance <= 0:
            cls._refuse_fit("all values are equal")
        wanted = math.log1p(variance / mean**2)

        def rising(log_shape: Array) -> tuple[Array, Array]:
            from scipy.special import digamma

            t = np.exp(-log_shape)
            gap = log_gamma(1.0 + 2.0 * t) - 2.0 * log_gamma(1.0 + t)
            return wanted - gap, 2.0 * t * (digamma(1.0 + 2.0 * t) - digamma(1.0 + t))

        k = float(np.exp(increasing_root(rising, np.zeros(1))[0]))
        return cls(k, mean / math.exp(log_gamma(1.0 + 1.0 / k)))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield a pole at 0, a hill and extreme scales."""
        yield from (cls(0.7, 2.0), cls(3.0, 1e-12), cls(2.0, 1e12))
