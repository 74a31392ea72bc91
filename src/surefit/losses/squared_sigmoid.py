"""The squared residual of a probability: a loss of two classes that is not convex."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.losses.arrays import Array, aligned, by_row
from surefit.losses.binary import Binary, share
from surefit.losses.links import Logit
from surefit.losses.logistic import surplus
from surefit.losses.stable import decay


class SquaredSigmoid(Binary):
    r""":math:`f = \tfrac12 (y - p)^2` with :math:`p = 1/(1 + e^{-z})`: flat where it is most wrong.

    >>> SquaredSigmoid().curvature([0, 0], [0.0, 1.0])
    array([ 0.0625    , -0.02776608])
    """

    name = "squared_sigmoid"
    link = Logit()
    convex = False
    soft = True

    @property
    def smoothness(self) -> float:
        """The greatest curvature, 0.077: at y = 0 and p = (15 - sqrt 33) / 24, where its derivative is 0."""
        p = (15.0 - np.sqrt(33.0)) / 24.0
        return float(p**2 * (2.0 - 5.0 * p + 3.0 * p**2))

    def value(self, y: Any, z: Any) -> Array:
        """Return (y - p)^2 / 2."""
        y, z = aligned(y, z)
        return by_row(0.5 * surplus(y, z, decay(z)) ** 2)

    def gradient(self, y: Any, z: Any) -> Array:
        """Return (p - y) p (1 - p)."""
        y, z = aligned(y, z)
        e = decay(z)
        return surplus(y, z, e) * e / (1.0 + e) ** 2

    def curvature(self, y: Any, z: Any) -> Array:
        """Return s^2 + (p - y) s (1 - 2 p) with s = p (1 - p): negative where p is far off."""
        y, z = aligned(y, z)
        e = decay(z)
        slope = e / (1.0 + e) ** 2
        return slope * (slope - surplus(y, z, e) * np.tanh(0.5 * z))

    def _best_constant(self, y: Array, s: Array) -> float:
        return float(self.link.forward(np.average(share(y), weights=s)))
