"""Numbers as pairs: a float and the rounding error that it left, some 32 digits together.

A pair is an array whose first axis has two places, high and low; the number is their unevaluated sum. The
error-free steps are Knuth's two-sum and Dekker's product. One operation is off by at most ``ROUNDING`` of the
sizes that go in; where all is exact, so is the result.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pair: TypeAlias = NDArray[np.float64]

UNIT = 2.0**-53
ROUNDING = 2.0**-100
_SPLITTER = 2.0**27 + 1.0


def pair(high: Any, low: Any = 0.0) -> Pair:
    """Make a pair of a number and a much smaller one.

    >>> float(pair(1.0, 2.0**-60)[1]) == 2.0**-60
    True
    """
    return np.array(_quick_two_sum(high, low))


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the rounded sum and, exactly, what rounding left out."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _quick_two_sum(large: Any, small: Any) -> tuple[Any, Any]:
    total = large + small
    return total, small - (total - large)


def _halves(a: Any) -> tuple[Any, Any]:
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def _two_product(a: Any, b: Any) -> tuple[Any, Any]:
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def add(a: Pair, b: Pair) -> Pair:
    """Return a + b."""
    high, error = two_sum(a[0], b[0])
    low, rest = two_sum(a[1], b[1])
    high, error = _quick_two_sum(high, error + low)
    return np.array(_quick_two_sum(high, error + rest))


def multiply(a: Pair, b: Pair) -> Pair:
    """Return a b."""
    high, error = _two_product(a[0], b[0])
    return np.array(_quick_two_sum(high, error + (a[0] * b[1] + a[1] * b[0])))


def divide(a: Pair, b: Pair) -> Pair:
    """Return a / b."""
    first = a[0] / b[0]
    rest = add(a, -multiply(np.array((first, np.zeros_like(first))), b))
    return pair(first, rest[0] / b[0])


def total(values: NDArray[np.float64]) -> Pair:
    """Return the sum of a vector, by halving it.

    >>> float(total(np.array([1e16, 1.0, 1.0, -1e16])).sum())
    2.0
    """
    size = len(values)
    sums = np.zeros((2, 1 << max(size - 1, 0).bit_length()))
    sums[0, :size] = values
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        sums = add(sums[:, :half], sums[:, half:])
    return np.asarray(sums[:, 0])
