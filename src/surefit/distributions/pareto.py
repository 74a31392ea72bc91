"""The Pareto distribution: a tail that falls as a power."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array, mean_and_spread
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class Pareto(ExponentialFamily, Univariate):
    r""":math:`p(x) = a m^a / x^{a + 1}` for x >= m, with shape a and minimum m.

    As an exponential family the minimum counts as known.

    >>> Pareto.fit([1.0, 2.0, 4.0]).minimum
    1.0
    """

    shape: Positive = 1.0
    minimum: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers from the minimum on."""
        return Interval(self.minimum, None)

    def _log_density(self, x: Array) -> Any:
        return math.log(self.shape) - np.log(x) - self.shape * np.log(x / self.minimum)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return self.minimum * (1.0 + rng.pareto(self.shape, n))

    def _cdf(self, x: Array) -> Any:
        return -np.expm1(-self.shape * np.log(x / self.minimum))

    def _survival(self, x: Array) -> Any:
        return np.exp(-self.shape * np.log(x / self.minimum))

    def _quantile(self, q: Array) -> Any:
        return self.minimum * np.exp(-np.log1p(-q) / self.shape)

    @property
    def mean(self) -> float:
        """a m / (a - 1); inf unless a > 1."""
        return self.minimum * self.shape / (self.shape - 1.0) if self.shape > 1 else math.inf

    @property
    def variance(self) -> float:
        """a m^2 / ((a - 1)^2 (a - 2)); inf unless a > 2."""
        a = self.shape
        return a * (self.minimum / (a - 1.0)) ** 2 / (a - 2.0) if a > 2 else math.inf

    @property
    def mode(self) -> float:
        """The minimum."""
        return self.minimum

    @property
    def skewness(self) -> float:
        """2 (1 + a) / (a - 3) times the root of (a - 2) / a; NaN unless a > 3."""
        a = self.shape
        return 2.0 * (1.0 + a) / (a - 3.0) * math.sqrt((a - 2.0) / a) if a > 3 else math.nan

    @property
    def kurtosis(self) -> float:
        """3 + 6 (a^3 + a^2 - 6a - 2) / (a (a - 3)(a - 4)); NaN unless a > 4."""
        a = self.shape
        if a <= 4:
            return math.nan
        return 3.0 + 6.0 * (a**3 + a**2 - 6.0 * a - 2.0) / (a * (a - 3.0) * (a - 4.0))

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        return Interval(0, None, open_low=True)

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        return columns(rows, np.log(rows))

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        minimum = float(statistic.minimum[0])
        above = float(statistic.mean[1]) - math.log(minimum)
        if statistic.scatter[0] <= 0 or above <= 0:
            cls._refuse_fit("all values are equal, and the likelihood grows without bound with the shape")
        return cls(1.0 / above, minimum)

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic)
        if variance <= 0:
            cls._refuse_fit("all values are equal")
        shape = 1.0 + math.sqrt(1.0 + mean**2 / variance)
        return cls(shape, mean * (shape - 1.0) / shape)

    @property
    def natural(self) -> Array:
        """The shape, negated."""
        return np.array([-self.shape])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution of this minimum and natural parameter."""
        return type(self)(float(-natural[0]), self.minimum)

    def sufficient(self, x: Any) -> Array:
        """Return log x."""
        return columns(np.log(x))

    def log_base(self, x: Any) -> Any:
        """Return -log x."""
        return -np.log(x)

    @property
    def mean_log_base(self) -> float:
        """The expected -log x."""
        return -float(self.mean_sufficient[0])

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`-\log a - a \log m`."""
        return natural[0] * np.log(natural[0] * 0 + self.minimum) - np.log(-natural[0])

    @property
    def mean_sufficient(self) -> Array:
        """The mean of log x."""
        return np.array([math.log(self.minimum) + 1.0 / self.shape])

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to another one; inf where that starts later."""
        if self.minimum < other.minimum:
            return math.inf
        ratio = other.shape / self.shape
        return other.shape * math.log(self.minimum / other.minimum) - math.log(ratio) + ratio - 1.0

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield tails with and without moments."""
        yield from (cls(5.0, 2.0), cls(1.5, 1e-3))
