"""The beta-binomial distribution: tosses of a coin drawn from a beta distribution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive, WholeNumber
from surefit.distributions.base import Array
from surefit.distributions.likelihood_newton import climb
from surefit.distributions.special import log_beta, log_binomial
from surefit.distributions.univariate import Tallied, moments_of, tally


@dataclass(frozen=True, eq=False, repr=False)
class BetaBinomial(Tallied):
    r""":math:`P(x) = \binom{n}{x} B(x + \alpha, n - x + \beta) / B(\alpha, \beta)`; ``fit`` must be told n.

    >>> BetaBinomial(trials=2, alpha=1.0, beta=1.0).density([0, 1, 2]).round(6)
    array([0.333333, 0.333333, 0.333333])
    """

    discrete = True
    known = ("trials",)

    trials: WholeNumber = 1
    alpha: Positive = 1.0
    beta: Positive = 1.0

    @property
    def support(self) -> Interval:
        """0 to the number of trials."""
        return Interval(0, self.trials)

    def _log_density(self, x: Array) -> Any:
        n, a, b = self.trials, self.alpha, self.beta
        return log_binomial(n, x) + log_beta(x + a, n - x + b) - log_beta(a, b)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.binomial(self.trials, rng.beta(self.alpha, self.beta, n)).astype(np.float64)

    def _cdf(self, x: Array) -> Any:
        return np.cumsum(self.density(np.arange(self.trials + 1.0)))[x.astype(np.int64)]

    def _survival(self, x: Array) -> Any:
        above = np.cumsum(self.density(np.arange(self.trials, 0.0, -1.0)))[::-1]
        return np.append(above, 0.0)[x.astype(np.int64)]

    @property
    def mean(self) -> float:
        """n alpha / (alpha + beta)."""
        return self.trials * self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> float:
        """n p (1 - p)(alpha + beta + n) / (alpha + beta + 1)."""
        total = self.alpha + self.beta
        share = self.alpha / total
        return self.trials * share * (1.0 - share) * (total + self.trials) / (total + 1.0)

    @property
    def mode(self) -> float:
        """The likeliest number, the least of several."""
        return float(np.argmax(self.log_density(np.arange(self.trials + 1.0))))

    @property
    def skewness(self) -> float:
        """The third standardised moment, summed."""
        return float(self.expectation(lambda x: (x - self.mean) ** 3) / self.variance**1.5)

    @property
    def kurtosis(self) -> float:
        """The fourth standardised moment, summed."""
        return float(self.expectation(lambda x: (x - self.mean) ** 4) / self.variance**2)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        from scipy.special import digamma

        n = known["trials"]
        first = cls._by_moments(statistic, **known)
        values, share = tally(statistic)

        def likelihood(logs: Array) -> tuple[float, Array]:
            a, b = np.exp(logs)
            value = share @ (log_beta(values + a, n - values + b) - log_beta(a, b))
            common = digamma(a + b) - digamma(n + a + b)
            by_a = share @ digamma(values + a) - digamma(a) + common
            by_b = share @ digamma(n - values + b) - digamma(b) + common
            return float(value), np.array([a * by_a, b * by_b])

        start = np.log([first.alpha, first.beta])
        a, b = np.exp(climb(likelihood, start, f"the likelihood of a {cls.__name__}"))
        return cls(n, float(a), float(b))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        n = known["trials"]
        mean, variance = moments_of(statistic)
        share = mean / n if n else 0.0
        plain = n * share * (1.0 - share)
        # The variance is plain (1 + (n - 1) / (total + 1)).
        excess = variance / plain - 1.0 if plain > 0 else 0.0
        if n < 2 or not 0 < excess < n - 1:
            cls._refuse_fit("the values vary no more than binomial ones, or all lie at the two ends")
        total = (n - 1) / excess - 1.0
        return cls(n, share * total, (1.0 - share) * total)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield one with a hill, and one with two ends."""
        yield from (cls(12, 2.0, 3.0), cls(20, 0.6, 0.8))
