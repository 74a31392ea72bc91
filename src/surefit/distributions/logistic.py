"""The logistic distribution, whose cdf is the logistic function."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Positive
from surefit.distributions.base import Array, Real
from surefit.distributions.likelihood_newton import climb
from surefit.distributions.univariate import Tallied, moments_of, tally


@dataclass(frozen=True, eq=False, repr=False)
class Logistic(Tallied):
    r""":math:`F(x) = 1 / (1 + e^{-(x - m) / s})`, with location m and scale s.

    >>> Logistic(location=1.0).cdf(1.0)
    np.float64(0.5)
    """

    location: Real = 0.0
    scale: Positive = 1.0

    def _z(self, x: Array) -> Array:
        return (x - self.location) / self.scale

    def _log_density(self, x: Array) -> Any:
        z = np.abs(self._z(x))
        return -z - 2.0 * np.log1p(np.exp(-z)) - math.log(self.scale)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.logistic(self.location, self.scale, n)

    def _cdf(self, x: Array) -> Any:
        from scipy.special import expit

        return expit(self._z(x))

    def _survival(self, x: Array) -> Any:
        from scipy.special import expit

        return expit(-self._z(x))

    def _quantile(self, q: Array) -> Any:
        from scipy.special import logit

        return self.location + self.scale * logit(q)

    @property
    def mean(self) -> float:
        """The location."""
        return self.location

    @property
    def variance(self) -> float:
        """(pi s)^2 / 3."""
        return (math.pi * self.scale) ** 2 / 3.0

    @property
    def mode(self) -> float:
        """The location."""
        return self.location

    @property
    def skewness(self) -> float:
        """0."""
        return 0.0

    @property
    def kurtosis(self) -> float:
        """4.2."""
        return 4.2

    @property
    def entropy(self) -> float:
        """2 + log s."""
        return 2.0 + math.log(self.scale)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        first = cls._by_moments(statistic)
        values, share = tally(statistic)
        z = (values - first.location) / first.scale

        def likelihood(parameters: Array) -> tuple[float, Array]:
            shift, log_scale = parameters
            scale = math.exp(log_scale)
            y = (z - shift) / scale
            pull = np.tanh(y / 2.0)
            value = -(share @ (np.abs(y) + 2.0 * np.log1p(np.exp(-np.abs(y))))) - log_scale
            return float(value), np.array([share @ pull / scale, share @ (y * pull) - 1.0])

        shift, log_scale = climb(likelihood, np.zeros(2), f"the likelihood of a {cls.__name__}")
        return cls(first.location + first.scale * float(shift), first.scale * math.exp(log_scale))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = moments_of(statistic)
        if variance <= 0:
            cls._refuse_fit(
                "all values are equal, and the likelihood grows without bound as the scale shrinks"
            )
        return cls(mean, math.sqrt(3.0 * variance) / math.pi)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield the plain one, one far off and one with a small scale."""
        yield from (cls(), cls(1e6, 3.0), cls(0.0, 1e-12))
