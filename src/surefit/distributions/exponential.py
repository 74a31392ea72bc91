"""The exponential distribution of waiting times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array, Distribution
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.gamma import Gamma
from surefit.distributions.lomax import Lomax
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(ExponentialFamily, Conjugate, Univariate):
    r""":math:`p(x) = \lambda e^{-\lambda x}` for x >= 0.

    >>> Exponential.fit([1.0, 2.0, 3.0])
    Exponential(rate=0.5)
    """

    rate: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers from 0 on."""
        return Interval(0, None)

    def _log_density(self, x: Array) -> Any:
        return math.log(self.rate) - self.rate * x

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.exponential(1.0 / self.rate, n)

    def _cdf(self, x: Array) -> Any:
        return -np.expm1(-self.rate * x)

    def _survival(self, x: Array) -> Any:
        return np.exp(-self.rate * x)

    def _quantile(self, q: Array) -> Any:
        return -np.log1p(-q) / self.rate

    @property
    def mean(self) -> float:
        """One over the rate."""
        return 1.0 / self.rate

    @property
    def variance(self) -> float:
        """The square of the mean."""
        return self.mean**2

    @property
    def mode(self) -> float:
        """0."""
        return 0.0

    @property
    def skewness(self) -> float:
        """2."""
        return 2.0

    @property
    def kurtosis(self) -> float:
        """9."""
        return 9.0

    def _moment_generating(self, t: Any) -> Any:
        return self.rate / (self.rate - t) if t < self.rate else math.inf

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        if statistic.mean[0] <= 0:
            cls._refuse_fit("all values are 0, and the likelihood grows without bound with the rate")
        return cls(1.0 / float(statistic.mean[0]))

    _by_moments = _likeliest

    @property
    def natural(self) -> Array:
        """The rate, negated."""
        return np.array([-self.rate])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with this natural parameter."""
        return type(self)(float(-natural[0]))

    def sufficient(self, x: Any) -> Array:
        """Return x."""
        return columns(x)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`-\log(-\eta)`."""
        return -np.log(-natural[0])

    @property
    def mean_sufficient(self) -> Array:
        """The mean."""
        return np.array([self.mean])

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return (Gamma,)

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        weight = statistic.weight[0]
        return Gamma(prior.shape + weight, prior.rate + weight * statistic.mean[0])

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        return Lomax(prior.shape, prior.rate)

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution of a rate."""
        return cls(float(parameter))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield the plain one and extreme rates."""
        yield from (cls(), cls(1e12), cls(1e-12))
