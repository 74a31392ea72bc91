"""How far counts lie from a mean, to the last digit: what Poisson trees are grown and proved by."""

from __future__ import annotations

import numpy as np

from surefit.core.arrays import Vector


def count_distance(gap: Vector, mean: Vector) -> Vector:
    r"""Return y log(y / c) - (y - c) for y = c + gap and means c, which is 0 at the mean alone.

    Near it both terms are large beside what is left of them; there, with :math:`v = (y - c) / (y + c)`, it is
    :math:`(y - c) v + 2 y (v^3 / 3 + v^5 / 5 + \dots)`. A mean of 0 has counts of 0 only, which lie on it.

    >>> count_distance(np.array([0.0, 1.0, -1.0]), np.array([1.0, 1.0, 1.0])).round(4).tolist()
    [0.0, 0.3863, 1.0]
    >>> round(2e9 * float(count_distance(np.array([1.0]), np.array([1e9]))[0]), 12)  # a square over 2 c
    0.999999999667
    """
    c = np.where(mean > 0, mean, 1.0)
    y = np.maximum(c + gap, 0.0)
    v = gap / (y + c)
    near = gap * v + 2.0 * y * sum(v**odd / odd for odd in range(3, 17, 2))  # the next is below a last digit
    far = y * np.log(np.where(y > 0, y, c) / c) - gap
    return np.asarray(np.where(np.abs(v) < 0.1, near, far))
