"""The negative binomial loss of counts that vary more than Poisson's, fused with the logarithm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval, Positive
from surefit.losses.arrays import Array, aligned, by_row, inside
from surefit.losses.base import Loss
from surefit.losses.links import Log
from surefit.losses.root_finding import increasing_root
from surefit.losses.stable import binary_entropy, decay, sigmoid, sigmoid_slope, softplus


class NegativeBinomial(Loss):
    r"""Counts with mean :math:`\mu = e^z` and variance :math:`\mu + a \mu^2`, a the dispersion: with k = 1/a,

    .. math:: f = (y + k) \log(1 + a \mu) - y \log(a \mu) + \log \Gamma(k) - \log \Gamma(y + k),

    the log-likelihood, negated, without log y!. It tends to the Poisson loss as a tends to 0; the terms of a
    alone are kept, so that a can be estimated as a nuisance.

    >>> NegativeBinomial(1.0).gradient([2.0], [np.log(2.0)]).round(12)
    array([0.])
    """

    name = "negative_binomial"
    link = Log()
    domain = Interval(0, None)
    nuisance = ("dispersion",)

    def __init__(self, dispersion: Positive = 1.0) -> None:
        self.dispersion = dispersion

    # In x = z + log a this is y + k times the logistic loss of the share y / (y + k), and as safe far out.

    def _constant(self, y: Array) -> Array:
        """Return log Gamma(k) - log Gamma(y + k)."""
        from scipy.special import betaln, gammaln

        counts = np.asarray(y, dtype=np.float64)
        positive = np.where(counts > 0, counts, 1.0)
        difference = betaln(float(1.0 / self.dispersion), positive) - gammaln(positive)
        return np.where(counts > 0, difference, 0.0)

    def _shift(self) -> Any:
        return np.log(self.dispersion)

    def _each(self, y: Array, z: Array) -> Array:
        k, x = 1.0 / self.dispersion, z + self._shift()
        return (y + k) * np.log1p(decay(x)) + np.where(x > 0, k, y) * np.abs(x) + self._constant(y)

    def value(self, y: Any, z: Any) -> Array:
        """Return the log-likelihood, negated."""
        return by_row(self._each(*aligned(y, z)))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return (mean - y) / (1 + a mean)."""
        y, z = aligned(y, z)
        k, x = 1.0 / self.dispersion, z + self._shift()
        # The two shares of the same weight: neither is found as a difference of large numbers.
        return k * sigmoid(x) - y * sigmoid(-x)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return (y + k) p (1 - p) with p = a mean / (1 + a mean)."""
        y, z = aligned(y, z)
        return (y + 1.0 / self.dispersion) * sigmoid_slope(z + self._shift())

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return (y + k) times an entropy, for -y <= u <= k."""
        y, u = aligned(y, u)
        k = 1.0 / self.dispersion
        entropy = binary_entropy((y + u) / (y + k), (k - u) / (y + k))
        value = (y + k) * entropy - u * self._shift() - self._constant(y)
        return by_row(inside(value, (u >= -y) & (u <= k)))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Solve z + step f'(z) = v by Newton's method."""
        y, v = aligned(y, v)
        return increasing_root(
            lambda z: (z - v + step * self.gradient(y, z), 1.0 + step * self.curvature(y, z)), v
        )

    def nuisance_gradient(self, y: Any, z: Any) -> dict[str, Array]:
        """Return the derivative by the dispersion."""
        from scipy.special import digamma

        y, z = aligned(y, z)
        k, x = 1.0 / self.dispersion, z + self._shift()
        gammas = digamma(float(k)) - digamma(np.asarray(y + k, dtype=np.float64))
        by_size = gammas + softplus(x) - self.gradient(y, z) / k
        return {"dispersion": by_row(-(k**2) * by_size)}

    def _best_constant(self, y: Array, s: Array) -> float:
        return float(self.link.forward(np.average(y, weights=s)))

    @classmethod
    def variants(cls) -> Iterator[Self]:
        """Yield a large dispersion, and one so small that Poisson's is near."""
        yield from (cls(), cls(0.01), cls(5.0))
