r"""Families of distributions as a generalised linear model sees them: variance, deviance and log-likelihood.

A family with variance function V has the unit deviance

.. math:: d(y, \mu) = 2 \int_\mu^y \frac{y - t}{V(t)} \, dt \ge 0,

whatever the link. ``weight`` multiplies a row's deviance; the log-likelihood counts it as a repetition, but
for a share of successes, where it is the number of trials.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from surefit.core.parameters import Interval
from surefit.losses.arrays import Array
from surefit.losses.links import HALF_LINE, LINE, SEGMENT, Link, link_named
from surefit.losses.stable import x_log_x


@dataclass(frozen=True, slots=True)
class Family(ABC):
    """One family. scaled: whether it has a dispersion to estimate; for others it is 1."""

    name: ClassVar[str]
    targets: ClassVar[Interval]
    means: ClassVar[Interval]
    scaled: ClassVar[bool] = True
    usual_link: ClassVar[str] = "log"

    @abstractmethod
    def variance(self, mean: Array) -> Array:
        """Return V at a mean."""

    @abstractmethod
    def variance_slope(self, mean: Array) -> Array:
        """Return dV/dmean."""

    @abstractmethod
    def deviance(self, y: Array, mean: Array) -> Array:
        """Return the unit deviance of each row."""

    @abstractmethod
    def log_likelihood(self, y: Array, mean: Array, weight: Array, dispersion: float) -> Array:
        """Return the logarithm of each row's density, times its weight."""

    def allowed(self, y: Array) -> Any:
        """Return which targets the family takes."""
        low, high = self.targets.low, self.targets.high
        fine = np.isfinite(y)
        if low is not None:
            fine = fine & ((y > low) if self.targets.open_low else (y >= low))
        return fine if high is None else fine & (y <= high)

    def link(self) -> Link:
        """Return the link that is taken unless another is asked for."""
        return link_named(self.usual_link)


class Gaussian(Family):
    """Numbers with the same variance everywhere."""

    name = "gaussian"
    targets, means = Interval(), LINE
    usual_link = "identity"

    def variance(self, mean: Array) -> Array:
        """Return 1."""
        return np.ones_like(mean)

    def variance_slope(self, mean: Array) -> Array:
        """Return 0."""
        return np.zeros_like(mean)

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return (y - mean)^2."""
        return (y - mean) ** 2

    def log_likelihood(self, y: Array, mean: Array, weight: Array, dispersion: float) -> Array:
        """Return the normal density's."""
        return -0.5 * weight * (self.deviance(y, mean) / dispersion + np.log(2 * np.pi * dispersion))


class Binomial(Family):
    """Shares of successes; the weight of a row is its number of trials, 1 for a target of 0 or 1."""

    name = "binomial"
    targets, means = Interval(0, 1), SEGMENT
    scaled = False
    usual_link = "logit"

    def variance(self, mean: Array) -> Array:
        """Return mean (1 - mean)."""
        return mean * (1.0 - mean)

    def variance_slope(self, mean: Array) -> Array:
        """Return 1 - 2 mean."""
        return 1.0 - 2.0 * mean

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return twice the divergence of two coins."""
        return 2.0 * (_x_log_ratio(y, mean) + _x_log_ratio(1.0 - y, 1.0 - mean))

    def log_likelihood(self, y: Array, mean: Array, weight: Array, dispersion: float) -> Array:
        """Return the binomial's, of ``weight`` trials."""
        hits = weight * y
        ways = special.gammaln(weight + 1) - special.gammaln(hits + 1) - special.gammaln(weight - hits + 1)
        found: Array = ways + special.xlogy(hits, mean) + special.xlog1py(weight - hits, -mean)
        return found


class Poisson(Family):
    """Counts whose variance is their mean."""

    name = "poisson"
    targets, means = Interval(0, None), HALF_LINE
    scaled = False

    def variance(self, mean: Array) -> Array:
        """Return the mean."""
        return mean

    def variance_slope(self, mean: Array) -> Array:
        """Return 1."""
        return np.ones_like(mean)

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return 2 (y log(y / mean) - y + mean)."""
        return 2.0 * (_x_log_ratio(y, mean) - (y - mean))

    def log_likelihood(self, y: Array, mean: Array, weight: Array, dispersion: float) -> Array:
        """Return that of counts."""
        found: Array = weight * (special.xlogy(y, mean) - mean - special.gammaln(y + 1))
        return found


class Gamma(Family):
    """Positive amounts whose standard deviation is proportional to their mean."""

    name = "gamma"
    targets, means = HALF_LINE, HALF_LINE

    def variance(self, mean: Array) -> Array:
        """Return mean^2."""
        return mean**2

    def variance_slope(self, mean: Array) -> Array:
        """Return 2 mean."""
        return 2.0 * mean

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return 2 (r - 1 - log r) with r = y / mean."""
        excess = (y - mean) / mean
        return 2.0 * (excess - np.log1p(excess))

    def log_likelihood(self, y: Array, mean: Array, weight: Array, dispersion: float) -> Array:
        """Return the gamma density's, of shape 1 / dispersion."""
        shape = 1.0 / dispersion
        rate = shape / mean
        found: Array = weight * (
            shape * np.log(rate) + (shape - 1) * np.log(y) - rate * y - special.gammaln(shape)
        )
        return found


