"""The Poisson distribution: how many events there are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, NonNegative
from surefit.distributions.base import Array, Distribution
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.gamma import Gamma
from surefit.distributions.negative_binomial import NegativeBinomial
from surefit.distributions.special import log_gamma, poisson_log
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(ExponentialFamily, Conjugate, Univariate):
    r""":math:`P(x) = \lambda^x e^{-\lambda} / x!`; a rate of 0 always gives 0.

    >>> Poisson(rate=2.0).density(3).round(10)
    np.float64(0.1804470443)
    """

    discrete = True

    rate: NonNegative = 1.0

    @property
    def support(self) -> Interval:
        """0, 1, 2 and so on."""
        return Interval(0, None)

    def _log_density(self, x: Array) -> Any:
        return poisson_log(x, self.rate)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.poisson(self.rate, n).astype(np.float64)

    def _cdf(self, x: Array) -> Any:
        from scipy.special import gammaincc

        return gammaincc(x + 1.0, self.rate)

    def _survival(self, x: Array) -> Any:
        from scipy.special import gammainc

        return gammainc(x + 1.0, self.rate)

    @property
    def mean(self) -> float:
        """The rate."""
        return self.rate

    @property
    def variance(self) -> float:
        """The rate."""
        return self.rate

    @property
    def mode(self) -> float:
        """The whole part of the rate."""
        return math.floor(self.rate)

    @property
    def skewness(self) -> float:
        """One over the root of the rate."""
        return self.rate**-0.5 if self.rate else math.nan

    @property
    def kurtosis(self) -> float:
        """3 + 1 / rate."""
        return 3.0 + 1.0 / self.rate if self.rate else math.nan

    def _moment_generating(self, t: Any) -> Any:
        return np.exp(self.rate * np.expm1(t))

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        return cls(float(statistic.mean[0]))

    _by_moments = _likeliest

    @property
    def natural(self) -> Array:
        """The logarithm of the rate."""
        return np.array([math.log(self.rate) if self.rate else -math.inf])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution of this log-rate."""
        return type(self)(math.exp(natural[0]))

    def sufficient(self, x: Any) -> Array:
        """Return x."""
        return columns(x)

    def log_base(self, x: Any) -> Any:
        """Return -log x!."""
        return -log_gamma(np.asarray(x, dtype=np.float64) + 1.0)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`e^\eta`."""
        return np.exp(natural[0])

    @property
    def mean_sufficient(self) -> Array:
        """The rate."""
        return np.array([self.rate])

    entropy = Univariate.entropy

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to another rate."""
        from scipy.special import kl_div

        self._check_family(other)
        return float(kl_div(self.rate, other.rate))

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return (Gamma,)

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        weight = statistic.weight[0]
        return Gamma(prior.shape + weight * statistic.mean[0], prior.rate + weight)

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        return NegativeBinomial(prior.shape, prior.rate / (prior.rate + 1.0))

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution of a rate."""
        return cls(float(parameter))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield few events and many."""
        yield from (cls(2.0), cls(0.01), cls(1e4))
