"""The Dirichlet distribution of shares that add up to 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.distributions.base import Array, Numbers, array_parameter, refuse_parameter
from surefit.distributions.exponential_family import ExponentialFamily
from surefit.distributions.likelihood_newton import climb
from surefit.distributions.multivariate import Multivariate
from surefit.distributions.special import log_gamma

_ROUNDING = 1e-9  # how far the shares of a value may be from adding up to 1


@dataclass(frozen=True, eq=False, repr=False)
class Dirichlet(ExponentialFamily, Multivariate):
    r""":math:`p(x) = \Gamma(\sum a_k) \prod_k x_k^{a_k - 1} / \Gamma(a_k)` on the simplex.

    The density is taken over all coordinates but the last.

    >>> Dirichlet(concentration=[1.0, 2.0, 1.0]).mean.tolist()
    [0.25, 0.5, 0.25]
    """

    concentration: Numbers = (1.0, 1.0)

    def _prepare(self) -> None:
        if (array_parameter(self, "concentration", 1) <= 0).any() or len(self.concentration) < 2:
            refuse_parameter(self, "concentration", "it must hold two or more positive numbers")

    @property
    def event_shape(self) -> tuple[int, ...]:
        """(K,)."""
        return (len(self.concentration),)

    @property
    def total(self) -> float:
        """The sum of the concentration."""
        return float(self.concentration.sum())

    def _inside(self, x: Array) -> Any:
        return (x >= 0).all(axis=-1) & (np.abs(x.sum(axis=-1) - 1.0) <= _ROUNDING)

    def _log_density(self, x: Array) -> Any:
        from scipy.special import xlogy

        return xlogy(self.concentration - 1.0, x).sum(axis=-1) - self.log_partition(self.concentration)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.dirichlet(self.concentration, n)

    @property
    def mean(self) -> Array:
        """The concentration over its sum."""
        return np.asarray(self.concentration / self.total)

    @property
    def covariance(self) -> Array:
        """(diag(m) - m m') / (total + 1) for the mean m."""
        return (np.diag(self.mean) - np.multiply.outer(self.mean, self.mean)) / (self.total + 1.0)

    @property
    def variance(self) -> Array:
        """m (1 - m) / (total + 1) for the mean m."""
        return np.diagonal(self.covariance)

    @property
    def mode(self) -> Array:
        """(a - 1) over its sum; NaN unless every a is above 1."""
        above = self.concentration - 1.0
        return above / above.sum() if (above > 0).all() else np.full(self.event_shape, np.nan)

    @classmethod
    def _rows(cls, x: Any, **known: Any) -> Array:
        rows = super()._rows(x)
        bad = (rows <= 0).any(axis=1) | (np.abs(rows.sum(axis=1) - 1.0) > _ROUNDING)
        if bad.any():
            cls._refuse_value(rows, int(np.argmax(bad)), "positive shares that add up to 1")
        return rows

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        return np.hstack([rows, np.log(rows)])

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        from scipy.special import digamma

        first = cls._by_moments(statistic)
        logs = statistic.mean[len(first.concentration) :]

        def likelihood(parameters: Array) -> tuple[float, Array]:
            a = np.exp(parameters)
            value = a @ logs - log_gamma(a).sum() + log_gamma(a.sum())
            return float(value), a * (logs + digamma(a.sum()) - digamma(a))

        return cls(
            np.exp(climb(likelihood, np.log(first.concentration), f"the likelihood of a {cls.__name__}"))
        )

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        size = len(statistic.mean) // 2
        mean, variance = statistic.mean[:size], statistic.variance[:size]
        if variance.sum() <= 0:
            cls._refuse_fit("all rows are equal")
        return cls(mean * ((mean * (1.0 - mean)).sum() / variance.sum() - 1.0))

    @property
    def natural(self) -> Array:
        """The concentration."""
        return np.array(self.concentration)

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with this concentration."""
        return type(self)(np.asarray(natural, dtype=np.float64))

    def sufficient(self, x: Any) -> Array:
        """Return the logarithms of the shares."""
        return np.asarray(np.log(x))

    def log_base(self, x: Any) -> Any:
        """Return minus the sum of the logarithms."""
        return -np.log(x).sum(axis=-1)

    @property
    def mean_log_base(self) -> float:
        """The expected sum of logarithms, negated."""
        return -float(self.mean_sufficient.sum())

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\sum \log \Gamma(a_k) - \log \Gamma(\sum a_k)`."""
        return log_gamma(natural).sum() - log_gamma(natural.sum())

    @property
    def mean_sufficient(self) -> Array:
        """The means of the logarithms."""
        from scipy.special import digamma

        return np.asarray(digamma(self.concentration) - digamma(self.total))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield flat, hill and corners."""
        yield from (cls((1.0, 1.0)), cls((8.0, 2.0, 4.0)), cls((0.7, 0.9, 0.8, 3.0)))
