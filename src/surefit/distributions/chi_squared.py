"""The chi-squared distribution: sums of squares of normal numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.gamma import Gamma
from surefit.distributions.special import log_gamma
from surefit.distributions.univariate import Univariate
from surefit.losses.root_finding import increasing_root


@dataclass(frozen=True, eq=False, repr=False)
class ChiSquared(ExponentialFamily, Univariate):
    r"""A ``Gamma`` of shape k/2 and rate 1/2: the sum of k squared standard normal numbers.

    >>> ChiSquared(dof=1.0).survival(3.841459).round(6)
    np.float64(0.05)
    """

    dof: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers from 0 on."""
        return Interval(0, None)

    @property
    def _gamma(self) -> Gamma:
        return Gamma(self.dof / 2.0, 0.5)

    def _log_density(self, x: Array) -> Any:
        return self._gamma._log_density(x)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.chisquare(self.dof, n)

    def _cdf(self, x: Array) -> Any:
        return self._gamma._cdf(x)

    def _survival(self, x: Array) -> Any:
        return self._gamma._survival(x)

    def _quantile(self, q: Array) -> Any:
        return self._gamma._quantile(q)

    @property
    def mean(self) -> float:
        """k."""
        return self.dof

    @property
    def variance(self) -> float:
        """2k."""
        return 2.0 * self.dof

    @property
    def mode(self) -> float:
        """k - 2, or 0."""
        return max(self.dof - 2.0, 0.0)

    @property
    def skewness(self) -> float:
        """The root of 8 / k."""
        return self._gamma.skewness

    @property
    def kurtosis(self) -> float:
        """3 + 12 / k."""
        return self._gamma.kurtosis

    @property
    def entropy(self) -> float:
        """That of the gamma distribution."""
        return self._gamma.entropy

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        return Interval(0, None, open_low=True)

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        return columns(rows, np.log(rows))

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        from scipy.special import digamma, polygamma

        wanted = float(statistic.mean[1]) - math.log(2.0)

        def rising(log_half: Array) -> tuple[Array, Array]:
            half = np.exp(log_half)
            return digamma(half) - wanted, half * polygamma(1, half)

        start = np.log(statistic.mean[:1] / 2.0)
        return cls(2.0 * float(np.exp(increasing_root(rising, start)[0])))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        return cls(float(statistic.mean[0]))

    @property
    def natural(self) -> Array:
        """k / 2."""
        return np.array([self.dof / 2.0])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with this k / 2."""
        return type(self)(float(2.0 * natural[0]))

    def sufficient(self, x: Any) -> Array:
        """Return log x."""
        return columns(np.log(x))

    def log_base(self, x: Any) -> Any:
        """Return -x / 2 - log x."""
        return -np.asarray(x, dtype=np.float64) / 2.0 - np.log(x)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\log \Gamma(\eta) + \eta \log 2`."""
        return log_gamma(natural[0]) + natural[0] * np.log(natural[0] * 0 + 2)

    @property
    def mean_sufficient(self) -> Array:
        """The mean of log x."""
        return self._gamma.mean_sufficient[:1]

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield few degrees of freedom and many."""
        yield from (cls(1.0), cls(5.5), cls(300.0))
