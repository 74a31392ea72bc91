"""The logistic loss: the cross-entropy of two classes, fused with the logit."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.losses.arrays import Array, aligned, by_row, inside
from surefit.losses.binary import Binary, share
from surefit.losses.links import Logit
from surefit.losses.root_finding import increasing_root
from surefit.losses.stable import binary_entropy, decay


class Logistic(Binary):
    r""":math:`f = \log(1 + e^z) - y z` for y in [0, 1]; :math:`f = \log(1 + e^{-yz})` for y = -1 or 1.

    >>> Logistic().value([0, 1], [0.0, 0.0]), Logistic().value([-1, 1], [-800.0, -800.0])
    (array([0.69314718, 0.69314718]), array([  0., 800.]))
    """

    name = "logistic"
    link = Logit()
    smoothness = 0.25
    divergence = True
    soft = True
    kernel = "logistic"

    # With t the share of the class that z speaks against, f = t |z| + log(1 + exp(-|z|)): nothing cancels.

    def value(self, y: Any, z: Any) -> Array:
        """Return t abs(z) + log(1 + exp(-abs(z)))."""
        y, z = aligned(y, z)
        out = against(y, z)
        out *= np.abs(z)
        out += np.log1p(decay(z))
        return by_row(out)

    def gradient(self, y: Any, z: Any) -> Array:
        """Return p - y, with p = 1 / (1 + exp(-z))."""
        y, z = aligned(y, z)
        return surplus(y, z, decay(z))

    def value_and_gradient(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return both from one exponential."""
        y, z = aligned(y, z)
        e = decay(z)
        return by_row(against(y, z) * np.abs(z) + np.log1p(e)), surplus(y, z, e)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return p (1 - p)."""
        y, z = aligned(y, z)
        e = decay(z)
        return e / (1.0 + e) ** 2

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return v log v + (1 - v) log(1 - v) for v = u + y in [0, 1]."""
        y, u = aligned(y, u)
        y = share(y)
        v, rest = y + u, (1.0 - y) - u
        return by_row(inside(binary_entropy(v, rest), (v >= 0) & (rest >= 0)))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Solve z + step (p - y) = v by Newton's method."""
        y, v = aligned(y, v)
        return increasing_root(
            lambda z: (z - v + step * self.gradient(y, z), 1.0 + step * self.curvature(y, z)), v
        )

    def _best_constant(self, y: Array, s: Array) -> float:
        positive, negative = s @ share(y), s @ (1.0 - share(y))
        with np.errstate(divide="ignore"):
            return float(np.log(positive) - np.log(negative))


def against(y: Array, z: Array) -> Array:
    """Return the share of the class that z speaks against: 1 - y for z of positive sign, y otherwise."""
    out = share(y)
    np.subtract(~np.signbit(z), out, out=out)
    return np.abs(out, out=out)


def surplus(y: Array, z: Array, e: Array) -> Array:
    """Return p - y with all its digits, given e = exp(-abs(z))."""
    out = e / (1.0 + e)
    np.subtract(against(y, z), out, out=out)
    out *= np.copysign(1.0, z)
    return out
