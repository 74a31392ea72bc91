"""The inverse Gaussian distribution: when a drifting particle first gets somewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array, mean_and_spread
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.special import HALF_LOG_2PI
from surefit.distributions.univariate import Univariate
from surefit.losses.root_finding import increasing_root


@dataclass(frozen=True, eq=False, repr=False)
class InverseGaussian(ExponentialFamily, Univariate):
    r""":math:`p(x) = \sqrt{\lambda / 2 \pi x^3}\; e^{-\lambda (x - \mu)^2 / 2 \mu^2 x}` for x > 0.

    mean: :math:`\mu`. shape: :math:`\lambda`.

    >>> InverseGaussian(mean=2.0, shape=4.0).variance
    2.0
    """

    mean: Positive = 1.0
    shape: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers above 0."""
        return Interval(0, None, open_low=True)

    def _log_density(self, x: Array) -> Any:
        away = (x - self.mean) / self.mean
        return 0.5 * (math.log(self.shape) - 3.0 * np.log(x) - self.shape * away * away / x) - HALF_LOG_2PI

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.wald(self.mean, self.shape, n)

    def _arms(self, x: Array) -> tuple[Array, Array]:
        root = np.sqrt(self.shape / x)
        return root * (x / self.mean - 1.0), root * (x / self.mean + 1.0)

    def _reflected(self, far: Array) -> Any:
        from scipy.special import log_ndtr

        return np.exp(2.0 * self.shape / self.mean + log_ndtr(-far))

    def _cdf(self, x: Array) -> Any:
        from scipy.special import ndtr

        near, far = self._arms(x)
        return ndtr(near) + self._reflected(far)

    def _survival(self, x: Array) -> Any:
        from scipy.special import ndtr

        near, far = self._arms(x)
        return np.maximum(ndtr(-near) - self._reflected(far), 0.0)

    def _quantile(self, q: Array) -> Any:
        def rising(logs: Array) -> tuple[Array, Array]:
            x = np.exp(logs)
            small = q < 0.5
            value = np.where(small, self.cdf(x) - q, (1.0 - q) - self.survival(x))
            return value, self.density(x) * x

        return np.exp(increasing_root(rising, np.full(q.shape, math.log(self.mean))))

    @property
    def variance(self) -> float:
        """mu^3 / lambda."""
        return self.mean**3 / self.shape

    @property
    def mode(self) -> float:
        """mu (sqrt(1 + t^2) - t) with t = 3 mu / 2 lambda."""
        t = 1.5 * self.mean / self.shape
        return self.mean / (math.hypot(1.0, t) + t)

    @property
    def skewness(self) -> float:
        """3 sqrt(mu / lambda)."""
        return 3.0 * math.sqrt(self.mean / self.shape)

    @property
    def kurtosis(self) -> float:
        """3 + 15 mu / lambda."""
        return 3.0 + 15.0 * self.mean / self.shape

    entropy = Univariate.entropy

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        return columns(rows, 1.0 / rows)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        mean, inverse = (float(value) for value in statistic.mean)
        gap = inverse - 1.0 / mean
        if statistic.scatter[0] <= 0 or gap <= 0:
            cls._refuse_fit("all values are equal, and the likelihood grows without bound with the shape")
        return cls(mean, 1.0 / gap)

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic)
        if variance <= 0:
            cls._refuse_fit("all values are equal")
        return cls(mean, mean**3 / variance)

    @property
    def natural(self) -> Array:
        """-lambda / 2 mu^2 and -lambda / 2."""
        return np.array([-0.5 * self.shape / self.mean**2, -0.5 * self.shape])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        return type(self)(math.sqrt(natural[1] / natural[0]), float(-2.0 * natural[1]))

    def sufficient(self, x: Any) -> Array:
        """Return x and 1 / x."""
        x = np.asarray(x, dtype=np.float64)
        return columns(x, 1.0 / x)

    def log_base(self, x: Any) -> Any:
        """Return the logarithm of one over the root of 2 pi x^3."""
        return -1.5 * np.log(x) - HALF_LOG_2PI

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`-2 \sqrt{\eta_1 \eta_2} - \tfrac12 \log(-2 \eta_2)`."""
        return -2 * np.sqrt(natural[0] * natural[1]) - np.log(-2 * natural[1]) / 2

    @property
    def mean_sufficient(self) -> Array:
        """The means of x and of 1 / x."""
        return np.array([self.mean, 1.0 / self.mean + 1.0 / self.shape])

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield long and short tails."""
        yield from (cls(), cls(2.0, 30.0), cls(3.0, 0.5))
