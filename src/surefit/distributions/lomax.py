"""The Lomax distribution: waiting times whose rate is drawn from a gamma distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array
from surefit.distributions.likelihood_newton import climb
from surefit.distributions.univariate import Tallied, moments_of, tally


@dataclass(frozen=True, eq=False, repr=False)
class Lomax(Tallied):
    r"""A ``Pareto`` tail that starts at 0: :math:`p(x) = (a / b)(1 + x / b)^{-a - 1}` for x >= 0.

    >>> Lomax(shape=2.0, scale=1.0).survival(1.0)
    np.float64(0.25)
    """

    shape: Positive = 1.0
    scale: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers from 0 on."""
        return Interval(0, None)

    def _log_density(self, x: Array) -> Any:
        return math.log(self.shape / self.scale) - (self.shape + 1.0) * np.log1p(x / self.scale)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return self.scale * rng.pareto(self.shape, n)

    def _cdf(self, x: Array) -> Any:
        return -np.expm1(-self.shape * np.log1p(x / self.scale))

    def _survival(self, x: Array) -> Any:
        return np.exp(-self.shape * np.log1p(x / self.scale))

    def _quantile(self, q: Array) -> Any:
        return self.scale * np.expm1(-np.log1p(-q) / self.shape)

    @property
    def mean(self) -> float:
        """b / (a - 1); inf unless a > 1."""
        return self.scale / (self.shape - 1.0) if self.shape > 1 else math.inf

    @property
    def variance(self) -> float:
        """The square of the mean times a / (a - 2); inf unless a > 2."""
        return self.mean**2 * self.shape / (self.shape - 2.0) if self.shape > 2 else math.inf

    @property
    def mode(self) -> float:
        """0."""
        return 0.0

    @property
    def skewness(self) -> float:
        """That of the ``Pareto`` distribution; NaN unless a > 3."""
        a = self.shape
        return 2.0 * (1.0 + a) / (a - 3.0) * math.sqrt((a - 2.0) / a) if a > 3 else math.nan

    @property
    def kurtosis(self) -> float:
        """That of the ``Pareto`` distribution; NaN unless a > 4."""
        a = self.shape
        if a <= 4:
            return math.nan
        return 3.0 + 6.0 * (a**3 + a**2 - 6.0 * a - 2.0) / (a * (a - 3.0) * (a - 4.0))

    @property
    def entropy(self) -> float:
        """1 + 1 / a - log(a / b)."""
        return 1.0 + 1.0 / self.shape - math.log(self.shape / self.scale)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        values, share = tally(statistic)
        mean, variance = moments_of(statistic)
        if variance <= mean**2:
            cls._refuse_fit(
                "the values vary no more than exponential ones, so the estimate tends to the exponential "
                "limit"
            )
        ratio = variance / mean**2
        first = 2.0 * ratio / (ratio - 1.0)

        def likelihood(logs: Array) -> tuple[float, Array]:
            a, b = np.exp(logs)
            y = values / (b * mean)
            far = float(share @ np.log1p(y))
            value = logs[0] - logs[1] - (a + 1.0) * far
            return float(value), np.array([1.0 - a * far, -1.0 + (a + 1.0) * (share @ (y / (1.0 + y)))])

        a, b = np.exp(climb(likelihood, np.log([first, first - 1.0]), f"the likelihood of a {cls.__name__}"))
        return cls(float(a), float(b * mean))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = moments_of(statistic)
        if variance <= mean**2:
            cls._refuse_fit(
                "the values vary no more than exponential ones, so the estimate tends to the exponential "
                "limit"
            )
        shape = 2.0 * variance / (variance - mean**2)
        return cls(shape, mean * (shape - 1.0))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield tails with and without moments."""
        yield from (cls(5.0, 2.0), cls(1.5, 1e3))
