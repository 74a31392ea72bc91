"""The uniform distribution on an interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval
from surefit.distributions.base import Array, Real, mean_and_spread, refuse_parameter
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class Uniform(Univariate):
    r""":math:`p(x) = 1 / (b - a)` for a <= x <= b; the likeliest ends are the least and the greatest value.

    >>> Uniform.fit([2.0, 5.0, 3.0])
    Uniform(low=2.0, high=5.0)
    """

    low: Real = 0.0
    high: Real = 1.0

    def _prepare(self) -> None:
        if not self.low < self.high:
            refuse_parameter(self, "high", f"it must be above low={self.low!r}")

    @property
    def support(self) -> Interval:
        """The interval."""
        return Interval(self.low, self.high)

    @property
    def _width(self) -> float:
        return self.high - self.low

    def _log_density(self, x: Array) -> Any:
        return np.full(x.shape, -math.log(self._width))

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.uniform(self.low, self.high, n)

    def _cdf(self, x: Array) -> Any:
        return (x - self.low) / self._width

    def _survival(self, x: Array) -> Any:
        return (self.high - x) / self._width

    def _quantile(self, q: Array) -> Any:
        return self.low + q * self._width

    @property
    def mean(self) -> float:
        """The middle."""
        return self.low + 0.5 * self._width

    @property
    def variance(self) -> float:
        """(b - a)^2 / 12."""
        return self._width**2 / 12.0

    @property
    def skewness(self) -> float:
        """0."""
        return 0.0

    @property
    def kurtosis(self) -> float:
        """1.8."""
        return 1.8

    @property
    def entropy(self) -> float:
        """log(b - a)."""
        return math.log(self._width)

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to another interval; inf unless that holds this one."""
        inside = other.low <= self.low and self.high <= other.high
        return math.log(other._width / self._width) if inside else math.inf

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        return Interval()

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        if statistic.scatter[0] <= 0:
            cls._refuse_fit("all values are equal, and the likelihood grows without bound with no width")
        return cls(float(statistic.minimum[0]), float(statistic.maximum[0]))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic)
        if variance <= 0:
            cls._refuse_fit("all values are equal")
        half = math.sqrt(3.0 * variance)
        return cls(mean - half, mean + half)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield the plain one and one far off."""
        yield from (cls(), cls(1e6, 1e6 + 3.0))
