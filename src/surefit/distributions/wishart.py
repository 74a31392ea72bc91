"""The Wishart distribution of scatter matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Positive
from surefit.distributions.base import Array, Numbers, refuse_parameter
from surefit.distributions.exponential_family import ExponentialFamily
from surefit.distributions.matrices import (
    bartlett,
    definite,
    from_triangle,
    inverse,
    log_determinant,
    log_determinants,
    log_multigamma,
    multidigamma,
    prepare_definite,
    triangle,
)
from surefit.distributions.multivariate import Multivariate
from surefit.losses.root_finding import increasing_root


@dataclass(frozen=True, eq=False, repr=False)
class Wishart(ExponentialFamily, Multivariate):
    r"""Scatter of normal vectors: :math:`p(X) \propto |X|^{(n - d - 1) / 2} e^{-tr(V^{-1} X) / 2}`.

    dof: n, the number of vectors, above d - 1 and not necessarily whole. scale: V, their covariance.

    >>> Wishart(dof=3.0, scale=[[2.0]]).mean.tolist()
    [[6.0]]
    """

    dimensions = 2

    dof: Positive = 1.0
    scale: Numbers = ((1.0,),)

    def _prepare(self) -> None:
        prepare_definite(self, "scale")
        if self.dof <= len(self.scale) - 1:
            refuse_parameter(self, "dof", f"it must be above {len(self.scale) - 1}, the dimension less 1")

    @property
    def event_shape(self) -> tuple[int, ...]:
        """(d, d)."""
        return tuple(self.scale.shape)

    def _inside(self, x: Array) -> Any:
        return definite(x)

    def _log_density(self, x: Array) -> Any:
        d = len(self.scale)
        trace = np.trace(np.linalg.solve(self.scale, x), axis1=-2, axis2=-1)
        return (
            (self.dof - d - 1.0) / 2.0 * log_determinants(x) - trace / 2.0 - self.log_partition(self.natural)
        )

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        half = np.linalg.cholesky(self.scale) @ bartlett(rng, n, self.dof, len(self.scale))
        return half @ np.swapaxes(half, 1, 2)

    @property
    def mean(self) -> Array:
        """n V."""
        return np.asarray(self.dof * self.scale)

    @property
    def variance(self) -> Array:
        """n (V_ij^2 + V_ii V_jj)."""
        diagonal = np.diagonal(self.scale)
        return np.asarray(self.dof * (self.scale**2 + np.multiply.outer(diagonal, diagonal)))

    @property
    def mode(self) -> Array:
        """(n - d - 1) V; NaN unless n >= d + 1."""
        free = self.dof - len(self.scale) - 1.0
        return np.asarray((free if free >= 0 else math.nan) * self.scale)

    @classmethod
    def _rows(cls, x: Any, **known: Any) -> Array:
        rows = super()._rows(x)
        good = definite(rows)
        if not good.all():
            cls._refuse_value(rows, int(np.argmin(good)), "symmetric positive definite matrices")
        return rows

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        return np.hstack([triangle(rows), log_determinants(rows)[:, None], np.diagonal(rows, 0, 1, 2)])

    @classmethod
    def _mean_matrix(cls, statistic: Any) -> tuple[Array, int, int]:
        width = len(statistic.mean)
        d = round((math.sqrt(9.0 + 8.0 * (width - 1)) - 3.0) / 2.0)
        size = d * (d + 1) // 2
        return from_triangle(statistic.mean[:size], d), d, size

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        mean, d, size = cls._mean_matrix(statistic)
        dof = likeliest_dof(log_determinant(mean) - float(statistic.mean[size]), d)
        if dof is None:
            cls._refuse_fit("all matrices are equal")
        return cls(dof, mean / dof)

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, d, size = cls._mean_matrix(statistic)
        # The variance of a diagonal entry is 2 mean^2 / n.
        spread = float((statistic.variance[size + 1 :] / np.diagonal(mean) ** 2).mean())
        if not 0 < spread < 2.0 / max(d - 1, 1e-300):
            cls._refuse_fit("no Wishart distribution has this mean and variance")
        return cls(2.0 / spread, mean * spread / 2.0)

    @property
    def natural(self) -> Array:
        """The upper triangle of half the inverse scale, negated, twice off-diagonal; (n - d - 1) / 2."""
        return np.append(triangle(-0.5 * inverse(self.scale), 2.0), (self.dof - len(self.scale) - 1.0) / 2.0)

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        d = len(self.scale)
        return type(self)(
            float(2.0 * natural[-1] + d + 1.0), inverse(-2.0 * from_triangle(natural[:-1], d, 2.0))
        )

    def sufficient(self, x: Any) -> Array:
        """Return the upper triangle of X, and log |X|."""
        x = np.asarray(x, dtype=np.float64)
        return np.concatenate([triangle(x), log_determinants(x)[..., None]], axis=-1)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\tfrac n2 \log |2 V| + \log \Gamma_d(n / 2)`."""
        d = len(self.scale)
        half = float(natural[-1]) + (d + 1.0) / 2.0
        precision = -2.0 * from_triangle(natural[:-1], d, 2.0)
        return half * (d * math.log(2.0) - log_determinant(precision)) + log_multigamma(half, d)

    @property
    def mean_sufficient(self) -> Array:
        """The means of the entries and of log |X|."""
        d = len(self.scale)
        mean_log = log_determinant(self.scale) + d * math.log(2.0) + multidigamma(self.dof / 2.0, d)
        return np.append(triangle(self.mean), mean_log)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield two dimensions and one."""
        yield from (cls(5.5, ((1.0, 0.4), (0.4, 0.8))), cls(7.0, ((2.0,),)))


def likeliest_dof(gap: float, size: int) -> float | None:
    r"""Return the n with :math:`d \log \tfrac n2 - \psi_d(\tfrac n2)` = log |mean| less the mean log |X|."""
    from scipy.special import digamma, polygamma

    if gap <= 0:
        return None
    steps = np.arange(size) / 2.0

    def rising(log_free: Array) -> tuple[Array, Array]:
        free = np.exp(log_free)[:, None]
        half = (free + size - 1.0) / 2.0
        value = digamma(half - steps).sum(axis=1) - size * np.log(half[:, 0]) + gap
        slope = polygamma(1, half - steps).sum(axis=1) - size / half[:, 0]
        return value, slope * free[:, 0] / 2.0

    return float(np.exp(increasing_root(rising, np.zeros(1))[0])) + size - 1.0
