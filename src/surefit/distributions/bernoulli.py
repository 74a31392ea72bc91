"""The Bernoulli distribution: one toss of a coin."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Fraction, Interval
from surefit.distributions.base import Array, Distribution
from surefit.distributions.beta import Beta
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.exponential_family import ExponentialFamily, columns, xlogx_ratio
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class Bernoulli(ExponentialFamily, Conjugate, Univariate):
    r"""1 with probability p, otherwise 0: :math:`P(x) = p^x (1 - p)^{1 - x}`.

    >>> Bernoulli.fit([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    Bernoulli(probability=0.6)
    """

    discrete = True

    probability: Fraction = 0.5

    @property
    def support(self) -> Interval:
        """0 and 1."""
        return Interval(0, 1)

    def _log_density(self, x: Array) -> Any:
        return np.where(x == 1, np.log(self.probability), np.log1p(-self.probability))

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return (rng.random(n) < self.probability).astype(np.float64)

    def _cdf(self, x: Array) -> Any:
        return np.full(x.shape, 1.0 - self.probability)

    def _survival(self, x: Array) -> Any:
        return np.full(x.shape, self.probability)

    @property
    def mean(self) -> float:
        """The probability."""
        return self.probability

    @property
    def variance(self) -> float:
        """p (1 - p)."""
        return self.probability * (1.0 - self.probability)

    @property
    def mode(self) -> float:
        """The likelier of the two; 0 where they are equal."""
        return float(self.probability > 0.5)

    @property
    def skewness(self) -> float:
        """(1 - 2p) over the standard deviation; NaN without variance."""
        return (1.0 - 2.0 * self.probability) / math.sqrt(self.variance) if self.variance else math.nan

    @property
    def kurtosis(self) -> float:
        """3 + (1 - 6v) / v for the variance v; NaN without variance."""
        return 1.0 / self.variance - 3.0 if self.variance else math.nan

    def _moment_generating(self, t: Any) -> Any:
        return 1.0 + self.probability * np.expm1(t)

    @property
    def entropy(self) -> float:
        """-p log p - (1 - p) log(1 - p)."""
        from scipy.special import entr

        return float(entr(self.probability) + entr(1.0 - self.probability))

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        return cls(float(statistic.mean[0]))

    _by_moments = _likeliest

    @property
    def natural(self) -> Array:
        """The log-odds."""
        from scipy.special import logit

        return np.array([logit(self.probability)])

    def with_natural(self, natural: Any) -> Self:
        """Return the coin with these log-odds."""
        from scipy.special import expit

        return type(self)(float(expit(natural[0])))

    def sufficient(self, x: Any) -> Array:
        """Return x."""
        return columns(x)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\log(1 + e^\eta)`."""
        return np.logaddexp(np.zeros_like(natural[0]), natural[0])

    @property
    def mean_sufficient(self) -> Array:
        """The probability."""
        return np.array([self.probability])

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to another one; inf where that excludes an outcome."""
        self._check_family(other)
        p, q = (np.array([coin.probability, 1.0 - coin.probability]) for coin in (self, other))
        return float(xlogx_ratio(p, q).sum())

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return (Beta,)

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        ones = statistic.weight[0] * statistic.mean[0]
        return Beta(prior.alpha + ones, prior.beta + statistic.weight[0] - ones)

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        return cls(prior.mean)

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the coin of a probability."""
        return cls(float(parameter))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield a fair coin, a bent one and one that hardly ever shows 1."""
        yield from (cls(), cls(0.9), cls(1e-3))
