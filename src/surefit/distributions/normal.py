"""The normal distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.errors import ParameterError
from surefit.core.parameters import Positive
from surefit.distributions.base import Array, Distribution, Real, mean_and_spread
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.exponential_family import ExponentialFamily, columns
from surefit.distributions.normal_inverse_gamma import NormalInverseGamma
from surefit.distributions.special import HALF_LOG_2PI
from surefit.distributions.student_t import StudentT
from surefit.distributions.univariate import Univariate


@dataclass(frozen=True, eq=False, repr=False)
class Normal(ExponentialFamily, Conjugate, Univariate):
    r"""The bell curve, :math:`p(x) = e^{-(x - \mu)^2 / 2 \sigma^2} / \sqrt{2 \pi \sigma^2}`.

    mean: :math:`\mu`. scale: :math:`\sigma`, the standard deviation. Its conjugate prior is a
    ``NormalInverseGamma`` of mean and variance, or, where ``scale=`` is known, a ``Normal`` of the mean.

    >>> Normal(mean=1.0, scale=2.0).cdf([1.0, 3.0]).round(4)
    array([0.5   , 0.8413])
    """

    mean: Real = 0.0
    scale: Positive = 1.0

    def _log_density(self, x: Array) -> Any:
        z = (x - self.mean) / self.scale
        return -0.5 * z * z - math.log(self.scale) - HALF_LOG_2PI

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.normal(self.mean, self.scale, n)

    def _cdf(self, x: Array) -> Any:
        from scipy.special import ndtr

        return ndtr((x - self.mean) / self.scale)

    def _survival(self, x: Array) -> Any:
        from scipy.special import ndtr

        return ndtr((self.mean - x) / self.scale)

    def _quantile(self, q: Array) -> Any:
        from scipy.special import ndtri

        return self.mean + self.scale * ndtri(q)

    @property
    def variance(self) -> float:
        """The square of the scale."""
        return self.scale**2

    @property
    def mode(self) -> float:
        """The mean."""
        return self.mean

    @property
    def skewness(self) -> float:
        """0."""
        return 0.0

    @property
    def kurtosis(self) -> float:
        """3."""
        return 3.0

    def _moment_generating(self, t: Any) -> Any:
        return np.exp(t * self.mean + (self.scale * t) ** 2 / 2)

    @property
    def entropy(self) -> float:
        r""":math:`\tfrac12 \log(2 \pi e \sigma^2)`."""
        return 0.5 + HALF_LOG_2PI + math.log(self.scale)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = mean_and_spread(statistic)
        if variance <= 0 and "scale" not in known:
            cls._refuse_fit(
                "all values are equal, and the likelihood grows without bound as the scale shrinks"
            )
        return cls(**{"mean": mean, "scale": math.sqrt(variance), **known})

    _by_moments = _likeliest

    @property
    def natural(self) -> Array:
        """Mean over variance, and -1 / 2 variance."""
        return np.array([self.mean / self.variance, -0.5 / self.variance])

    def with_natural(self, natural: Any) -> Self:
        """Return the normal distribution with these natural parameters."""
        return type(self)(float(-0.5 * natural[0] / natural[1]), math.sqrt(-0.5 / natural[1]))

    def sufficient(self, x: Any) -> Array:
        """Return x and its square."""
        x = np.asarray(x, dtype=np.float64)
        return columns(x, x * x)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`-\eta_1^2 / 4 \eta_2 - \tfrac12 \log(-\eta_2 / \pi)`."""
        one, two = natural
        pi = 4 * np.arctan(np.ones((), dtype=np.asarray(natural).dtype))
        return -one * one / (4 * two) - np.log(-two / pi) / 2

    @property
    def mean_sufficient(self) -> Array:
        """Mean, and mean square."""
        return np.array([self.mean, self.mean**2 + self.variance])

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to another normal distribution."""
        self._check_family(other)
        ratio, shift = self.scale / other.scale, (self.mean - other.mean) / other.scale
        return 0.5 * (shift**2 + (ratio - 1.0) * (ratio + 1.0)) - math.log(ratio)

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return NormalInverseGamma, Normal

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        n, m = float(statistic.weight[0]), float(statistic.mean[0])
        if isinstance(prior, NormalInverseGamma):
            total = prior.strength + n
            shift = m - prior.location
            return NormalInverseGamma(
                prior.location + shift * n / total,
                total,
                prior.shape + n / 2,
                prior.scale + float(statistic.scatter[0]) / 2 + prior.strength * n / total * shift**2 / 2,
            )
        precision, data = 1.0 / prior.variance, n / cls.given(0.0, **known).variance
        share = data / (precision + data)
        return Normal(prior.mean + share * (m - prior.mean), (precision + data) ** -0.5)

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        if isinstance(prior, NormalInverseGamma):
            spread = prior.scale / prior.shape * (1.0 + 1.0 / prior.strength)
            return StudentT(2.0 * prior.shape, prior.location, math.sqrt(spread))
        return Normal(prior.mean, math.hypot(prior.scale, cls.given(0.0, **known).scale))

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution of a (mean, variance), or of a mean where the scale is known."""
        if np.ndim(parameter) == 0:
            if "scale" not in known:
                raise ParameterError("Normal: a normal prior of the mean needs the known scale=: give it.")
            return cls(float(parameter), **known)
        return cls(float(parameter[0]), math.sqrt(float(parameter[1])))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield the standard one, one far off, and extreme scales."""
        yield from (cls(), cls(1e6, 2.0), cls(-3e-12, 1e-12), cls(3.0, 1e12))
