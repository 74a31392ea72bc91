r"""Penalties that are concave in each :math:`|w_j|`: a kink at zero, and flat far out.

They set small coefficients to zero as L1 does, and leave large ones as they are.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.penalties.arrays import coefficients
from surefit.penalties.base import Array, Penalty


class Folded(Penalty):
    """Base of MCP and SCAD, which say what one coefficient costs and how steeply its cost rises.

    >>> from surefit.penalties.mcp import MCP
    >>> MCP(1.0, gamma=3.0).subdifferential_distance([0.0, 5.0], [-1.5, 0.25])
    array([0.5 , 0.25])
    """

    convex: ClassVar[bool] = False
    separable: ClassVar[bool] = True

    @abstractmethod
    def cost(self, size: Vector) -> Vector:
        """Return the penalty of coefficients of these sizes."""

    @abstractmethod
    def slope(self, size: Vector) -> Vector:
        """Return its derivative; at size 0 the one to the right."""

    def value(self, w: ArrayLike) -> float:
        """Return the sum over the coefficients."""
        return float(np.sum(self.cost(np.abs(coefficients(w)))))

    def largest(self, gradient_at_zero: ArrayLike) -> float:
        """Return the largest slope of the loss at zero, in units of the penalty's at strength 1."""
        unit = self.replace(strength=1.0).slope(np.zeros(1))[0]
        pull = float(np.max(np.abs(coefficients(gradient_at_zero)), initial=0.0))
        return pull / float(unit) if unit > 0 else (np.inf if pull > 0 else 0.0)

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return the distance of each entry of ``-gradient`` to the slope, or to the kink's interval."""
        w, gradient = coefficients(w), coefficients(gradient)
        slope = self.slope(np.abs(w))
        return np.where(
            w == 0, np.maximum(np.abs(gradient) - slope, 0.0), np.abs(gradient + np.sign(w) * slope)
        )
