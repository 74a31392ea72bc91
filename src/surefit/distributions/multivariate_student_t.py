"""Student's t distribution of vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Positive
from surefit.distributions.base import Array, Numbers, array_parameter, refuse_parameter
from surefit.distributions.matrices import prepare_definite, whitened
from surefit.distributions.multivariate import Multivariate
from surefit.distributions.special import log_gamma


@dataclass(frozen=True, eq=False, repr=False)
class MultivariateStudentT(Multivariate):
    r""":math:`p(x) \propto (1 + (x - m)' S^{-1} (x - m) / \nu)^{-(\nu + d) / 2}`, with the scale matrix S.

    What a ``MultivariateNormal`` predicts when its parameters are unknown; it is not fitted to data.

    >>> MultivariateStudentT(dof=4.0, location=[0.0], scale=[[2.0]]).variance.tolist()
    [4.0]
    """

    dof: Positive = 1.0
    location: Numbers = (0.0,)
    scale: Numbers = ((1.0,),)

    def _prepare(self) -> None:
        array_parameter(self, "location", 1)
        prepare_definite(self, "scale")
        if self.scale.shape[0] != len(self.location):
            refuse_parameter(
                self,
                "scale",
                (f"it must have a row for each of the {len(self.location)} entries of location"),
            )

    @property
    def event_shape(self) -> tuple[int, ...]:
        """(d,)."""
        return (len(self.location),)

    @property
    def _inner(self) -> Any:
        return self.location

    def _inside(self, x: Array) -> Any:
        return np.isfinite(x).all(axis=-1)

    def _log_density(self, x: Array) -> Any:
        d, nu = len(self.location), self.dof
        factor = np.linalg.cholesky(self.scale)
        z = whitened(factor, x - self.location)
        gammas = log_gamma((nu + d) / 2.0) - log_gamma(nu / 2.0) - d / 2.0 * math.log(nu * math.pi)
        far = np.log1p((z * z).sum(axis=-1) / nu)
        return gammas - np.log(np.diagonal(factor)).sum() - (nu + d) / 2.0 * far

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        z = rng.normal(size=(n, len(self.location))) @ np.linalg.cholesky(self.scale).T
        return self.location + z * np.sqrt(self.dof / rng.chisquare(self.dof, n))[:, None]

    @property
    def mean(self) -> Array:
        """The location; NaN unless the degrees of freedom are above 1."""
        return np.array(self.location) if self.dof > 1 else np.full(self.event_shape, np.nan)

    @property
    def covariance(self) -> Array:
        """The scale times nu / (nu - 2); inf unless the degrees of freedom are above 2."""
        return np.asarray(self.scale * (self.dof / (self.dof - 2.0) if self.dof > 2 else math.inf))

    @property
    def variance(self) -> Array:
        """The diagonal of the covariance."""
        return np.diagonal(self.covariance)

    @property
    def mode(self) -> Array:
        """The location."""
        return np.array(self.location)

    @property
    def entropy(self) -> float:
        """Minus the expected log-density, in nats."""
        from scipy.special import digamma

        d, nu = len(self.location), self.dof
        bend = (nu + d) / 2.0 * (digamma((nu + d) / 2.0) - digamma(nu / 2.0))
        return float(bend - self.log_density(self.location))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield one and two dimensions."""
        yield from (cls(5.0, (1.0, -1.0), ((2.0, 0.5), (0.5, 1.0))), cls(3.0))
