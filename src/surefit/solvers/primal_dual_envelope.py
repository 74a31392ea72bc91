r"""A loss with its kinks rounded off around slopes that are known already.

.. math:: f_\sigma(y, z) = \min_q \; f(y, q) + \tfrac{1}{2\sigma} (q - z - \sigma \bar u)^2

It bends by :math:`1/\sigma` at most, its slope at z is one of f at the minimiser q, and where that slope is
:math:`\bar u` already, q = z: nothing is lost by the rounding, however wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.losses.base import Loss

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Envelope:
    """The rounded loss of some rows: the slopes known of each, and the width of the rounding.

    >>> from surefit.losses import Absolute
    >>> Envelope(Absolute(), np.zeros(2), 1.0).value(np.zeros(2), np.array([0.5, 3.0]))
    array([0.125, 2.5  ])
    """

    loss: Loss
    known: Array
    width: float

    def _nearest(self, y: Any, aim: Array) -> Array:
        prox: Any = self.loss.prox  # type: ignore[attr-defined]
        return np.asarray(prox(y, aim, self.width))

    def value(self, y: Any, z: Array) -> Array:
        """Return the minimum over q, without what depends on the known slopes alone."""
        aim = z + self.width * self.known
        nearest = self._nearest(y, aim)
        squares = (aim - nearest) ** 2
        off = squares.sum(axis=1) if squares.ndim == 2 else squares
        return np.asarray(self.loss.value(y, nearest) + 0.5 * off / self.width)

    def gradient(self, y: Any, z: Array) -> Array:
        """Return the slope of the loss at the minimiser, which rounding must not carry beyond all slopes."""
        aim = z + self.width * self.known
        low, high = slope_range(self.loss, y, z)
        return np.clip((aim - self._nearest(y, aim)) / self.width, low, high)

    def curvature(self, y: Any, z: Array) -> Array:
        """Return how fast the slope grows, half of it where it begins to."""
        aim = z + self.width * self.known
        # Far above the rounding of a prox, far below the width.
        reach = np.maximum(1e-6 * self.width, 1e-9 * np.abs(aim))
        moved = self._nearest(y, aim + reach) - self._nearest(y, aim - reach)
        return np.asarray(np.clip(1.0 - moved / (2.0 * reach), 0.0, 1.0) / self.width)


def slope_range(loss: Any, y: Any, z: Array) -> tuple[Array, Array]:
    """Return the least and the greatest slope that a loss has at any score, in the shape of z."""
    far = np.full(z.shape, 1e300)
    return np.asarray(loss.gradient(y, -far)), np.asarray(loss.gradient(y, far))
