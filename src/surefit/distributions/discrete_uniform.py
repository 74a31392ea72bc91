"""The uniform distribution on whole numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval
from surefit.distributions.base import Array, mean_and_spread, refuse_parameter
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteUniform(Univariate):
    r""":math:`P(x) = 1 / (b - a + 1)` for the whole numbers a to b, both included, as on a die.

    >>> DiscreteUniform(low=1, high=6).mean
    3.5
    """

    discrete = True

    low: int = 0
    high: int = 1

    def _prepare(self) -> None:
        if not self.low <= self.high:
            refuse_parameter(self, "high", f"it must not be below low={self.low!r}")

    @property
    def support(self) -> Interval:
        """The whole numbers from low to high."""
        return Interval(self.low, self.high)

    @property
    def _count(self) -> int:
        return self.high - self.low + 1

    def _log_density(self, x: Array) -> Any:
        return np.full(x.shape, -math.log(self._count))

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.integers(self.low, self.high, n, endpoint=True).astype(np.float64)

    def _cdf(self, x: Array) -> Any:
        return (x - self.low + 1.0) / self._count

    def _survival(self, x: Array) -> Any:
        return (self.high - x) / self._count

    @property
    def mean(self) -> float:
        """The middle."""
        return (self.low + self.high) / 2.0

    @property
    def variance(self) -> float:
        """(k^2 - 1) / 12 for k numbers."""
        return (self._count**2 - 1.0) / 12.0

    @property
    def skewness(self) -> float:
        """0; NaN for one number."""
        return 0.0 if self._count > 1 else math.nan

    @property
    def kurtosis(self) -> float:
        """3 - 6 (k^2 + 1) / 5 (k^2 - 1); NaN for one number."""
        k = float(self._count)
        return 3.0 - 1.2 * (k * k + 1.0) / (k * k - 1.0) if k > 1 else math.nan

    @property
    def entropy(self) -> float:
        """log k."""
        return math.log(self._count)

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to other numbers; inf unless those hold these."""
        inside = other.low <= self.low and self.high <= other.high
        return math.log(other._count / self._count) if inside else math.inf

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        return Interval()

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        return cls(int(statistic.minimum[0]), int(statistic.maximum[0]))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic)
        half = (math.sqrt(12.0 * variance + 1.0) - 1.0) / 2.0
        return cls(round(mean - half), round(mean + half))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield a die and one number alone."""
        yield from (cls(1, 6), cls(-40, 1000), cls(3, 3))
