"""The normal-inverse-Wishart distribution of a mean vector and a covariance matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Positive
from surefit.distributions.base import Array, Numbers, array_parameter, refuse_parameter
from surefit.distributions.exponential_family import ExponentialFamily
from surefit.distributions.inverse_wishart import InverseWishart
from surefit.distributions.matrices import (
    definite,
    from_triangle,
    log_determinants,
    prepare_definite,
    triangle,
)
from surefit.distributions.multivariate import Multivariate
from surefit.distributions.special import HALF_LOG_2PI


@dataclass(frozen=True, eq=False, repr=False)
class NormalInverseWishart(ExponentialFamily, Multivariate):
    r"""Covariance S from an ``InverseWishart``(dof, scale), then the mean, normal with S / strength.

    A value is a (d + 1, d) matrix: the mean in the first row, the covariance below. The conjugate prior of a
    ``MultivariateNormal``; it is not fitted to data.

    >>> NormalInverseWishart(location=[1.0], strength=2.0, dof=4.0, scale=[[6.0]]).mean.tolist()
    [[1.0], [3.0]]
    """

    dimensions = 2

    location: Numbers = (0.0,)
    strength: Positive = 1.0
    dof: Positive = 1.0
    scale: Numbers = ((1.0,),)

    def _prepare(self) -> None:
        array_parameter(self, "location", 1)
        prepare_definite(self, "scale")
        if self.dof <= len(self.scale) - 1:
            refuse_parameter(self, "dof", f"it must be above {len(self.scale) - 1}, the dimension less 1")
        if self.scale.shape[0] != len(self.location):
            refuse_parameter(
                self,
                "scale",
                (f"it must have a row for each of the {len(self.location)} entries of location"),
            )

    @property
    def event_shape(self) -> tuple[int, ...]:
        """(d + 1, d)."""
        return len(self.location) + 1, len(self.location)

    @property
    def _of_covariance(self) -> InverseWishart:
        return InverseWishart(self.dof, self.scale)

    @property
    def _inner(self) -> Any:
        return np.vstack([self.location, self.scale])

    def _inside(self, x: Array) -> Any:
        return np.isfinite(x).all(axis=(-2, -1)) & definite(np.nan_to_num(x[..., 1:, :]))

    def _log_density(self, x: Array) -> Any:
        d = len(self.location)
        covariance, away = x[..., 1:, :], x[..., 0, :] - self.location
        squared = (np.linalg.solve(covariance, away[..., None])[..., 0] * away).sum(axis=-1)
        bell = d / 2.0 * math.log(self.strength) - d * HALF_LOG_2PI - log_determinants(covariance) / 2.0
        return bell - self.strength / 2.0 * squared + self._of_covariance._log_density(covariance)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        covariance = self._of_covariance._sample(rng, n)
        z = rng.normal(size=(n, len(self.location), 1))
        away = (np.linalg.cholesky(covariance) @ z)[..., 0] / math.sqrt(self.strength)
        return np.concatenate([(self.location + away)[:, None, :], covariance], axis=1)

    @property
    def mean(self) -> Array:
        """The location, and below it the mean covariance."""
        return np.vstack([self.location, self._of_covariance.mean])

    @property
    def variance(self) -> Array:
        """The variance of each entry."""
        covariance = self._of_covariance
        return np.vstack([np.diagonal(covariance.mean) / self.strength, covariance.variance])

    @property
    def mode(self) -> Array:
        """The location, and below it Psi / (n + d + 2)."""
        return np.vstack([self.location, self.scale / (self.dof + len(self.location) + 2.0)])

    @property
    def natural(self) -> Array:
        """The factors of the inverse's upper triangle, of log |S|, of S^-1 m and of m' S^-1 m."""
        m, k, d = self.location, self.strength, len(self.location)
        first = triangle(-0.5 * (self.scale + k * np.multiply.outer(m, m)), 2.0)
        return np.concatenate([first, [-(self.dof + d + 2.0) / 2.0], k * m, [-k / 2.0]])

    def _parts(self, natural: Any) -> tuple[Array, float, float, Array]:
        natural = np.asarray(natural, dtype=np.float64)
        d = len(self.location)
        size = d * (d + 1) // 2
        strength = -2.0 * float(natural[-1])
        location = natural[size + 1 : -1] / strength
        whole = -2.0 * from_triangle(natural[:size], d, 2.0)
        dof = -2.0 * float(natural[size]) - d - 2.0
        return location, strength, dof, whole - strength * np.multiply.outer(location, location)

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        return type(self)(*self._parts(natural))

    def sufficient(self, x: Any) -> Array:
        """Return the inverse's upper triangle, log |S|, S^-1 m and m' S^-1 m."""
        x = np.asarray(x, dtype=np.float64)
        m, covariance = x[..., 0, :], x[..., 1:, :]
        pull = np.linalg.solve(covariance, m[..., None])[..., 0]
        log = log_determinants(covariance)[..., None]
        square = (pull * m).sum(axis=-1)[..., None]
        return np.concatenate([triangle(np.linalg.inv(covariance)), log, pull, square], axis=-1)

    def log_partition(self, natural: Any) -> Any:
        """Return that of the covariance, and of the normal factor."""
        location, strength, dof, scale = self._parts(natural)
        d = len(location)
        covariance = InverseWishart(dof, scale)
        own = covariance.log_partition(covariance.natural)
        return own - d / 2.0 * math.log(strength) + d * HALF_LOG_2PI

    @property
    def mean_sufficient(self) -> Array:
        """The means of those functions."""
        covariance, m, d = self._of_covariance, self.location, len(self.location)
        own = covariance.mean_sufficient
        inverse = from_triangle(own[:-1], d)
        return np.concatenate([own, inverse @ m, [m @ inverse @ m + d / self.strength]])

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield two dimensions and one."""
        yield from (cls((1.0, -1.0), 2.0, 9.0, ((2.0, 0.5), (0.5, 1.0))), cls((0.5,), 4.0, 8.0, ((3.0,),)))
