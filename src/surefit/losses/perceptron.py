"""The perceptron's loss: how far a row lies on the wrong side."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.losses.arrays import Array, inside, reals
from surefit.losses.binary import Margin, sign
from surefit.losses.piecewise_linear import Kink


class Perceptron(Margin):
    r""":math:`f = (-m)_+` of the margin m = z or -z, which is y z for y = -1 or 1.

    The gradient at the kink m = 0 is that of the wrong side, so that a model of zeros starts to learn. The
    curvature is the majorant 1 / (2 abs(m)), inf at the kink.

    >>> Perceptron().value([-1, 1], [0.5, 0.5]), Perceptron().gradient([-1, 1], [0.0, 0.0])
    (array([0.5, 0. ]), array([ 1., -1.]))
    """

    name = "perceptron"
    smooth = False
    curvature_kind = "majorant"

    def _value(self, m: Array) -> Array:
        return np.maximum(-m, 0.0)

    def _slope(self, m: Array) -> Array:
        return np.where(m <= 0.0, -1.0, 0.0)

    def _slopes(self, m: Array) -> tuple[Array, Array]:
        return np.where(m <= 0.0, -1.0, 0.0), np.where(m < 0.0, -1.0, 0.0)

    def _bend(self, m: Array) -> Array:
        with np.errstate(divide="ignore"):
            return 0.5 / np.abs(m)

    def _conjugate(self, v: Array) -> Array:
        return inside(np.zeros_like(v), (v >= -1.0) & (v <= 0.0))

    def _prox(self, m: Array, step: float) -> Array:
        return np.maximum(m, np.minimum(m + step, 0.0))

    def kinks(self, y: Any) -> tuple[Kink, ...]:
        """Return the kink at a margin of zero."""
        side = sign(reals(y))
        return (Kink(np.zeros(side.shape), np.minimum(-side, 0.0), np.maximum(-side, 0.0)),)

    def _best_of_two(self, positive: float, negative: float) -> float:
        return 0.0
