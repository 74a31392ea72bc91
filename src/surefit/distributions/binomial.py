"""The binomial distribution: how many of n tosses show 1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Fraction, Interval, WholeNumber
from surefit.distributions.base import Array, Distribution
from surefit.distributions.bernoulli import Bernoulli
from surefit.distributions.beta import Beta
from surefit.distributions.beta_binomial import BetaBinomial
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.special import binomial_log, log_binomial
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class Binomial(ExponentialFamily, Conjugate, Univariate):
    r""":math:`P(x) = \binom{n}{x} p^x (1 - p)^{n - x}`; ``trials`` is n, and ``fit`` must be told it.

    >>> Binomial(trials=10, probability=0.6).density(6).round(10)
    np.float64(0.250822656)
    """

    discrete = True
    known = ("trials",)

    trials: WholeNumber = 1
    probability: Fraction = 0.5

    @property
    def support(self) -> Interval:
        """0 to the number of trials."""
        return Interval(0, self.trials)

    def _log_density(self, x: Array) -> Any:
        return binomial_log(x, self.trials, self.probability, 1.0 - self.probability)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.binomial(self.trials, self.probability, n).astype(np.float64)

    def _cdf(self, x: Array) -> Any:
        from scipy.special import betaincc

        return betaincc(x + 1.0, self.trials - x, self.probability)

    def _survival(self, x: Array) -> Any:
        from scipy.special import betainc

        return betainc(x + 1.0, self.trials - x, self.probability)

    @property
    def _toss(self) -> Bernoulli:
        return Bernoulli(self.probability)

    @property
    def mean(self) -> float:
        """n p."""
        return self.trials * self.probability

    @property
    def variance(self) -> float:
        """n p (1 - p)."""
        return self.trials * self._toss.variance

    @property
    def mode(self) -> float:
        """The whole part of (n + 1) p."""
        return float(min(math.floor((self.trials + 1) * self.probability), self.trials))

    @property
    def skewness(self) -> float:
        """(1 - 2p) over the standard deviation; NaN without variance."""
        return (1.0 - 2.0 * self.probability) / math.sqrt(self.variance) if self.variance else math.nan

    @property
    def kurtosis(self) -> float:
        """3 + (1 - 6 p (1 - p)) over the variance; NaN without variance."""
        return 3.0 + (1.0 - 6.0 * self._toss.variance) / self.variance if self.variance else math.nan

    def _moment_generating(self, t: Any) -> Any:
        return self._toss.moment_generating(t) ** self.trials

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        trials = known["trials"]
        return cls(trials, float(statistic.mean[0]) / max(trials, 1))

    _by_moments = _likeliest

    @property
    def natural(self) -> Array:
        """The log-odds."""
        return self._toss.natural

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these log-odds."""
        return type(self)(self.trials, self._toss.with_natural(natural).probability)

    def sufficient(self, x: Any) -> Array:
        """Return x."""
        return columns(x)

    def log_base(self, x: Any) -> Any:
        """Return the logarithm of the binomial coefficient."""
        return log_binomial(self.trials, x)

    entropy = Univariate.entropy

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`n \log(1 + e^\eta)`."""
        return self.trials * self._toss.log_partition(natural)

    @property
    def mean_sufficient(self) -> Array:
        """n p."""
        return np.array([self.mean])

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to one of as many trials: n times that of a toss."""
        self._check_family(other)
        return self.trials * self._toss.divergence(other._toss)

    def _check_family(self, other: Distribution) -> None:
        super()._check_family(other)
        if isinstance(other, Binomial) and other.trials != self.trials:
            self._has_no(f"divergence to {other!r}")

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return (Beta,)

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        ones = statistic.weight[0] * statistic.mean[0]
        return Beta(prior.alpha + ones, prior.beta + known["trials"] * statistic.weight[0] - ones)

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        return BetaBinomial(known["trials"], prior.alpha, prior.beta)

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution of a probability."""
        return cls(known["trials"], float(parameter))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield few tosses and many."""
        yield from (cls(10, 0.6), cls(1, 0.2), cls(100_000, 1e-3))
