"""The hinge, the loss of support vector machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.losses.arrays import Array, inside, reals
from surefit.losses.binary import Margin, sign
from surefit.losses.dual_plan import RowConjugates
from surefit.losses.piecewise_linear import Kink


class Hinge(Margin):
    r""":math:`f = (1 - m)_+` of the margin m = z or -z, which is y z for y = -1 or 1.

    The gradient at the kink m = 1 is 0. The curvature is the majorant 1 / (2 abs(1 - m)), inf at the kink.

    >>> Hinge().value([-1, 1], [0.5, 0.5]), Hinge().value([0, 1], [0.5, 2.0])
    (array([1.5, 0.5]), array([1.5, 0. ]))
    """

    name = "hinge"
    smooth = False
    curvature_kind = "majorant"

    def _value(self, m: Array) -> Array:
        return np.maximum(1.0 - m, 0.0)

    def _slope(self, m: Array) -> Array:
        return np.where(m < 1.0, -1.0, 0.0)

    def _slopes(self, m: Array) -> tuple[Array, Array]:
        return np.where(m <= 1.0, -1.0, 0.0), np.where(m < 1.0, -1.0, 0.0)

    def _bend(self, m: Array) -> Array:
        with np.errstate(divide="ignore"):
            return 0.5 / np.abs(1.0 - m)

    def _conjugate(self, v: Array) -> Array:
        return inside(v, (v >= -1.0) & (v <= 0.0))

    def _prox(self, m: Array, step: float) -> Array:
        return np.maximum(m, np.minimum(m + step, 1.0))

    def kinks(self, y: Any) -> tuple[Kink, ...]:
        """Return the kink at a margin of one."""
        side = sign(reals(y))
        return (Kink(side, np.minimum(-side, 0.0), np.maximum(-side, 0.0)),)

    def dual_plan(self, y: Any) -> RowConjugates:
        """Return slopes between 0 and one on the side of the class."""
        side = sign(reals(y))
        return RowConjugates(side, np.minimum(-side, 0.0), np.maximum(-side, 0.0), 0.0, 0.0)

    def _best_of_two(self, positive: float, negative: float) -> float:
        return float(np.sign(positive - negative))  # a tie: the middle of [-1, 1], all of which is best
