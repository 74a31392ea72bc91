"""Likelihoods by score and further parameters: counts with a dispersion, ordered classes with thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from surefit.losses.arrays import Array
from surefit.losses.stable import sigmoid, sigmoid_slope
from surefit.stats.joint_curvature import Pieces


@dataclass(frozen=True, slots=True)
class LogDispersion:
    r"""The negative binomial's with mean :math:`e^z` and variance :math:`\mu + e^v \mu^2`; without log y!.

    >>> at = LogDispersion().pieces(np.array([2.0]), np.array([np.log(2.0)]), np.array([0.0]))
    >>> at.value.round(6), at.z.round(6)
    (array([1.216395]), array([0.]))
    """

    def pieces(self, y: Any, z: Array, v: Array) -> Pieces:
        """Return value and derivatives, by k = exp(-v) inside."""
        y = np.asarray(y, dtype=np.float64)
        k, mu = float(np.exp(-v[0])), np.exp(z)
        total = k + mu
        gammas = special.gammaln(k) - special.gammaln(y + k)
        value = (y + k) * np.log1p(mu / k) + y * np.log(k) - y * z + gammas
        by_k = np.log1p(mu / k) + (y - mu) / total + special.digamma(k) - special.digamma(y + k)
        twice = (2.0 * mu + k - y) / total**2 - 1.0 / k
        by_kk = twice + special.polygamma(1, k) - special.polygamma(1, y + k)
        by_zk = mu * (mu - y) / total**2
        zero = np.zeros(len(z), dtype=np.intp)
        return Pieces(
            value,
            k * (mu - y) / total,
            (-k * by_k)[:, None],
            k * mu * (y + k) / total**2,
            (-k * by_zk)[:, None],
            ((zero, zero, k**2 * by_kk + k * by_k),),
        )


@dataclass(frozen=True, slots=True)
class CumulativeLink:
    r"""Classes in order: :math:`P(y \le k) = F(t_k - z)` for increasing thresholds t; infinite for others.

    link: F is the logistic distribution function for "logit", the normal one for "probit".

    >>> CumulativeLink().pieces(np.array([0, 1, 2]), np.zeros(3), np.array([-1.0, 1.0])).value.round(6)
    array([1.313262, 0.771937, 1.313262])
    """

    link: Literal["logit", "probit"] = "logit"

    def _of(self, x: Array) -> tuple[Array, Array]:
        """Return the density and its derivative; 0 at both ends."""
        inside = np.isfinite(x)
        x = np.where(inside, x, 0.0)
        if self.link == "logit":
            density = sigmoid_slope(x)
            bend = -density * np.tanh(0.5 * x)
        else:
            density = np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi)
            bend = -x * density
        return np.where(inside, density, 0.0), np.where(inside, bend, 0.0)

    def density(self, x: Array) -> Array:
        """Return the derivative of F."""
        return self._of(x)[0]

    def below(self, x: Array) -> Array:
        """Return F, exact in its relative error for small ones."""
        return sigmoid(x) if self.link == "logit" else np.asarray(special.ndtr(x))

    def chance(self, low: Array, high: Array) -> Array:
        """Return F(high) - F(low), from the side where neither is close to 1."""
        flip = low > 0
        with np.errstate(invalid="ignore"):
            return np.where(flip, self.below(-low) - self.below(-high), self.below(high) - self.below(low))

    def pieces(self, y: Any, z: Array, v: Array) -> Pieces:
        """Return value and derivatives, by the distances to the thresholds on both sides inside."""
        codes = np.asarray(y).astype(np.intp)
        edges = np.concatenate([[-np.inf], v, [np.inf]])
        low, high = edges[codes] - z, edges[codes + 1] - z
        ordered = bool((np.diff(v) > 0).all())
        p = self.chance(low, high) if ordered else np.zeros(len(z))
        with np.errstate(divide="ignore", invalid="ignore"):
            (fa, da), (fb, db) = self._of(low), self._of(high)
            ga, gb = fa / p, -fb / p
            aa, bb, ab = da / p + ga**2, -db / p + gb**2, ga * gb
            value = -np.log(p)
        m = len(v)
        each = np.arange(m)
        on_low, on_high = codes[:, None] == each + 1, codes[:, None] == each
        by_v = on_low * ga[:, None] + on_high * gb[:, None]
        by_zv = -(on_low * (aa + ab)[:, None] + on_high * (bb + ab)[:, None])
        under, over = np.maximum(codes - 1, 0), np.minimum(codes, m - 1)
        has_low, has_high = codes > 0, codes < m
        own = (
            (under, under, np.where(has_low, aa, 0.0)),
            (over, over, np.where(has_high, bb, 0.0)),
            (under, over, np.where(has_low & has_high, ab, 0.0)),
        )
        return Pieces(value, -(ga + gb), by_v, aa + 2.0 * ab + bb, by_zv, own)
