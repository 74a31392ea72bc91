r"""Search for a direction that varies more than the axes kept, where none can be excluded.

Random directions orthogonal to the axes are multiplied by the scatter again and again. Their largest Rayleigh
quotient can only fall short of what is to be found, and by how much is bounded (Dixon, 1983): after j
products of each of r random directions, the largest eigenvalue elsewhere is at most
:math:`(0.8 \sqrt p\, \delta^{-1/r})^{2/(2j+1)}` times the quotient found, but for a chance :math:`\delta`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

DIRECTIONS = 10
PRODUCTS = 20
CHANCE = 1e-10


class Elsewhere(NamedTuple):
    """What the best direction found has beyond the last axis, and the most that any can have in all.

    Both are relative to the first axis; the latter holds but for a chance of 1e-10.
    """

    excess: float
    most: float


def largest_elsewhere(
    product: Callable[[Matrix], Matrix], axes: Matrix, along: NDArray[np.float64]
) -> Elsewhere:
    """Search outside the axes (k, p), which have the scatter ``along`` each; one product a step."""
    if len(along) == 0 or along[0] <= 0:
        return Elsewhere(0.0, 0.0)
    block = np.random.default_rng(0).standard_normal((axes.shape[1], DIRECTIONS))
    found = 0.0
    for _ in range(PRODUCTS):
        block -= axes.T @ (axes @ block)
        lengths = np.linalg.norm(block, axis=0)
        block /= np.where(lengths > 0, lengths, 1.0)
        image = product(block)
        found = max(found, float((block * image).sum(axis=0).max()))
        block = image
    slack = (0.8 * np.sqrt(axes.shape[1]) * CHANCE ** (-1 / DIRECTIONS)) ** (2 / (2 * PRODUCTS - 1))
    first, last = float(along[0]), float(along[-1])
    return Elsewhere(max(0.0, found - last) / first, float(slack) * found / first)
