"""The inverse Wishart distribution of covariance matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Positive
from surefit.distributions.base import Array, Numbers
from surefit.distributions.matrices import (
    bartlett,
    from_triangle,
    inverse,
    log_determinant,
    log_determinants,
    log_multigamma,
    multidigamma,
    triangle,
)
from surefit.distributions.wishart import Wishart, likeliest_dof


@dataclass(frozen=True, eq=False, repr=False)
class InverseWishart(Wishart):
    r"""The inverse of a ``Wishart``: :math:`p(X) \propto |X|^{-(n + d + 1) / 2} e^{-tr(\Psi X^{-1}) / 2}`.

    dof: n, above d - 1. scale: :math:`\Psi`.

    >>> InverseWishart(dof=4.0, scale=[[6.0]]).mean.tolist()
    [[3.0]]
    """

    dof: Positive = 1.0
    scale: Numbers = ((1.0,),)

    @property
    def _inner(self) -> Any:
        return self.scale

    def _log_density(self, x: Array) -> Any:
        d = len(self.scale)
        trace = np.trace(np.linalg.solve(x, np.broadcast_to(self.scale, x.shape)), axis1=-2, axis2=-1)
        return (
            -(self.dof + d + 1.0) / 2.0 * log_determinants(x) - trace / 2.0 - self.log_partition(self.natural)
        )

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        upper = np.broadcast_to(np.linalg.cholesky(self.scale).T, (n, *self.scale.shape))
        half = np.linalg.solve(bartlett(rng, n, self.dof, len(self.scale)), upper)
        return np.swapaxes(half, 1, 2) @ half

    @property
    def mean(self) -> Array:
        """Psi / (n - d - 1); inf unless n > d + 1."""
        free = self.dof - len(self.scale) - 1.0
        return np.asarray(self.scale / free if free > 0 else np.full(self.scale.shape, np.inf))

    @property
    def variance(self) -> Array:
        """The variance of each entry; inf unless n > d + 3."""
        free = self.dof - len(self.scale)
        if free <= 3:
            return np.full(self.scale.shape, np.inf)
        diagonal = np.diagonal(self.scale)
        above = (free + 1.0) * self.scale**2 + (free - 1.0) * np.multiply.outer(diagonal, diagonal)
        return np.asarray(above / (free * (free - 1.0) ** 2 * (free - 3.0)))

    @property
    def mode(self) -> Array:
        """Psi / (n + d + 1)."""
        return np.asarray(self.scale / (self.dof + len(self.scale) + 1.0))

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        inverses = np.linalg.inv(rows)
        parts = [triangle(inverses), -log_determinants(rows)[:, None], np.diagonal(rows, 0, 1, 2)]
        return np.hstack([*parts, triangle(rows)])

    @classmethod
    def _mean_matrix(cls, statistic: Any) -> tuple[Array, int, int]:
        d = round(math.sqrt(len(statistic.mean)) - 1.0)
        size = d * (d + 1) // 2
        return from_triangle(statistic.mean[:size], d), d, size

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        mean, d, size = cls._mean_matrix(statistic)
        dof = likeliest_dof(log_determinant(mean) - float(statistic.mean[size]), d)
        if dof is None:
            cls._refuse_fit("all matrices are equal")
        return cls(dof, inverse(mean / dof))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        _, d, size = cls._mean_matrix(statistic)
        mean = from_triangle(statistic.mean[size + 1 + d :], d)
        # The variance of a diagonal entry is 2 mean^2 / (n - d - 3).
        spread = float((statistic.variance[size + 1 : size + 1 + d] / np.diagonal(mean) ** 2).mean())
        if not spread > 0:
            cls._refuse_fit("all matrices are equal")
        free = 2.0 / spread + 2.0
        return cls(free + d + 1.0, mean * free)

    @property
    def natural(self) -> Array:
        """The upper triangle of half the scale, negated, twice off-diagonal; -(n + d + 1) / 2."""
        return np.append(triangle(-0.5 * self.scale, 2.0), -(self.dof + len(self.scale) + 1.0) / 2.0)

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        d = len(self.scale)
        return type(self)(float(-2.0 * natural[-1] - d - 1.0), -2.0 * from_triangle(natural[:-1], d, 2.0))

    def sufficient(self, x: Any) -> Array:
        """Return the upper triangle of the inverse, and log |X|."""
        x = np.asarray(x, dtype=np.float64)
        return np.concatenate([triangle(np.linalg.inv(x)), log_determinants(x)[..., None]], axis=-1)

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`-\tfrac n2 \log |\Psi / 2| + \log \Gamma_d(n / 2)`."""
        d = len(self.scale)
        half = -float(natural[-1]) - (d + 1.0) / 2.0
        scale = -2.0 * from_triangle(natural[:-1], d, 2.0)
        return half * (d * math.log(2.0) - log_determinant(scale)) + log_multigamma(half, d)

    @property
    def mean_sufficient(self) -> Array:
        """The means of the inverse's entries and of log |X|."""
        d = len(self.scale)
        mean_log = log_determinant(self.scale) - d * math.log(2.0) - multidigamma(self.dof / 2.0, d)
        return np.append(triangle(self.dof * inverse(self.scale)), mean_log)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield two dimensions and one."""
        yield from (cls(9.5, ((1.0, 0.4), (0.4, 0.8))), cls(8.0, ((2.0,),)))
