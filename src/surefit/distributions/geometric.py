"""The geometric distribution: how many failures come before the first success."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval
from surefit.distributions.base import Array, Distribution
from surefit.distributions.beta import Beta
from surefit.distributions.beta_negative_binomial import BetaNegativeBinomial
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.negative_binomial import PositiveFraction
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class Geometric(ExponentialFamily, Conjugate, Univariate):
    r""":math:`P(x) = (1 - p)^x p` for x = 0, 1, ...: a ``NegativeBinomial`` of size 1.

    scipy and numpy count the tosses, which are one more than the failures.

    >>> Geometric(probability=0.5).density([0, 1, 2])
    array([0.5  , 0.25 , 0.125])
    """

    discrete = True

    probability: PositiveFraction = 0.5

    @property
    def support(self) -> Interval:
        """0, 1, 2 and so on."""
        return Interval(0, None)

    def _log_density(self, x: Array) -> Any:
        from scipy.special import xlog1py

        return xlog1py(x, -self.probability) + math.log(self.probability)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.geometric(self.probability, n) - 1.0

    def _cdf(self, x: Array) -> Any:
        return -np.expm1((x + 1.0) * np.log1p(-self.probability))

    def _survival(self, x: Array) -> Any:
        return np.exp((x + 1.0) * np.log1p(-self.probability))

    @property
    def mean(self) -> float:
        """(1 - p) / p."""
        return (1.0 - self.probability) / self.probability

    @property
    def variance(self) -> float:
        """(1 - p) / p^2."""
        return self.mean / self.probability

    @property
    def mode(self) -> float:
        """0."""
        return 0.0

    @property
    def skewness(self) -> float:
        """(2 - p) over the root of 1 - p."""
        return (2.0 - self.probability) / math.sqrt(1.0 - self.probability) if self.mean else math.nan

    @property
    def kurtosis(self) -> float:
        """9 + p^2 / (1 - p)."""
        return 9.0 + self.probability / self.mean if self.mean else math.nan

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        return cls(1.0 / (1.0 + float(statistic.mean[0])))

    _by_moments = _likeliest

    @property
    def natural(self) -> Array:
        """log(1 - p)."""
        return np.array([np.log1p(-self.probability)])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with this log(1 - p)."""
        return type(self)(float(-np.expm1(natural[0])))

    def sufficient(self, x: Any) -> Array:
        """Return x."""
        return columns(x)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`-\log(1 - e^\eta)`."""
        return -np.log(-np.expm1(natural[0]))

    @property
    def mean_sufficient(self) -> Array:
        """The mean."""
        return np.array([self.mean])

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return (Beta,)

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        weight = statistic.weight[0]
        return Beta(prior.alpha + weight, prior.beta + weight * statistic.mean[0])

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        return BetaNegativeBinomial(1.0, prior.alpha, prior.beta)

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution of a probability."""
        return cls(float(parameter))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield short and long waits."""
        yield from (cls(0.3), cls(0.9), cls(1e-3))
