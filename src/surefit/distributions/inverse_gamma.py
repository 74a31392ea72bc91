"""The inverse gamma distribution: one over a gamma amount."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array, mean_and_spread
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.gamma import Gamma, likeliest_shape
from surefit.distributions.special import log_gamma
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class InverseGamma(ExponentialFamily, Univariate):
    r""":math:`p(x) = b^a x^{-a - 1} e^{-b / x} / \Gamma(a)` for x > 0, with shape a and scale b.

    >>> InverseGamma(shape=3.0, scale=4.0).mean
    2.0
    """

    shape: Positive = 1.0
    scale: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers above 0."""
        return Interval(0, None, open_low=True)

    @property
    def _inverse(self) -> Gamma:
        return Gamma(self.shape, self.scale)

    def _log_density(self, x: Array) -> Any:
        return self._inverse._log_density(1.0 / x) - 2.0 * np.log(x)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return 1.0 / self._inverse._sample(rng, n)

    def _cdf(self, x: Array) -> Any:
        return self._inverse._survival(1.0 / x)

    def _survival(self, x: Array) -> Any:
        return self._inverse._cdf(1.0 / x)

    def _quantile(self, q: Array) -> Any:
        from scipy.special import gammainccinv

        return self.scale / gammainccinv(self.shape, q)

    @property
    def mean(self) -> float:
        """b / (a - 1); inf unless a > 1."""
        return self.scale / (self.shape - 1.0) if self.shape > 1 else math.inf

    @property
    def variance(self) -> float:
        """The square of the mean over a - 2; inf unless a > 2."""
        return self.mean**2 / (self.shape - 2.0) if self.shape > 2 else math.inf

    @property
    def mode(self) -> float:
        """b / (a + 1)."""
        return self.scale / (self.shape + 1.0)

    @property
    def skewness(self) -> float:
        """4 sqrt(a - 2) / (a - 3); NaN unless a > 3."""
        a = self.shape
        return 4.0 * math.sqrt(a - 2.0) / (a - 3.0) if a > 3 else math.nan

    @property
    def kurtosis(self) -> float:
        """3 + 6 (5a - 11) / ((a - 3)(a - 4)); NaN unless a > 4."""
        a = self.shape
        return 3.0 + 6.0 * (5.0 * a - 11.0) / ((a - 3.0) * (a - 4.0)) if a > 4 else math.nan

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        return columns(rows, 1.0 / rows, np.log(rows))

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        _, mean_inverse, mean_log = statistic.mean
        shape = likeliest_shape(math.log(mean_inverse) + float(mean_log), float(statistic.scatter[2]))
        if shape is None:
            cls._refuse_fit("all values are equal, and the likelihood grows without bound with the shape")
        return cls(shape, shape / float(mean_inverse))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic)
        if variance <= 0:
            cls._refuse_fit("all values are equal")
        shape = 2.0 + mean**2 / variance
        return cls(shape, mean * (shape - 1.0))

    @property
    def natural(self) -> Array:
        """Shape and scale, negated."""
        return np.array([-self.shape, -self.scale])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        return type(self)(float(-natural[0]), float(-natural[1]))

    def sufficient(self, x: Any) -> Array:
        """Return log x and 1 / x."""
        x = np.asarray(x, dtype=np.float64)
        return columns(np.log(x), 1.0 / x)

    def log_base(self, x: Any) -> Any:
        """Return -log x."""
        return -np.log(x)

    @property
    def mean_log_base(self) -> float:
        """The expected -log x."""
        return -float(self.mean_sufficient[0])

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\log \Gamma(a) - a \log b`."""
        return log_gamma(-natural[0]) + natural[0] * np.log(-natural[1])

    @property
    def mean_sufficient(self) -> Array:
        """The means of log x and of 1 / x."""
        from scipy.special import digamma

        return np.array([math.log(self.scale) - digamma(self.shape), self.shape / self.scale])

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield a heavy tail, a light one, and an extreme scale."""
        yield from (cls(1.5, 2.0), cls(9.0, 4.0), cls(9.0, 1e-12))
