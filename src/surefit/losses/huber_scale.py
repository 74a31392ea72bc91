r"""Huber's loss with a scale that is learnt too: convex in score and scale together.

.. math:: f(z, \sigma) = \tfrac12 \sigma + \sigma h\left(\frac{y - z}\sigma\right), \qquad
          f^*(u, 0) = u y \text{ where } u^2 \le 1 \text{ on average and } |u| \le t .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.losses.huber import Huber
from surefit.stats.joint_curvature import Pieces


@dataclass(frozen=True, slots=True)
class DampedHuber:
    """The likelihood of a loss with a free scale, with some curvature added for rows beyond the threshold."""

    loss: FreeScaleHuber
    softness: float

    def pieces(self, y: Any, z: Vector, v: Vector) -> Pieces:
        """Return value and derivatives of each row."""
        return self.loss.pieces(y, z, v, self.softness)


class FreeScaleHuber(Huber, abstract=True):
    """Huber's loss at a scale that was found together with the coefficients.

    A dual point for a fixed scale is one for a free scale if its slopes have a mean square of 1 at most; what
    is missing to 1 is lost.
    """

    name = "huber"

    def scale_slack(self, mean_square: float) -> float:
        """Return what a fixed scale's dual value exceeds a free scale's by."""
        assert self.scale is not None
        return 0.5 * self.scale * (1.0 - mean_square)

    def pieces(self, y: Any, z: Vector, v: Vector, softness: float = 0.0) -> Pieces:
        """Return value and derivatives of each row, by score and scale.

        Rows far off do not bend; softness gives them so much of the parabola's that lies above them.
        """
        sigma = float(v[0])
        t = (z - np.asarray(y, dtype=np.float64)) / sigma
        near = np.clip(t, -self.threshold, self.threshold)
        inside = np.abs(t) <= self.threshold
        bend = inside / sigma
        soft = softness * self.threshold / (sigma * np.maximum(np.abs(t), self.threshold))
        first = np.zeros(len(t), dtype=np.intp)
        return Pieces(
            sigma * (0.5 + near * (t - 0.5 * near)),
            near,
            0.5 * (1.0 - near**2)[:, None],
            np.where(inside, bend, soft),
            -(bend * t)[:, None],
            ((first, first, bend * t * t),),
        )