class InverseGaussian(Family):
    """Positive amounts with a long tail: the variance grows with the cube of the mean."""

    name = "inverse_gaussian"
    targets, means = HALF_LINE, HALF_LINE

    def variance(self, mean: Array) -> Array:
        """Return mean^3."""
        return mean**3

    def variance_slope(self, mean: Array) -> Array:
        """Return 3 mean^2."""
        return 3.0 * mean**2

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return (y - mean)^2 / (y mean^2)."""
        return ((y - mean) / mean) ** 2 / y

    def log_likelihood(self, y: Array, mean: Array, weight: Array, dispersion: float) -> Array:
        """Return the inverse Gaussian density's."""
        return -0.5 * weight * (self.deviance(y, mean) / dispersion + np.log(2 * np.pi * dispersion * y**3))


@dataclass(frozen=True, slots=True)
class Tweedie(Family):
    """Variance a power of the mean; between 1 and 2, amounts that are often exactly 0."""

    power: float = 1.5

    name = "tweedie"

    @property
    def targets(self) -> Interval:  # type: ignore[override]
        """Any number for powers of 0 and less, above 0 from 2 on, and with 0 between."""
        return Interval() if self.power <= 0 else Interval(0, None, open_low=self.power >= 2)

    @property
    def means(self) -> Interval:  # type: ignore[override]
        """Any number at power 0, positive ones else."""
        return LINE if self.power == 0 else HALF_LINE

    def variance(self, mean: Array) -> Array:
        """Return mean^power."""
        return np.asarray(mean**self.power)

    def variance_slope(self, mean: Array) -> Array:
        """Return power mean^(power - 1)."""
        return np.asarray(self.power * mean ** (self.power - 1.0))

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return the integral, by its closed form for each power."""
        p = self.power
        same: dict[float, Family] = {0.0: Gaussian(), 1.0: Poisson(), 2.0: Gamma(), 3.0: InverseGaussian()}
        if p in same:
            return same[p].deviance(y, mean)
        own = np.maximum(y, 0.0) ** (2.0 - p) / ((1.0 - p) * (2.0 - p))
        found = own - y * mean ** (1.0 - p) / (1.0 - p) + mean ** (2.0 - p) / (2.0 - p)
        return np.asarray(np.maximum(2.0 * found, 0.0))

    def log_likelihood(self, y: Array, mean: Array, weight: Array, dispersion: float) -> Array:
        """Return NaN: the density has no closed form."""
        return np.full_like(mean, np.nan)


@dataclass(frozen=True, slots=True)
class NegativeBinomial(Family):
    """Counts with the variance mean + mean^2 / theta: Poisson's, whose rate varies from row to row."""

    theta: float = 1.0

    name = "negative_binomial"
    targets, means = Interval(0, None), HALF_LINE
    scaled = False

    def variance(self, mean: Array) -> Array:
        """Return mean + mean^2 / theta."""
        return mean * (1.0 + mean / self.theta)

    def variance_slope(self, mean: Array) -> Array:
        """Return 1 + 2 mean / theta."""
        return 1.0 + 2.0 * mean / self.theta

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return 2 (y log(y / mean) - (y + theta) log((y + theta) / (mean + theta)))."""
        far = (mean - y) / (y + self.theta)
        return np.asarray(2.0 * (_x_log_ratio(y, mean) + (y + self.theta) * np.log1p(far)))

    def log_likelihood(self, y: Array, mean: Array, weight: Array, dispersion: float) -> Array:
        """Return that of counts with a gamma-distributed rate."""
        theta = self.theta
        ways = special.gammaln(y + theta) - special.gammaln(theta) - special.gammaln(y + 1)
        share = mean / (mean + theta)
        found: Array = weight * (ways + special.xlogy(y, share) - theta * np.log1p(mean / theta))
        return found


def _x_log_ratio(y: Array, mean: Array) -> Array:
    """Return y log(y / mean), 0 for y = 0."""
    return np.asarray(x_log_x(y) - special.xlogy(y, mean))


FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (Gaussian, Binomial, Poisson, Gamma, InverseGaussian, Tweedie, NegativeBinomial)
}
