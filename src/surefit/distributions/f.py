"""Fisher's F distribution: the ratio of two mean squares."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.distributions.base import Array
from surefit.distributions.likelihood_newton import climb
from surefit.distributions.special import log_beta
from surefit.distributions.univariate import Tallied, moments_of, tally


@dataclass(frozen=True, eq=False, repr=False)
class F(Tallied):
    r"""The ratio of two independent ``ChiSquared`` numbers, each divided by its degrees of freedom.

    >>> F(dof=1.0, dof_below=10.0).survival(4.964603).round(6)
    np.float64(0.05)
    """

    dof: Positive = 1.0
    dof_below: Positive = 1.0

    @property
    def support(self) -> Interval:
        """Numbers from 0 on."""
        return Interval(0, None)

    def _log_density(self, x: Array) -> Any:
        from scipy.special import xlogy

        a, b = self.dof / 2.0, self.dof_below / 2.0
        ratio = self.dof / self.dof_below
        logs = xlogy(a - 1.0, ratio * x) - (a + b) * np.log1p(ratio * x)
        return logs + math.log(ratio) - log_beta(a, b)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.f(self.dof, self.dof_below, n)

    def _cdf(self, x: Array) -> Any:
        from scipy.special import fdtr

        return fdtr(self.dof, self.dof_below, x)

    def _survival(self, x: Array) -> Any:
        from scipy.special import fdtrc

        return fdtrc(self.dof, self.dof_below, x)

    def _quantile(self, q: Array) -> Any:
        from scipy.special import fdtri

        return fdtri(self.dof, self.dof_below, q)

    @property
    def mean(self) -> float:
        """n / (n - 2) for n degrees of freedom below; inf unless n > 2."""
        n = self.dof_below
        return n / (n - 2.0) if n > 2 else math.inf

    @property
    def variance(self) -> float:
        """2 n^2 (m + n - 2) / (m (n - 2)^2 (n - 4)); inf unless n > 4."""
        m, n = self.dof, self.dof_below
        return 2.0 * self.mean**2 * (m + n - 2.0) / (m * (n - 4.0)) if n > 4 else math.inf

    @property
    def mode(self) -> float:
        """(m - 2) n / (m (n + 2)), or 0."""
        m, n = self.dof, self.dof_below
        return max(m - 2.0, 0.0) * n / (m * (n + 2.0))

    @property
    def skewness(self) -> float:
        """The third standardised moment; NaN unless n > 6."""
        m, n = self.dof, self.dof_below
        if n <= 6:
            return math.nan
        return (2.0 * m + n - 2.0) * math.sqrt(8.0 * (n - 4.0) / (m * (m + n - 2.0))) / (n - 6.0)

    @property
    def kurtosis(self) -> float:
        """The fourth standardised moment; NaN unless n > 8."""
        m, n = self.dof, self.dof_below
        if n <= 8:
            return math.nan
        above = m * (5.0 * n - 22.0) * (m + n - 2.0) + (n - 4.0) * (n - 2.0) ** 2
        return 3.0 + 12.0 * above / (m * (n - 6.0) * (n - 8.0) * (m + n - 2.0))

    @property
    def entropy(self) -> float:
        """Minus the expected log-density, in nats."""
        from scipy.special import digamma

        a, b = self.dof / 2.0, self.dof_below / 2.0
        ends = (1.0 - a) * digamma(a) - (1.0 + b) * digamma(b) + (a + b) * digamma(a + b)
        return float(log_beta(a, b) - math.log(a / b) + ends)

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        return Interval(0, None, open_low=True)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        from scipy.special import digamma

        values, share = tally(statistic)
        logs = np.log(values)
        mean_log = float(share @ logs)

        def likelihood(parameters: Array) -> tuple[float, Array]:
            a, b = np.exp(parameters)
            lean = parameters[0] - parameters[1] + logs  # log(a x / b)
            excess = float(share @ np.logaddexp(0.0, lean))
            part = float(share @ np.exp(lean - np.logaddexp(0.0, lean)))
            middle = parameters[0] - parameters[1] + mean_log
            value = a * middle - mean_log - (a + b) * excess - log_beta(a, b)
            common = digamma(a + b)
            by_a = middle - excess - digamma(a) + common + 1.0 - (a + b) / a * part
            by_b = -excess - digamma(b) + common - a / b + (a + b) / b * part
            return float(value), np.array([a * by_a, b * by_b])

        found = np.exp(climb(likelihood, np.log([2.0, 5.0]), f"the likelihood of an {cls.__name__}"))
        return cls(2.0 * float(found[0]), 2.0 * float(found[1]))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = moments_of(statistic)
        below = 2.0 * mean / (mean - 1.0)
        # variance = 2 mean^2 (m + n - 2) / (m (n - 4)), solved for m
        rest = variance * (below - 4.0) / (2.0 * mean**2) - 1.0
        if not (mean > 1.0 and below > 4.0 and rest > 0):
            cls._refuse_fit("no F distribution has this mean and variance")
        return cls((below - 2.0) / rest, below)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield light and heavy tails."""
        yield from (cls(5.0, 12.0), cls(2.0, 3.0))
