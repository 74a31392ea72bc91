"""The normal-inverse-gamma distribution of a mean and a variance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Positive
from surefit.distributions.base import Array, Real
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.gamma import likeliest_shape
from surefit.distributions.inverse_gamma import InverseGamma
from surefit.distributions.multivariate import Multivariate
from surefit.distributions.special import HALF_LOG_2PI, log_gamma


@dataclass(frozen=True, eq=False, repr=False)
class NormalInverseGamma(ExponentialFamily, Multivariate):
    r"""Variance v from an ``InverseGamma``(shape, scale), then mean m from a normal of variance v / strength.

    A value is the pair (m, v). The conjugate prior of a ``Normal``; strength counts the rows it is worth.

    >>> NormalInverseGamma(location=1.0, strength=2.0, shape=3.0, scale=4.0).mean.tolist()
    [1.0, 2.0]
    """

    location: Real = 0.0
    strength: Positive = 1.0
    shape: Positive = 1.0
    scale: Positive = 1.0

    @property
    def event_shape(self) -> tuple[int, ...]:
        """(2,)."""
        return (2,)

    @property
    def _inner(self) -> Any:
        return np.array([self.location, 1.0])

    @property
    def _of_variance(self) -> InverseGamma:
        return InverseGamma(self.shape, self.scale)

    def _inside(self, x: Array) -> Any:
        return np.isfinite(x).all(axis=-1) & (x[..., 1] > 0)

    def _log_density(self, x: Array) -> Any:
        m, v = x[..., 0], x[..., 1]
        bell = 0.5 * np.log(self.strength / v) - self.strength * (m - self.location) ** 2 / (2.0 * v)
        return bell - HALF_LOG_2PI + self._of_variance.log_density(v)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        v = self._of_variance._sample(rng, n)
        return columns(rng.normal(self.location, np.sqrt(v / self.strength)), v)

    @property
    def mean(self) -> Array:
        """The location, and scale / (shape - 1)."""
        return np.array([self.location if self.shape > 0.5 else math.nan, self._of_variance.mean])

    @property
    def variance(self) -> Array:
        """The variances of mean and variance."""
        return np.array([self._of_variance.mean / self.strength, self._of_variance.variance])

    @property
    def mode(self) -> Array:
        """The location, and scale / (shape + 3/2)."""
        return np.array([self.location, self.scale / (self.shape + 1.5)])

    @classmethod
    def _rows(cls, x: Any, **known: Any) -> Array:
        rows = super()._rows(x)
        if rows.shape[1] != 2 or not (rows[:, 1] > 0).all():
            row = 0 if rows.shape[1] != 2 else int(np.argmin(rows[:, 1] > 0))
            cls._refuse_value(rows, row, "pairs of a mean and a positive variance")
        return rows

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        m, v = rows.T
        return columns(m, v, 1.0 / v, np.log(v), m / v, m * m / v)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        _, _, inverse, log, ratio, square = (float(value) for value in statistic.mean)
        shape = likeliest_shape(math.log(inverse) + log, float(statistic.scatter[3]))
        rest = square - ratio**2 / inverse
        if shape is None or not rest > 0:
            cls._refuse_fit("all means, or all variances, are equal")
        return cls(ratio / inverse, 1.0 / rest, shape, shape / inverse)

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, spread = statistic.mean, statistic.variance
        if not (spread[:2] > 0).all():
            cls._refuse_fit("all means, or all variances, are equal")
        shape = 2.0 + float(mean[1] ** 2 / spread[1])
        return cls(float(mean[0]), float(mean[1] / spread[0]), shape, float(mean[1]) * (shape - 1.0))

    @property
    def natural(self) -> Array:
        """The factors of 1/v, log v, m/v and m^2/v."""
        m, k = self.location, self.strength
        return np.array([-self.scale - k * m * m / 2.0, -self.shape - 1.5, k * m, -k / 2.0])

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        one, two, three, four = (float(value) for value in natural)
        return type(self)(-three / (2.0 * four), -2.0 * four, -two - 1.5, -one + three**2 / (4.0 * four))

    def sufficient(self, x: Any) -> Array:
        """Return 1/v, log v, m/v and m^2/v."""
        x = np.asarray(x, dtype=np.float64)
        m, v = x[..., 0], x[..., 1]
        return columns(1.0 / v, np.log(v), m / v, m * m / v)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\log \Gamma(a) - a \log b - \tfrac12 \log(k / 2 \pi)`."""
        one, two, three, four = natural
        shape, scale = -two - natural[0] * 0 - 1.5, -one + three * three / (4 * four)
        pi = 4 * np.arctan(natural[0] * 0 + 1)
        return log_gamma(shape) - shape * np.log(scale) - np.log(-four / pi) / 2

    @property
    def mean_sufficient(self) -> Array:
        """The means of 1/v, log v, m/v and m^2/v."""
        log, inverse = self._of_variance.mean_sufficient
        m = self.location
        return np.array([inverse, log, m * inverse, m * m * inverse + 1.0 / self.strength])

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield a usual prior and a strong one."""
        yield from (cls(1.0, 2.0, 3.0, 4.0), cls(-2.0, 30.0, 12.0, 5.0))
