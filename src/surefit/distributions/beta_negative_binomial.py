"""The beta negative binomial distribution: failures of a coin drawn from a beta distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.errors import RefusalError
from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array
from surefit.distributions.likelihood_newton import climb
from surefit.distributions.special import log_beta
from surefit.distributions.univariate import Tallied, moments_of, tally

_TERMS = 2**24


@dataclass(frozen=True, eq=False, repr=False)
class BetaNegativeBinomial(Tallied):
    r""":math:`P(x) = \frac{\Gamma(r + x)}{x!\, \Gamma(r)} B(r + \alpha, x + \beta) / B(\alpha, \beta)`.

    size: r, which ``fit`` must be told. The tail falls as a power :math:`x^{-\alpha}` only.

    >>> BetaNegativeBinomial(size=1.0, alpha=2.0, beta=1.0).density([0, 1]).round(6)
    array([0.666667, 0.166667])
    """

    discrete = True
    known = ("size",)

    size: Positive = 1.0
    alpha: Positive = 3.0
    beta: Positive = 1.0

    @property
    def support(self) -> Interval:
        """0, 1, 2 and so on."""
        return Interval(0, None)

    def _log_density(self, x: Array) -> Any:
        r, a, b = self.size, self.alpha, self.beta
        ways = -np.log(r + x) - log_beta(r, x + 1.0)
        return ways + log_beta(r + a, x + b) - log_beta(a, b)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.negative_binomial(self.size, rng.beta(self.alpha, self.beta, n)).astype(np.float64)

    def _cdf(self, x: Array) -> Any:
        last = float(x.max(initial=0.0))
        if last > _TERMS:
            raise RefusalError(f"the tail of {self!r} beyond {_TERMS} is too long to sum: use a sample.")
        return np.cumsum(self.density(np.arange(last + 1.0)))[x.astype(np.int64)]

    @property
    def mean(self) -> float:
        """r beta / (alpha - 1); inf unless alpha > 1."""
        return self.size * self.beta / (self.alpha - 1.0) if self.alpha > 1 else math.inf

    @property
    def variance(self) -> float:
        """The variance; inf unless alpha > 2."""
        r, a, b = self.size, self.alpha, self.beta
        if a <= 2:
            return math.inf
        return r * (a + r - 1.0) * b * (a + b - 1.0) / ((a - 2.0) * (a - 1.0) ** 2)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        from scipy.special import digamma

        r = known["size"]
        values, share = tally(statistic)
        mean = moments_of(statistic)[0]

        def likelihood(logs: Array) -> tuple[float, Array]:
            a, b = np.exp(logs)
            value = share @ (log_beta(r + a, values + b) - log_beta(a, b))
            common = digamma(a + b) - share @ digamma(r + a + values + b)
            by_a = digamma(r + a) - digamma(a) + common
            by_b = share @ digamma(values + b) - digamma(b) + common
            return float(value), np.array([a * by_a, b * by_b])

        start = np.log([3.0, max(2.0 * mean / r, 1e-3)])
        a, b = np.exp(climb(likelihood, start, f"the likelihood of a {cls.__name__}"))
        return cls(r, float(a), float(b))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        # With b = m (a - 1) / r: variance = m (a + r - 1)(m + r) / (r (a - 2)).
        r = known["size"]
        mean, variance = moments_of(statistic)
        plain = mean * (mean + r) / r
        if not variance > plain > 0:
            cls._refuse_fit("the values vary no more than negative binomial ones")
        a = 2.0 + (r + 1.0) / (variance / plain - 1.0)
        return cls(r, a, mean * (a - 1.0) / r)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield tails whose moments exist."""
        yield from (cls(2.0, 9.0, 3.0), cls(1.0, 12.0, 20.0))
