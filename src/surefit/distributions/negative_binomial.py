"""The negative binomial distribution: counts that vary more than Poisson's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array, Distribution
from surefit.distributions.beta import Beta
from surefit.distributions.beta_negative_binomial import BetaNegativeBinomial
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.special import binomial_log, log_beta
from surefit.distributions.univariate import Tallied, Univariate, moments_of, tally
from surefit.losses.root_finding import increasing_root

PositiveFraction = Annotated[float, Interval(0, 1, open_low=True)]


@dataclass(frozen=True, eq=False, repr=False)
class NegativeBinomial(ExponentialFamily, Conjugate, Tallied):
    r"""Failures before success number r: :math:`P(x) = \binom{x + r - 1}{x} p^r (1 - p)^x`, r > 0 any number.

    size: r. With mean m and variance m + a m^2, as a regression has it, r = 1/a and p = 1 / (1 + a m). As an
    exponential family and for a conjugate prior the size counts as known.

    >>> NegativeBinomial.fit([0, 1, 1, 2, 9], size=1.0)
    NegativeBinomial(size=1.0, probability=0.2777777777777778)
    """

    discrete = True

    size: Positive = 1.0
    probability: PositiveFraction = 0.5

    @property
    def support(self) -> Interval:
        """0, 1, 2 and so on."""
        return Interval(0, None)

    def _log_density(self, x: Array) -> Any:
        r, p = self.size, self.probability
        return np.log(r / (r + x)) + binomial_log(np.full(x.shape, r), r + x, p, 1.0 - p)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.negative_binomial(self.size, self.probability, n).astype(np.float64)

    def _cdf(self, x: Array) -> Any:
        from scipy.special import betainc

        return betainc(self.size, x + 1.0, self.probability)

    def _survival(self, x: Array) -> Any:
        from scipy.special import betaincc

        return betaincc(self.size, x + 1.0, self.probability)

    @property
    def mean(self) -> float:
        """r (1 - p) / p."""
        return self.size * (1.0 - self.probability) / self.probability

    @property
    def variance(self) -> float:
        """r (1 - p) / p^2."""
        return self.mean / self.probability

    @property
    def mode(self) -> float:
        """The whole part of (r - 1)(1 - p) / p, or 0."""
        return math.floor(max(self.size - 1.0, 0.0) * (1.0 - self.probability) / self.probability)

    @property
    def skewness(self) -> float:
        """(2 - p) over the root of r (1 - p)."""
        rest = 1.0 - self.probability
        return (1.0 + rest) / math.sqrt(self.size * rest) if rest else math.nan

    @property
    def kurtosis(self) -> float:
        """3 + 6 / r + p^2 / (r (1 - p))."""
        rest = self.size * (1.0 - self.probability)
        return 3.0 + 6.0 / self.size + self.probability**2 / rest if rest else math.nan

    entropy = Univariate.entropy

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        from scipy.special import digamma, polygamma

        mean, variance = moments_of(statistic)
        if "size" in known:
            return cls(known["size"], known["size"] / (known["size"] + mean))
        cls._check_spread(mean, variance)
        values, share = tally(statistic)

        def falling(log_size: Array) -> tuple[Array, Array]:
            r = np.exp(log_size)[:, None]
            slope = (digamma(values + r) - digamma(r)) @ share - np.log1p(mean / r[:, 0])
            bend = (polygamma(1, values + r) - polygamma(1, r)) @ share + mean / (r * (r + mean))[:, 0]
            return -slope, -bend * r[:, 0]

        start = np.log(np.array([mean**2 / (variance - mean)]))
        size = float(np.exp(increasing_root(falling, start)[0]))
        return cls(size, size / (size + mean))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = moments_of(statistic)
        cls._check_spread(mean, variance)
        return cls(mean**2 / (variance - mean), mean / variance)

    @classmethod
    def _check_spread(cls, mean: float, variance: float) -> None:
        if variance <= mean:
            cls._refuse_fit(
                f"the variance {variance:g} is not above the mean {mean:g}, so the estimate tends to the "
                "Poisson limit"
            )

    @property
    def natural(self) -> Array:
        """log(1 - p)."""
        return np.array([np.log1p(-self.probability)])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution of this size and log(1 - p)."""
        return type(self)(self.size, float(-np.expm1(natural[0])))

    def sufficient(self, x: Any) -> Array:
        """Return x."""
        return columns(x)

    def log_base(self, x: Any) -> Any:
        """Return the logarithm of the number of orders."""
        x = np.asarray(x, dtype=np.float64)
        return -np.log(self.size + x) - log_beta(self.size, x + 1.0)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`-r \log(1 - e^\eta)`."""
        return -self.size * np.log(-np.expm1(natural[0]))

    @property
    def mean_sufficient(self) -> Array:
        """The mean."""
        return np.array([self.mean])

    def _check_family(self, other: Distribution) -> None:
        super()._check_family(other)
        if isinstance(other, NegativeBinomial) and other.size != self.size:
            self._has_no(f"divergence to {other!r}")

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return (Beta,)

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        weight, mean = statistic.weight, moments_of(statistic)[0]
        return Beta(prior.alpha + weight * known["size"], prior.beta + weight * mean)

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        return BetaNegativeBinomial(known["size"], prior.alpha, prior.beta)

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution of a probability."""
        return cls(known["size"], float(parameter))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield a size that is no whole number, and one so large that Poisson's is near."""
        yield from (cls(2.5, 0.3), cls(0.3, 0.1), cls(50.0, 0.9))
