"""The Laplace distribution: exponential to both sides."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Positive
from surefit.distributions.base import Array, Real
from surefit.distributions.univariate import Tallied, moments_of, tally


@dataclass(frozen=True, eq=False, repr=False)
class Laplace(Tallied):
    r""":math:`p(x) = e^{-|x - m| / b} / 2b`, with location m and scale b.

    The maximum-likelihood location is the median, the midpoint of the medians where there are several.

    >>> Laplace.fit([1.0, 2.0, 9.0])
    Laplace(location=2.0, scale=2.6666666666666665)
    """

    location: Real = 0.0
    scale: Positive = 1.0

    def _z(self, x: Array) -> Array:
        return (x - self.location) / self.scale

    def _log_density(self, x: Array) -> Any:
        return -np.abs(self._z(x)) - math.log(2.0 * self.scale)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.laplace(self.location, self.scale, n)

    def _cdf(self, x: Array) -> Any:
        z = self._z(x)
        return np.where(z < 0, np.exp(-np.abs(z)) / 2.0, 1.0 - np.exp(-np.abs(z)) / 2.0)

    def _survival(self, x: Array) -> Any:
        return self._cdf(2.0 * self.location - x)

    def _quantile(self, q: Array) -> Any:
        away = np.log(2.0 * np.minimum(q, 1.0 - q))
        return self.location + self.scale * np.where(q < 0.5, away, -away)

    @property
    def mean(self) -> float:
        """The location."""
        return self.location

    @property
    def variance(self) -> float:
        """2 b^2."""
        return 2.0 * self.scale**2

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
        """6."""
        return 6.0

    def _moment_generating(self, t: Any) -> Any:
        return (
            np.exp(self.location * t) / (1.0 - (self.scale * t) ** 2) if abs(t) * self.scale < 1 else math.inf
        )

    @property
    def entropy(self) -> float:
        """1 + log 2b."""
        return 1.0 + math.log(2.0 * self.scale)

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to another Laplace distribution."""
        away, ratio = abs(self.location - other.location), self.scale / other.scale
        return away / other.scale + ratio * math.exp(-away / self.scale) - 1.0 - math.log(ratio)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        values, share = tally(statistic)
        below = np.cumsum(share)
        # Shares are rounded: a sum this close to one half is one half, and the next value is a median too.
        first = int(np.argmax(below >= 0.5 - 1e-13))
        middle = abs(below[first] - 0.5) <= 1e-13 and first + 1 < len(values)
        location = float(values[first] + values[first + 1]) / 2.0 if middle else float(values[first])
        scale = float(share @ np.abs(values - location))
        if scale <= 0:
            cls._refuse_fit(
                "all values are equal, and the likelihood grows without bound as the scale shrinks"
            )
        return cls(location, scale)

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = moments_of(statistic)
        if variance <= 0:
            cls._refuse_fit("all values are equal")
        return cls(mean, math.sqrt(variance / 2.0))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield the plain one and one far off."""
        yield from (cls(), cls(1e6, 3.0))
