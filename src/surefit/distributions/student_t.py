"""Student's t distribution: a bell with heavy tails."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Positive
from surefit.distributions.base import Array, Real
from surefit.distributions.likelihood_newton import climb
from surefit.distributions.special import log_beta
from surefit.distributions.univariate import Tallied, moments_of, tally


@dataclass(frozen=True, eq=False, repr=False)
class StudentT(Tallied):
    r""":math:`p(x) \propto (1 + z^2 / \nu)^{-(\nu + 1) / 2}` with :math:`z = (x - m) / s`.

    dof: :math:`\nu`, 1 for Cauchy's distribution. ``fit`` finds it, or takes it as known by ``dof=``.

    >>> StudentT(dof=1.0).density(0.0).round(6)
    np.float64(0.31831)
    """

    dof: Positive = 1.0
    location: Real = 0.0
    scale: Positive = 1.0

    def _z(self, x: Array) -> Array:
        return (x - self.location) / self.scale

    def _log_density(self, x: Array) -> Any:
        nu, z = self.dof, self._z(x)
        constant = 0.5 * math.log(nu) + math.log(self.scale) + log_beta(nu / 2.0, 0.5)
        return -0.5 * (nu + 1.0) * np.log1p(z * z / nu) - constant

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return self.location + self.scale * rng.standard_t(self.dof, n)

    def _cdf(self, x: Array) -> Any:
        from scipy.special import stdtr

        return stdtr(self.dof, self._z(x))

    def _survival(self, x: Array) -> Any:
        from scipy.special import stdtr

        return stdtr(self.dof, -self._z(x))

    def _quantile(self, q: Array) -> Any:
        from scipy.special import stdtrit

        return self.location + self.scale * stdtrit(self.dof, q)

    @property
    def mean(self) -> float:
        """The location; NaN unless the degrees of freedom are above 1."""
        return self.location if self.dof > 1 else math.nan

    @property
    def variance(self) -> float:
        """s^2 nu / (nu - 2); inf up to 2 degrees of freedom, NaN up to 1."""
        if self.dof > 2:
            return self.scale**2 * self.dof / (self.dof - 2.0)
        return math.inf if self.dof > 1 else math.nan

    @property
    def mode(self) -> float:
        """The location."""
        return self.location

    @property
    def skewness(self) -> float:
        """0; NaN unless the degrees of freedom are above 3."""
        return 0.0 if self.dof > 3 else math.nan

    @property
    def kurtosis(self) -> float:
        """3 + 6 / (nu - 4); inf up to 4 degrees of freedom, NaN up to 2."""
        if self.dof > 4:
            return 3.0 + 6.0 / (self.dof - 4.0)
        return math.inf if self.dof > 2 else math.nan

    @property
    def entropy(self) -> float:
        """Minus the expected log-density, in nats."""
        from scipy.special import digamma

        nu = self.dof
        bend = (nu + 1.0) / 2.0 * (digamma((nu + 1.0) / 2.0) - digamma(nu / 2.0))
        return float(bend + 0.5 * math.log(nu) + log_beta(nu / 2.0, 0.5) + math.log(self.scale))

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        from scipy.special import digamma

        values, share = tally(statistic)
        ranks = np.cumsum(share)
        low, middle, high = (float(values[np.argmax(ranks >= q)]) for q in (0.25, 0.5, 0.75))
        scale = (high - low) / 2.0 or math.sqrt(moments_of(statistic)[1])
        if scale <= 0:
            cls._refuse_fit(
                "all values are equal, and the likelihood grows without bound as the scale shrinks"
            )
        z = (values - middle) / scale

        def likelihood(parameters: Array) -> tuple[float, Array]:
            shift, log_scale = parameters[:2]
            nu = float(np.exp(parameters[2])) if len(parameters) > 2 else known["dof"]
            y = (z - shift) / math.exp(log_scale)
            squared = y * y / nu
            pull = (nu + 1.0) / nu / (1.0 + squared)
            far = float(share @ np.log1p(squared))
            value = -(nu + 1.0) / 2.0 * far - 0.5 * math.log(nu) - log_beta(nu / 2.0, 0.5) - log_scale
            slope = [share @ (pull * y) / math.exp(log_scale), share @ (pull * y * y) - 1.0]
            if len(parameters) > 2:
                gammas = digamma((nu + 1.0) / 2.0) - digamma(nu / 2.0) - 1.0 / nu
                slope.append(0.5 * nu * (gammas - far + share @ (pull * squared)))
            return float(value), np.array(slope)

        start = np.zeros(2) if "dof" in known else np.array([0.0, 0.0, math.log(4.0)])
        found = climb(likelihood, start, f"the likelihood of a {cls.__name__}")
        nu = known["dof"] if "dof" in known else math.exp(found[2])
        if nu > 1e6:
            cls._refuse_fit(
                "the tails are no heavier than normal ones, so the estimate tends to the normal limit"
            )
        return cls(nu, middle + scale * float(found[0]), scale * math.exp(found[1]))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        mean, variance = moments_of(statistic)
        values, share = tally(statistic)
        excess = float(share @ (values - mean) ** 4) / variance**2 - 3.0 if variance > 0 else 0.0
        if not excess > 0 and "dof" not in known:
            cls._refuse_fit("no t distribution has this fourth moment")
        nu = known["dof"] if "dof" in known else 4.0 + 6.0 / excess
        if not (variance > 0 and nu > 2):
            cls._refuse_fit("no t distribution has this variance")
        return cls(nu, mean, math.sqrt(variance * (nu - 2.0) / nu))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield Cauchy's, a usual one, and one far off."""
        yield from (cls(), cls(5.0, -2.0, 3.0), cls(9.0, 1e6, 0.5))
