"""The normal distribution of vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.data.batches.batch import Batch
from surefit.distributions.base import Array, Distribution, Numbers, array_parameter, refuse_parameter
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.exponential_family import ExponentialFamily
from surefit.distributions.matrices import (
    from_triangle,
    inverse,
    log_determinant,
    prepare_definite,
    triangle,
    whitened,
)
from surefit.distributions.multivariate import Multivariate
from surefit.distributions.multivariate_student_t import MultivariateStudentT
from surefit.distributions.normal_inverse_wishart import NormalInverseWishart
from surefit.distributions.special import HALF_LOG_2PI
from surefit.stats.base import Statistic
from surefit.stats.moments import Moments


@dataclass(frozen=True, eq=False, repr=False)
class MultivariateNormal(ExponentialFamily, Conjugate, Multivariate):
    r""":math:`p(x) = |2 \pi \Sigma|^{-1/2} e^{-(x - \mu)' \Sigma^{-1} (x - \mu) / 2}`, by a Cholesky factor.

    >>> MultivariateNormal(mean=[0.0, 0.0], covariance=[[1.0, 0.3], [0.3, 0.5]]).density([0, 0]).round(10)
    np.float64(0.2485582619)
    """

    mean: Numbers = (0.0,)
    covariance: Numbers = ((1.0,),)

    def _prepare(self) -> None:
        array_parameter(self, "mean", 1)
        prepare_definite(self, "covariance")
        if self.covariance.shape[0] != len(self.mean):
            refuse_parameter(self, "covariance", f"it must have a row for each of the {len(self.mean)} means")

    @property
    def event_shape(self) -> tuple[int, ...]:
        """(d,)."""
        return (len(self.mean),)

    def _inside(self, x: Array) -> Any:
        return np.isfinite(x).all(axis=-1)

    def _log_density(self, x: Array) -> Any:
        factor = np.linalg.cholesky(self.covariance)
        z = whitened(factor, x - self.mean)
        constant = np.log(np.diagonal(factor)).sum() + HALF_LOG_2PI * len(self.mean)
        return -0.5 * (z * z).sum(axis=-1) - constant

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        factor = np.linalg.cholesky(self.covariance)
        return self.mean + rng.normal(size=(n, len(self.mean))) @ factor.T

    @property
    def variance(self) -> Array:
        """The diagonal of the covariance."""
        return np.diagonal(self.covariance)

    @property
    def mode(self) -> Array:
        """The mean."""
        return np.array(self.mean)

    @property
    def entropy(self) -> float:
        """Half of d log(2 pi e) + log |covariance|."""
        return len(self.mean) * (0.5 + HALF_LOG_2PI) + 0.5 * log_determinant(self.covariance)

    @classmethod
    def _statistic_of(cls, batch: Batch) -> Statistic:
        return Moments.of(batch, target=False)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        covariance = statistic.covariance(ddof=0.0)
        scale = np.sqrt(np.diagonal(covariance))
        correlation = covariance / np.multiply.outer(scale, scale)
        if not (scale > 0).all() or np.linalg.eigvalsh(correlation)[0] <= len(scale) * np.finfo(float).eps:
            cls._refuse_fit("a column is constant or depends on others, and the likelihood has no maximum")
        return cls(statistic.mean_x, covariance)

    _by_moments = _likeliest

    @property
    def _precision(self) -> Array:
        return inverse(self.covariance)

    @property
    def natural(self) -> Array:
        """Precision times mean; the upper triangle of half the precision, negated, twice off-diagonal."""
        return np.append(self._precision @ self.mean, triangle(-0.5 * self._precision, 2.0))

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        d = len(self.mean)
        covariance = inverse(-2.0 * from_triangle(natural[d:], d, 2.0))
        return type(self)(covariance @ np.asarray(natural[:d], dtype=np.float64), covariance)

    def sufficient(self, x: Any) -> Array:
        """Return x, and the products of its entries."""
        x = np.asarray(x, dtype=np.float64)
        return np.concatenate([x, triangle(x[..., :, None] * x[..., None, :])], axis=-1)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\tfrac12 \mu' \Sigma^{-1} \mu + \tfrac12 \log |2 \pi \Sigma|`."""
        d = len(self.mean)
        precision = -2.0 * from_triangle(natural[d:], d, 2.0)
        shift = np.asarray(natural[:d], dtype=np.float64)
        half = 0.5 * shift @ np.linalg.solve(precision, shift)
        return half + d * HALF_LOG_2PI - 0.5 * log_determinant(precision)

    @property
    def mean_sufficient(self) -> Array:
        """The means of the entries and of their products."""
        return np.append(self.mean, triangle(self.covariance + np.multiply.outer(self.mean, self.mean)))

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to another normal distribution."""
        self._check_family(other)
        theirs, ours = (np.linalg.cholesky(one.covariance) for one in (other, self))
        ratio = whitened(theirs, ours.T)  # its squares add up to the trace of the two covariances' ratio
        shift = whitened(theirs, self.mean - other.mean)
        logs = np.log(np.diagonal(theirs) / np.diagonal(ours)).sum()
        return float(0.5 * ((ratio * ratio).sum() - len(shift) + shift @ shift) + logs)

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return (NormalInverseWishart,)

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        n, total = statistic.weight, prior.strength + statistic.weight
        shift = statistic.mean_x - prior.location
        between = prior.strength * n / total * np.multiply.outer(shift, shift)
        return NormalInverseWishart(
            prior.location + shift * n / total, total, prior.dof + n, prior.scale + statistic.gram + between
        )

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        dof = prior.dof - len(prior.location) + 1.0
        return MultivariateStudentT(dof, prior.location, prior.scale * (1.0 + 1.0 / prior.strength) / dof)

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution of a mean, in the first row, and a covariance below it."""
        return cls(parameter[0], parameter[1:])

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield two dimensions, one, and three of very different scales far off."""
        yield from (cls((0.0, 0.0), ((1.0, 0.3), (0.3, 0.5))), cls((3.0,), ((4.0,),)))
        scale = np.array([1e-6, 1.0, 1e6])
        correlation = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, -0.7], [0.0, -0.7, 1.0]])
        yield cls((0.0, 10.0, 1e6), correlation * np.multiply.outer(scale, scale))
