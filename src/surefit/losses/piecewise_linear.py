"""Piecewise-linear losses as numbers: where they bend, and the slopes on both sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefit.losses.arrays import Array


@dataclass(frozen=True, slots=True)
class Kink:
    r"""One kink a row: :math:`z \mapsto \max(low \cdot (z - at),\, high \cdot (z - at))`, low <= 0 <= high.

    A loss with ``kinks(y)`` is the sum of the functions that this returns.

    >>> Kink(np.zeros(2), np.full(2, -1.0), np.full(2, 0.5)).value(np.array([-3.0, 4.0]))
    array([3., 2.])
    """

    at: Array
    low: Array
    high: Array

    def value(self, z: Array) -> Array:
        """Return the function at z."""
        r = z - self.at
        return np.maximum(self.low * r, self.high * r)
