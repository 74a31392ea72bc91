"""The kernels' hash of 64 bits, which makes all that trees draw at random from their seeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MASK = (1 << 64) - 1
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed(x: int) -> int:
    """Return the hash of a number.

    >>> mixed(1) % 1000
    465
    """
    x = (x + STEP) & MASK
    x = ((x ^ (x >> 30)) * FIRST) & MASK
    x = ((x ^ (x >> 27)) * SECOND) & MASK
    return x ^ (x >> 31)


def unmixed(x: int) -> int:
    """Return the number whose hash this is.

    >>> unmixed(mixed(12345))
    12345
    """
    x ^= x >> 31 ^ x >> 62
    x = x * pow(SECOND, -1, 1 << 64) & MASK
    x ^= x >> 27 ^ x >> 54
    x = x * pow(FIRST, -1, 1 << 64) & MASK
    x ^= x >> 30 ^ x >> 60
    return (x - STEP) & MASK


def mixed_units(first: int, count: int) -> NDArray[np.float64]:
    """Return the hashes of ``count`` numbers from ``first`` on, as numbers in [0, 1).

    >>> bool(mixed_units(5, 3)[1] == (mixed(6) >> 11) * 2.0**-53)
    True
    """
    x = np.uint64(first & MASK) + np.arange(count, dtype=np.uint64) + np.uint64(STEP)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(SECOND)
    return np.asarray(((x ^ (x >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53)
